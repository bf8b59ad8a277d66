import { signing } from '#signing';
import type { WorkRandom } from '../../src/random/source.js';
import { signBatch, type SignatureContext, type Signer } from '../../src/signing/index.js';
import { encodeBatchBody, encodeClientFrame, type BatchBody } from '../../src/wire/index.js';
import { encodeUnchecked } from './unchecked-rows.js';

/** Faults of a message itself. Every contributor of the `malformed` attack does each in turn. */
export const abuses = [
  'random-bytes',
  'cut-frame',
  'bad-signature',
  'unknown-channel',
  'wrong-columns',
  'wrong-size',
  'not-finite',
  'replay',
  'mutated-replay',
  'far-sequence',
] as const;
export type Abuse = (typeof abuses)[number];

/** One hostile contributor on one socket. */
export interface AbuseContext extends SignatureContext {
  readonly signer: Signer;
  readonly channel: number;
  readonly epoch: bigint;
  readonly columns: number;
  /** A free sequence. */
  readonly sequence: bigint;
  /** Honest rows, row-major. */
  readonly rows: Float64Array;
  readonly random: WorkRandom;
}

/**
 * The frames of one abuse, in sending order. `consumed`: how many sequences the server settles
 * because of them.
 */
export interface AbuseFrames {
  readonly frames: readonly Uint8Array[];
  readonly consumed: number;
}

/** Builds the frames of one abuse. Pure: the same context gives the same bytes. */
export function abuseFrames(abuse: Abuse, context: AbuseContext): AbuseFrames {
  const honest = bodyOf(context, {});
  const once = (bytes: Uint8Array, consumed = 0): AbuseFrames => ({ frames: [bytes], consumed });
  switch (abuse) {
    case 'random-bytes': {
      const bytes = new Uint8Array(1 + Math.floor(context.random.uniform() * 200));
      context.random.fill(bytes);
      return once(bytes);
    }
    case 'cut-frame':
      return once(framed(context, honest).slice(0, -20));
    case 'bad-signature': {
      const signature = new Uint8Array(64);
      context.random.fill(signature);
      const { channel } = context;
      return once(
        encodeClientFrame({ kind: 'batch', channel, body: encodeBatchBody(honest), signature }),
      );
    }
    case 'unknown-channel':
      return once(framed({ ...context, channel: 4_000_000 }, honest));
    case 'wrong-columns': {
      const wide =
        bodyOf({ ...context, columns: context.columns + 1 }, { values: widened(context) });
      return once(framed(context, wide), 1);
    }
    case 'wrong-size':
      return once(framed(context, { ...honest, rows: honest.rows + 1 }), 1);
    case 'not-finite':
      return once(
        framed(context, bodyOf(context, { values: context.rows.map(() => Number.NaN) })), 1,
      );
    case 'replay': {
      const bytes = framed(context, honest);
      return { frames: [bytes, bytes], consumed: 1 };
    }
    case 'mutated-replay':
      return {
        frames: [
          framed(context, honest),
          framed(context, bodyOf(context, { values: context.rows.map((value) => value + 1) })),
        ],
        consumed: 1,
      };
    case 'far-sequence':
      return once(framed(context, { ...honest, sequence: context.sequence + 1_000_000n }));
  }
}

function bodyOf(context: AbuseContext, change: { readonly values?: Float64Array }): BatchBody {
  const values = change.values ?? context.rows;
  return {
    studyId: context.studyId,
    sequence: context.sequence,
    epoch: context.epoch,
    last: true,
    rows: values.length / context.columns,
    columns: context.columns,
    dataType: 'float64',
    data: encodeUnchecked(values, 'float64'),
  };
}

/** The same number of rows, with one column too many. */
function widened({ rows, columns }: AbuseContext): Float64Array {
  return new Float64Array((rows.length / columns) * (columns + 1));
}

/** A correctly signed frame. Only its contents are wrong. */
function framed(context: AbuseContext, body: BatchBody): Uint8Array {
  const bytes = encodeBatchBody(body);
  const signature = signBatch(context.signer, context, signing.sha512(bytes));
  return encodeClientFrame({ kind: 'batch', channel: context.channel, body: bytes, signature });
}
