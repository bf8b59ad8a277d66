import { signing } from '#signing';
import { equalBytes } from '../../src/base/bytes.js';
import { WireError } from '../../src/base/errors.js';
import { verifyBatch } from '../../src/signing/index.js';
import {
  batchCells, decodeBatchBody, firstNonFinite, viewBatchRows, type BatchBody,
  type SignedBatch,
} from '../../src/wire/index.js';
import type { VerifiedBatch } from '../studies/contract.js';
import type { ChannelSetup } from './channel.js';

/**
 * The result of judging a batch: ready for the hub, or unreadable, in which case it has no sequence
 * to settle.
 */
export type Judged =
  | { readonly kind: 'verified'; readonly batch: VerifiedBatch }
  | { readonly kind: 'refused'; readonly code: 'bad-signature' | 'malformed' };

/**
 * Verifies the signature over the exact bytes received, and only then decodes them. A signed batch
 * with unusable contents still has a sequence: it is passed on with `rejectAs`, so that the
 * sequence is consumed.
 */
export function judgeBatch(setup: ChannelSetup, frame: SignedBatch, rowsPerBatch: number): Judged {
  const digest = signing.sha512(frame.body);
  const contexts = [setup.signatures, ...setup.earlier];
  if (!contexts.some((context) => verifyBatch(setup.verifier, context, digest, frame.signature))) {
    return { kind: 'refused', code: 'bad-signature' };
  }
  const body = readBody(frame.body);
  if (body === undefined) return { kind: 'refused', code: 'malformed' };
  return {
    kind: 'verified',
    batch: {
      studyId: setup.studyId,
      contributor: setup.verifier.publicKey,
      sequence: body.sequence,
      epoch: body.epoch,
      last: body.last,
      rows: body.rows,
      columns: body.columns,
      digest,
      body: frame.body,
      signature: frame.signature,
      ...contentsOf(setup, body, rowsPerBatch),
    },
  };
}

/** The sequence that a batch claims, unchecked. Use it only to ask the sender to send it again. */
export function claimedSequence(frame: SignedBatch): bigint | undefined {
  return readBody(frame.body)?.sequence;
}

function readBody(bytes: Uint8Array): BatchBody | undefined {
  try {
    return decodeBatchBody(bytes);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

function contentsOf(
  setup: ChannelSetup,
  body: BatchBody,
  rowsPerBatch: number,
): Pick<VerifiedBatch, 'values' | 'texts' | 'rejectAs'> {
  // The signature binds the channel's study. A body that names another study contradicts it.
  if (!equalBytes(body.studyId, setup.signatures.studyId)) return { rejectAs: 'malformed' };
  if (body.rows > rowsPerBatch) return { rejectAs: 'too-many-rows' };
  if (body.columns !== setup.dimension) return { rejectAs: 'wrong-dimension' };
  try {
    // Its numbers are finite, but for NaN where an optional column has no value.
    if (setup.types !== undefined) return batchCells(body, setup.types);
    // The body does not change after this, so the rows may share its bytes: no copy.
    const values = viewBatchRows(body);
    return firstNonFinite(values) >= 0 ? { rejectAs: 'not-finite' } : { values };
  } catch (error) {
    if (error instanceof WireError) return { rejectAs: error.code };
    throw error;
  }
}
