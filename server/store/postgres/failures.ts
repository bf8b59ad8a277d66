import { KeelsonError, StorageError, type StorageCode } from '../../../src/base/errors.js';

/**
 * `lost`: the connection or the database is gone; wait, and ask whether the transaction was
 * committed. `full`: the disk of the database is full, and nothing was written; wait and try again.
 * `again`: another transaction came first, or memory was short; try again at once. `taken`: another
 * node has the lease, or the database knows this node no more. `other`: a defect, or something that
 * an operator must change.
 */
export type FailureKind = 'lost' | 'full' | 'again' | 'taken' | 'other';

/** A failure of the database, with a kind that tells the store how it may react. */
export class PostgresFailure extends StorageError {
  constructor(
    message: string, readonly kind: FailureKind, code: StorageCode = 'storage-failed',
    sqlState?: string,
  ) {
    super(message, code, {
      retryable: kind === 'lost' || kind === 'full' || kind === 'again',
      details: sqlState === undefined ? {} : { sqlState },
    });
  }
}

/**
 * A transaction that had to make way, one that read rows which another changed meanwhile, and one
 * for which there was no memory.
 */
const again = new Set(['40001', '40P01', '55P03', 'KE002', '53200']);
/**
 * Connection failures, shutdowns and crashes of the database, too many connections, and a session
 * that the database ended because its transaction did nothing.
 */
const lost = /^(08...|57P0[1-4]|53300|25P03)$/;
/**
 * True if a prepared statement has other columns than before, since a migration has added some. The
 * statement is prepared again.
 */
export const isStalePlan = (error: unknown): boolean => {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  return code === '0A000' && /cached plan/.test(String(message));
};

/** The disk of the database is full: it accepts no writes now. */
const full = '53100';
/** It is a standby. Another connection may find the primary. */
const readOnly = '25006';
/** Errors whose text has no data: about permissions, missing objects and full disks. */
const tellable = /^(0A|25|28|3D|3F|42|53|54|55|57|58)/;

const remedies: Readonly<Record<string, string>> = {
  '28P01': 'check the user and the password in the address, PGPASSWORD or the password file',
  '28000': 'check the user in the address, and pg_hba.conf of the database',
  '3D000': 'create the database, or correct its name in the address',
  '42501': 'give this user the rights on the schema, or name its owner in the address',
  '42P01': 'a table is missing: was the schema changed by hand? Restore a copy',
  [full]: 'free space on the disk of the database',
  '53200': 'give the database more memory, or a greater max_locks_per_transaction',
  '25006': 'the database is read-only: name the primary in the address',
  '55P03': 'other programs have used the same tables all the time: run this again',
  '58030': 'check the disk of the database',
};

/**
 * Turns an error of the database into a Keelson error. The text of a broken constraint or a wrong
 * value may name the value, so of these only the code is passed on.
 */
export function asStoreError(error: unknown): KeelsonError {
  if (error instanceof KeelsonError) return error;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  // A state of SQL has a digit. EPIPE, which has as many letters, is a code of the system.
  const sqlState = typeof code === 'string' && /^(?=.*[0-9])[0-9A-Z]{5}$/.test(code)
    ? code : undefined;
  if (sqlState === 'KE003') return forgotten();
  if (sqlState === 'KE004') return leaseLost();
  const text = typeof message === 'string' && message !== '' ? message : String(code);
  if (sqlState === undefined && !isOfConnection(code, text)) {
    return new StorageError(`the store failed: ${text}`, 'storage-failed', { cause: error });
  }
  if (sqlState === undefined || lost.test(sqlState) || isStalePlan(error)) {
    return new PostgresFailure(
      `the database cannot be reached (${text}): check that it runs, and the address`, 'lost',
      'storage-failed', sqlState,
    );
  }
  const told = tellable.test(sqlState) ? `${text} (${sqlState})` : sqlState;
  const remedy = remedies[sqlState] === undefined ? '' : `; ${remedies[sqlState]}`;
  const kind = again.has(sqlState) ? 'again' : sqlState === full ? 'full'
    : sqlState === readOnly ? 'lost' : 'other';
  return new PostgresFailure(
    `the store failed: ${told}${remedy}`, kind, 'storage-failed', sqlState,
  );
}

/** Errors of the socket have a code of the system; those of the package about it have a text. */
function isOfConnection(code: unknown, text: string): boolean {
  return (typeof code === 'string' && /^E[A-Z]+$/.test(code))
    || /^Connection terminated|^Query read timeout|^timeout e|^Client (was|has encountered)/.test(text);
}

export const forgotten = (): PostgresFailure => new PostgresFailure(
  'the database does not know this server any more, because it was away for days, or its '
  + 'tables were upgraded or changed by hand: start it again', 'taken',
);

export const leaseLost = (): PostgresFailure => new PostgresFailure(
  'another server leads this study now, since this one did not renew its lease in time',
  'taken', 'lease-lost',
);

export const sliceClaimed = (): PostgresFailure => new PostgresFailure(
  'another server summarises these rows now, since this one read no page for too long', 'taken',
  'lease-lost',
);

/** Another transaction changed the rows that this one had read. Nothing was written. */
export const moved = (): PostgresFailure =>
  new PostgresFailure('other transactions change the same rows all the time', 'again');
