import type { ErrorCode } from '../../../src/base/error-codes.js';
import {
  InvariantError, KeelsonError, StorageError, type StorageCode,
} from '../../../src/base/errors.js';
import { sqliteCode } from './driver.js';

/** SQLite codes of passing causes: another process held a lock, or the disk was full. */
const passing = /^SQLITE_(BUSY|LOCKED|FULL)/;
/**
 * SQLite codes after which the disk's contents are unknown. The store writes nothing until
 * reopened.
 */
const fatal = /^SQLITE_(IOERR|CORRUPT|NOTADB)/;
/** SQLite codes about the records of one call, for example a missing table of one epoch. */
const ofOneCall = /^SQLITE_(ERROR|CONSTRAINT|MISMATCH|RANGE|TOOBIG)/;

const storageCodes: ReadonlySet<ErrorCode> = new Set<StorageCode>([
  'storage-failed', 'data-folder-in-use', 'data-folder-rolled-back', 'schema-too-new',
]);

const restore = 'restore a copy (docs/operating/operations.md)';
/** The operator's remedy, by primary code. */
const remedies: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'free space on the disk of the data folder',
  SQLITE_NOTADB: `keelson.db of the data folder is another file: check the folder, or ${restore}`,
  SQLITE_CORRUPT: `keelson.db of the data folder is damaged: ${restore}`,
  SQLITE_IOERR: `check the disk of the data folder; if keelson.db is lost, ${restore}`,
  SQLITE_CANTOPEN: 'check the data folder, and that this user may read and write all files in it',
  SQLITE_READONLY: 'check that this user may write all files in the data folder',
};

/**
 * Turns an error of SQLite into a Keelson error. SQLite's texts name tables and columns,
 * never values.
 */
export function asStoreError(error: unknown): KeelsonError {
  if (error instanceof KeelsonError) return error;
  const code = sqliteCode(error);
  if (code !== undefined) {
    const kind = /^SQLITE_[A-Z]+/.exec(code)?.[0] ?? '';
    const remedy = remedies[kind] === undefined ? '' : `; ${remedies[kind]}`;
    return new StorageError(
      `the store failed: ${(error as Error).message} (${code})${remedy}`, 'storage-failed', {
        retryable: passing.test(code), cause: error,
        details: { sqliteCode: code, ...(ofOneCall.test(code) && { scope: 'call' }) },
      },
    );
  }
  const text = error instanceof Error ? error.message : 'unknown failure';
  return new StorageError(`the store failed: ${text}`, 'storage-failed', {
    details: { scope: 'call' }, cause: error,
  });
}

/** True when nothing may be written through this connection any more. */
export function isFatal(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && fatal.test(code);
}

/** An error in a form that crosses a thread boundary. */
export interface ErrorMessage {
  readonly name: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>>;
}

export function errorToMessage(error: KeelsonError): ErrorMessage {
  return {
    name: error.name, code: error.code, message: error.message, retryable: error.retryable,
    details: error.details,
  };
}

/** The same error on this side: same class (of those the store throws), code, text and details. */
export function errorFromMessage(message: ErrorMessage): KeelsonError {
  const { code, retryable, details } = message;
  if (message.name === 'InvariantError') {
    return new InvariantError(message.message, { retryable, details });
  }
  if (storageCodes.has(code)) {
    return new StorageError(message.message, code as StorageCode, { retryable, details });
  }
  return new KeelsonError(code, message.message, { retryable, details });
}
