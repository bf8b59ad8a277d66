import type { ColumnType } from '../../src/base/columns.js';
import { InvalidParameterError, WireError, type KeelsonError } from '../../src/base/errors.js';
import { signBatch, type AsyncSigner, type SignatureContext } from '../../src/signing/index.js';
import {
  cellsPerBatch, decodeBatchBody, encodeBatchBody, encodeCells, encodeRows, numberBytes,
  textsPerBatch, type BatchBody, type WireLimits,
} from '../../src/wire/index.js';
import { signing } from '../base/signing.js';
import type { OutboxBatch } from '../outbox/contract.js';
import type { Settled } from './settled.js';

/**
 * The place of a batch. `signing`: not yet signed, or not yet durable in the outbox. `deferred`:
 * the server asked to send it later.
 */
export type BatchPlace = 'signing' | 'waiting' | 'flight' | 'deferred' | 'settled';

/** One batch that is not settled yet. */
export interface Batch extends OutboxBatch {
  readonly contribution: Contribution;
  /** Empty until it is needed: batches of encrypted channels go without. */
  signature: Uint8Array;
  place: BatchPlace;
  /** True once the bytes were passed to a socket. */
  offered: boolean;
  /** The number of times that it was signed under another sequence. */
  renumbered: number;
}

/** Rows that are settled together: those of one call of `send`. */
export interface Contribution {
  readonly id: number;
  readonly last: boolean;
  /** Row-major; null once signed. */
  values: Float64Array | null;
  /** The texts that the numbers of text columns are indexes into. */
  readonly texts?: readonly string[];
  /** Columns of the given rows; absent when only the study determines them. */
  readonly columns?: number;
  batches: Batch[];
  refusal: WireError | null;
  /**
   * Encodes the numbers. Simulated attackers replace it, to send values that the checked encoder
   * refuses.
   */
  readonly encode?: (values: Float64Array, dataType: BatchBody['dataType']) => Uint8Array;
  /** Called once, unless `fail` was called. */
  finish(result: Settled): void;
  /**
   * The rows were never sent, or this client gave up on them. Called once, unless `finish` was
   * called.
   */
  fail(error: KeelsonError): void;
}

/** The facts that `batchesOf` needs besides the rows. */
export interface SigningContext extends SignatureContext {
  readonly signer: AsyncSigner;
  readonly limits: WireLimits;
  readonly columns: number;
  /** Types of the columns, if the study has any. */
  readonly types?: readonly ColumnType[] | undefined;
  readonly dataType: BatchBody['dataType'];
  readonly epoch: bigint;
  /** False on an encrypted channel: its batches have no signature until a signed one sends them. */
  readonly isSigned: boolean;
  /** For a sealed study: makes the entry that is signed in place of the rows. */
  readonly seal?: ((
    rows: Float64Array, texts: Contribution['texts'], sequence: bigint,
  ) => Uint8Array) | undefined;
  /** A sequence that was not used before. */
  takeSequence(): bigint;
}

/** Room in a frame for everything but the numbers: ids, signature, tags. */
const frameOverheadBytes = 512;

/**
 * The number of rows in `values`.
 * @param given columns of the rows as the caller gave them, if known. Six values that were given as
 *   three rows of two
 * are not two rows of three.
 * @throws InvalidParameterError unless they are whole rows of the study's columns, and at least
 *   one.
 */
export function countRows(values: Float64Array, columns: number, given = columns): number {
  if (given !== columns) {
    throw new InvalidParameterError(`the rows have ${given} columns, the study has ${columns}`);
  }
  const rows = values.length / columns;
  if (Number.isInteger(rows) && rows > 0) return rows;
  throw new InvalidParameterError(
    `${values.length} values do not make whole rows of ${columns} columns: give at least one row, `
      + 'all complete',
    { values: values.length, columns },
  );
}

/**
 * Splits rows into batches that fit the server's limits, not signed yet.
 * @throws InvalidParameterError when the values are not whole rows of finite numbers, or not of the
 *   types of their columns, or one row does not fit a frame.
 */
export function batchesOf(contribution: Contribution, context: SigningContext): Batch[] {
  const values = contribution.values!;
  const { columns, dataType } = context;
  const rows = countRows(values, columns);
  if (context.seal !== undefined) {
    // No server can check what is sealed.
    encoded(contribution, context)(0, rows);
    return [sealedBatch(contribution, context)];
  }
  const perBatch = rowsOfBatch(context);
  const starts = Array.from({ length: Math.ceil(rows / perBatch) }, (_, i) => i * perBatch);
  // All numbers are checked before the first sequence is taken: an unused sequence would stay a
  // hole.
  const contentsOf = encoded(contribution, context);
  const contents = starts.map((start) => contentsOf(start, Math.min(start + perBatch, rows)));
  return starts.map((start, i) => {
    const end = Math.min(start + perBatch, rows);
    const body: BatchBody = {
      studyId: context.studyId,
      sequence: context.takeSequence(),
      epoch: context.epoch,
      last: contribution.last && end === rows,
      rows: end - start,
      columns,
      dataType,
      ...contents[i]!,
    };
    return batchOf(contribution, encodeBatchBody(body), body, 0);
  });
}

/** The most rows of a batch that fit a frame. @throws InvalidParameterError if none does. */
function rowsOfBatch({ columns, types, dataType, limits }: SigningContext): number {
  const room = limits.frameBytes - frameOverheadBytes - (types === undefined ? 0 : 16 * columns);
  // A text has at most its bytes, one for its length and two of a code. Bits of presence are fewer
  // than a byte for each row.
  const rowBytes = columns * numberBytes[dataType] + (types ?? []).reduce((sum, type) =>
    sum + (type.type === 'text' ? type.bytes + 3 : 0) + Number(type.optional === true), 0);
  const fitting = Math.floor(room / rowBytes);
  const cells = types === undefined ? Infinity : Math.floor(cellsPerBatch / columns);
  const texts = types?.some(({ type }) => type === 'text') === true ? textsPerBatch : Infinity;
  const perBatch = Math.min(limits.rowsPerBatch, fitting, cells, texts);
  if (perBatch >= 1) return perBatch;
  throw new InvalidParameterError(
    `a row of ${columns} ${dataType} columns does not fit a frame of ${limits.frameBytes} bytes`,
  );
}

/** The rows from one index up to another, as the server reads them. */
function encoded(
  { values, texts, encode = encodeRows }: Contribution,
  { columns, types, dataType }: SigningContext,
): (start: number, end: number) => Pick<BatchBody, 'data' | 'cells'> {
  if (types !== undefined) {
    return (start, end) => ({
      data: new Uint8Array(0),
      cells: encodeCells(
        values!.subarray(start * columns, end * columns), types, dataType, texts,
      ),
    });
  }
  const data = encode(values!, dataType);
  const rowBytes = columns * numberBytes[dataType];
  return (start, end) => ({ data: data.subarray(start * rowBytes, end * rowBytes) });
}

/** All rows of a contribution in one entry that no server can read. */
function sealedBatch(contribution: Contribution, context: SigningContext): Batch {
  const { seal, epoch } = context;
  const sequence = context.takeSequence();
  const bytes = seal!(contribution.values!, contribution.texts, sequence);
  return batchOf(contribution, bytes, { sequence, epoch }, 0);
}

/**
 * The same rows under a new sequence and the epoch that is open now.
 * @throws WireError('mutated') for a sealed entry: its rows are gone.
 */
export function renumberBatch(batch: Batch, context: SigningContext): Batch {
  if (context.seal !== undefined) {
    throw new WireError(
      'mutated', 'the server does not know this sealed entry, and its rows are not kept: '
        + 'contribute them again', { retryable: false },
    );
  }
  const body = {
    ...decodeBatchBody(batch.body), sequence: context.takeSequence(), epoch: context.epoch,
  };
  return batchOf(batch.contribution, encodeBatchBody(body), body, batch.renumbered + 1);
}

function batchOf(
  contribution: Contribution, body: Uint8Array,
  { sequence, epoch }: Pick<BatchBody, 'sequence' | 'epoch'>, renumbered: number,
): Batch {
  return {
    contribution, sequence, epoch, body, signature: new Uint8Array(0), place: 'signing',
    offered: false, renumbered,
  };
}

/** Signs the batches that are not signed yet, where batches are signed. */
export async function signBatches(
  batches: readonly Batch[], context: Pick<SigningContext, 'signer' | 'serverKey' | 'studyId'>,
): Promise<void> {
  await Promise.all(batches.map(async (batch) => {
    if (batch.signature.length > 0) return;
    batch.signature = await signBatch(context.signer, context, await signing.sha512(batch.body));
  }));
}
