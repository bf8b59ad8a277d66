import { equalBytes } from '../../src/base/bytes.js';
import { cellFault, cellRule } from '../../src/base/columns.js';
import { WireError } from '../../src/base/errors.js';
import { decodeBody, type EntryPlace } from '../../src/sealed/shares/body.js';
import type { EntryForm } from '../../src/sealed/shares/form.js';
import { UnusableEntryError } from '../../src/sealed/shares/unusable.js';
import {
  batchCells, decodeBatchBody, firstUnusable, viewBatchRows, type BatchBody,
  type SignedBatch,
} from '../../src/wire/index.js';
import type { VerifiedBatch } from '../studies/contract.js';
import type { CheckedBatch } from '../checks/contract.js';
import type { BatchSetup } from './channel.js';

/**
 * The batch that a checked body holds, ready for the hub; undefined when the body is unreadable, so
 * that there is no sequence to settle. A body with unusable contents still has a sequence: it is
 * passed on with `rejectAs`, so that the sequence is consumed.
 */
export function readBatch(
  setup: BatchSetup, signature: Uint8Array, { body: bytes, digest }: CheckedBatch,
  rowsPerBatch: number,
): VerifiedBatch | undefined {
  if (setup.sealed !== undefined) return readSealed(setup, signature, { bytes, digest });
  const body = readBody(bytes);
  if (body === undefined) return undefined;
  return {
    studyId: setup.studyId,
    contributor: setup.verifier.publicKey,
    sequence: body.sequence,
    epoch: body.epoch,
    last: body.last,
    rows: body.rows,
    columns: body.columns,
    digest,
    body: bytes,
    signature,
    ...contentsOf(setup, body, rowsPerBatch),
  };
}

/**
 * A sealed entry, ready for the hub. It is a whole contribution, and the server can check nothing
 * of it but its place.
 */
function readSealed(
  { studyId, verifier, signatures, sealed, dimension }: BatchSetup, signature: Uint8Array,
  { bytes, digest }: { readonly bytes: Uint8Array; readonly digest: Uint8Array },
): VerifiedBatch | undefined {
  const entry = readEntry(bytes, sealed!);
  if (entry === undefined) return undefined;
  const { sequence, epoch } = entry;
  return {
    studyId, contributor: verifier.publicKey, sequence, epoch, last: true, rows: 1,
    columns: dimension, digest, body: bytes, signature,
    ...(!equalBytes(entry.studyId, signatures.studyId) && { rejectAs: 'malformed' as const }),
  };
}

/** The place of an entry; undefined when the bytes are none of this form. */
function readEntry(bytes: Uint8Array, forms: EntryForm): EntryPlace | undefined {
  try {
    const entry = decodeBody(bytes, forms);
    return entry.sequence > 0n && entry.epoch > 0n ? entry : undefined;
  } catch (error) {
    if (error instanceof UnusableEntryError) return undefined;
    throw error;
  }
}

/** The sequence that a batch claims, unchecked. Use it only to ask the sender to send it again. */
export function claimedSequence(
  { sealed }: Pick<BatchSetup, 'sealed'>, { body }: Pick<SignedBatch, 'body'>,
): bigint | undefined {
  return (sealed === undefined ? readBody(body) : readEntry(body, sealed))?.sequence;
}

function readBody(bytes: Uint8Array): BatchBody | undefined {
  try {
    return decodeBatchBody(bytes);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

/** The type of every column of a study without types. */
const plainNumber = { type: 'number' } as const;

function contentsOf(
  setup: BatchSetup,
  body: BatchBody,
  rowsPerBatch: number,
): Pick<VerifiedBatch, 'values' | 'texts' | 'rejectAs' | 'fault'> {
  // The signature binds the channel's study. A body that names another study contradicts it.
  if (!equalBytes(body.studyId, setup.signatures.studyId)) return { rejectAs: 'malformed' };
  if (body.rows > rowsPerBatch) return { rejectAs: 'too-many-rows' };
  if (body.columns !== setup.dimension) return { rejectAs: 'wrong-columns' };
  try {
    // Its numbers are usable, but for NaN where an optional column has no value.
    if (setup.types !== undefined) return batchCells(body, setup.types);
    // The body does not change after this, so the rows may share its bytes: no copy.
    const values = viewBatchRows(body);
    const bad = firstUnusable(values);
    if (bad < 0) return { values };
    const place = `column ${bad % body.columns}, row ${Math.floor(bad / body.columns)}`;
    const rejectAs = cellFault(plainNumber, values[bad]!)!;
    return { rejectAs, fault: `${place}: ${cellRule(plainNumber, rejectAs)}` };
  } catch (error) {
    // The messages of these errors contain no values.
    if (error instanceof WireError) return { rejectAs: error.code, fault: error.message };
    throw error;
  }
}
