import {
  closeSync, constants, fsyncSync, openSync, readFileSync, writeSync,
} from 'node:fs';
import { signing } from '#signing';
import { toHex } from '../../src/base/bytes.js';
import { codeOf, InvalidInputError, StorageError } from '../../src/base/errors.js';
import {
  countingEntries, ledgerCaps, type Ledger, type LedgerEntry, type LedgerTerms,
} from '../../src/ledger.js';
import { systemClock } from '../base/clock.js';
import { createOwned } from '../base/owned-files.js';
import { syncFolder } from '../base/secret-files.js';
import {
  encodeLedger, encodeRecord, parseLedger, type LedgerFile, type LedgerRecord,
} from './format.js';

/*
 * A file to which charges are appended, one after another.
 *
 * Claim: whatever else charges the same file, and wherever one of these programs is killed, the
 * answers that were drawn are paid by charges that count, and these stay within the caps.
 *
 * Why. The order of the records in the file decides: a record counts if it fits after those before
 * it that count (`countingEntries`), so that every reader finds the same ones, and they fit. A
 * program draws only after it has appended its record in one write, synced the file, and found the
 * record in it to count. Records are only appended, each in one write to a file that was opened for
 * appending, which the system does not mix with other writes. So what is before a record never
 * changes, and a record that counts always will. No lock is needed, and none can be left behind.
 *
 * A program that is killed, or a disk that is full, may leave a part of a record. Nothing was drawn
 * for it. It is shorter than its first number says and is passed over; the line break that begins
 * each record keeps it apart from the next one. A whole record that is never drawn is charged.
 *
 * The file systems of one machine append like this. NFS and other shared folders do not.
 */

/**
 * Makes a ledger: a file of mode 0600, durable on return.
 * @throws InvalidParameterError for terms that make no ledger, InvalidInputError when the file
 *   exists or its folder is missing.
 * @example
 * const ledger = createLedger('survey.ledger',
 *   { data: 'survey of May', epsilon: 3, delta: 1e-6, participation: 'public' });
 */
export function createLedger(path: string, terms: LedgerTerms): Ledger {
  const { rhoCap, deltaCap, pureCap, order } = ledgerCaps(terms);
  const header = { terms, rhoCap, deltaCap, pureCap, order, made: now() };
  let file: number;
  try {
    file = createOwned(path);
  } catch (cause) {
    throw notMade(path, cause);
  }
  writing(path, file, encodeLedger(header));
  syncFolder(path);
  return openLedger(path);
}

/**
 * Opens a ledger. Each method reads the file again, so several programs may use it at once.
 * @throws InvalidInputError when there is none, or the file is something else; StorageError when it
 *   is damaged, or a newer program made it.
 * @example
 * const session = new Session({ rows, ledger: openLedger('survey.ledger') });
 */
export function openLedger(path: string): Ledger {
  const { terms, caps } = read(path);
  return {
    terms, caps,
    entries: () => countingOf(read(path)),
    charge: (entry) => charge(path, entry),
  };
}

const countingOf = ({ caps, records }: LedgerFile): readonly LedgerRecord[] =>
  countingEntries(caps, records);

function charge(path: string, entry: LedgerEntry): boolean {
  const record = { ...entry, at: now(), id: toHex(signing.randomBytes(8)) };
  const counts = ({ caps, records }: LedgerFile): boolean =>
    countingEntries(caps, records).some(({ id }) => id === record.id);
  const before = read(path);
  if (!counts({ ...before, records: [...before.records, record] })) return false;
  let file: number;
  try {
    file = openSync(path, constants.O_WRONLY | constants.O_APPEND);
  } catch (cause) {
    throw notWritten(path, cause);
  }
  writing(path, file, encodeRecord(record));
  const after = read(path);
  if (after.records.some(({ id }) => id === record.id)) return counts(after);
  throw new StorageError(`${path} was replaced by another file while an answer was charged: put `
    + 'the ledger back, and let nothing else write there');
}

const now = (): string => new Date(systemClock.nowMs()).toISOString();

/** Writes all bytes by one call, makes them durable and closes the file. */
function writing(path: string, file: number, bytes: Uint8Array): void {
  try {
    if (writeSync(file, bytes) < bytes.length) {
      throw Object.assign(new Error('a part was written'), { code: 'ENOSPC' });
    }
    fsyncSync(file);
  } catch (cause) {
    throw notWritten(path, cause);
  } finally {
    closeSync(file);
  }
}

function read(path: string): LedgerFile {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    const code = codeOf(cause);
    throw new InvalidInputError(code === 'ENOENT'
      ? `there is no ledger ${path}: check the path, or make one with keelson ledger ${path} `
        + '--epsilon 3 --delta 1e-6 --participation public'
      : `the ledger ${path} cannot be read (${code}): it is a file that its owner can read`,
    { path });
  }
  return parseLedger(bytes, path);
}

function notMade(path: string, cause: unknown): InvalidInputError {
  const why: Readonly<Record<string, string>> = {
    EEXIST: 'there is such a file already: name another one, or leave --epsilon and --delta out to '
      + 'use it',
    ENOENT: 'there is no such folder: make it first',
  };
  const code = codeOf(cause);
  return new InvalidInputError(
    `${path} cannot be made (${code}): ${why[code] ?? 'check who may write in its folder'}`,
    { path });
}

function notWritten(path: string, cause: unknown): StorageError {
  const reason = codeOf(cause);
  const remedy = reason === 'ENOSPC' ? 'free space on its disk' : 'check who may write there';
  return new StorageError(
    `the ledger ${path} cannot be written (${reason}), so nothing was answered, though the answer may be charged: `
      + remedy,
    'storage-failed', { details: { path, reason }, cause });
}
