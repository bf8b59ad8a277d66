import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureOwned } from '../../server/base/owned-files.js';
import { createSecret, readSecret } from '../../server/base/secret-files.js';
import { connect, transaction, type Connection } from '../../server/store/sqlite/driver.js';
import { takeLock, type FolderLock } from '../../server/store/sqlite/folder-lock.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { toHex } from '../../src/base/bytes.js';
import { makeTokenKey, readTokenKey, type TokenKey } from './token-keys.js';

/** Larger than the keys of the most periods. */
const keyFileBytesMax = 512 * 1024;
const codeBytes = 16;

/** The facts of an issuer. Its keys are kept beside them. */
export interface IssuerFacts {
  readonly issuer: string;
  readonly fromMs: number;
  readonly perMs: number;
}

/** An issuer as its key file has it. */
export interface Issuer extends IssuerFacts {
  /** One for each period, in order. */
  readonly keys: readonly TokenKey[];
}

const keyFile = (folder: string): string => join(folder, 'issuer.key');

/**
 * Makes the keys of an issuer, one for each period, in a file that only its owner can read. Cost:
 * about 0.1 s for each key.
 * @throws InvalidInputError when the folder has an issuer already: it is never overwritten.
 */
export async function makeIssuer(
  folder: string, facts: IssuerFacts, periods: number,
): Promise<Issuer> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const keys: string[] = [];
  for (let i = 0; i < periods; i++) keys.push(await makeTokenKey());
  const { issuer, fromMs, perMs } = facts;
  if (createSecret(keyFile(folder), () => JSON.stringify({ issuer, fromMs, perMs, keys }))) {
    return { issuer, fromMs, perMs, keys: keys.map(readTokenKey) };
  }
  throw new InvalidInputError(
    `${folder} has an issuer, which is not overwritten: name another folder`, { folder },
  );
}

/** @throws InvalidInputError when the folder has no issuer, or others can read its keys. */
export function readIssuer(folder: string): Issuer {
  const path = keyFile(folder);
  const text = readSecret(path, keyFileBytesMax);
  try {
    const { keys, ...facts } = JSON.parse(text) as IssuerFacts & { readonly keys: string[] };
    return { ...facts, keys: keys.map(readTokenKey) };
  } catch (cause) {
    throw new InvalidInputError(`${path} does not hold the keys of an issuer: restore it, or make `
      + 'another issuer with --new', { path, cause: String(cause) });
  }
}

/** The decision about a request. */
export type Grant = 'granted' | 'unknown-code' | 'given';

/**
 * The people who may have a token, and those who have had one. It keeps hashes of codes and of
 * requests, in an SQLite file, and a record of a period only until the period has ended.
 *
 * A request is blinded, so its hash reveals nothing about token or key (see `blindMessage`). It is
 * kept so that the same request gets the same answer again, when an answer was lost.
 */
export class IssuerRecord {
  readonly #database: Connection;
  #lock: FolderLock | undefined;

  constructor(private readonly folder: string) {
    const path = join(folder, 'issuer.db');
    ensureOwned(path);
    this.#database = connect(path);
    this.#database.exec('PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;'
      + 'CREATE TABLE IF NOT EXISTS codes (code BLOB PRIMARY KEY) WITHOUT ROWID;'
      + 'CREATE TABLE IF NOT EXISTS issued (period INTEGER, code BLOB,'
      + ' request BLOB NOT NULL, PRIMARY KEY (period, code)) WITHOUT ROWID');
  }

  /**
   * Makes this process the only one that issues from the folder.
   * @throws StorageError('data-folder-in-use') when another does.
   */
  lock(): void {
    this.#lock = takeLock(this.folder);
  }

  /** New codes, one for each person. They are shown once: only hashes are kept. */
  addCodes(count: number): readonly string[] {
    const codes = Array.from({ length: count }, () => toHex(randomBytes(codeBytes)));
    transaction(this.#database, () => {
      const insert = this.#database.prepare('INSERT INTO codes (code) VALUES (?)');
      for (const code of codes) insert.run(hashOf(code));
    });
    return codes;
  }

  /** @returns whether there was such a code. It gets no token from now on. */
  revoke(code: string): boolean {
    const remove = this.#database.prepare('DELETE FROM codes WHERE code = ?');
    return remove.run(hashOf(code)).changes > 0;
  }

  get people(): number {
    const row = this.#database.prepare('SELECT count(*) AS n FROM codes').get() as { n: bigint };
    return Number(row.n);
  }

  /**
   * Begins a period, and forgets the ones before it.
   * @returns false for a period before the newest one. Its record is gone, so a clock that was set
   *   back gets no second tokens.
   */
  begin(period: number): boolean {
    const { user_version: found } =
      this.#database.prepare('PRAGMA user_version').get() as { readonly user_version: bigint };
    const newest = Number(found);
    if (period > newest) {
      transaction(this.#database, () => {
        this.#database.prepare('DELETE FROM issued WHERE period < ?').run(period);
        this.#database.exec(`PRAGMA user_version = ${period}`);
      });
    }
    return period >= newest;
  }

  /**
   * Grants the token of a code and a period to one request, and to repetitions of that request.
   * When it returns, this is durable.
   */
  grant(period: number, code: string, blinded: Uint8Array): Grant {
    const person = hashOf(code);
    const request = hashOf(blinded);
    if (this.#database.prepare('SELECT 1 FROM codes WHERE code = ?').get(person) === undefined) {
      return 'unknown-code';
    }
    this.#database.prepare('INSERT OR IGNORE INTO issued (period, code, request) VALUES (?, ?, ?)')
      .run(period, person, request);
    const row = this.#database.prepare('SELECT request FROM issued WHERE period = ? AND code = ?')
      .get(period, person) as { readonly request: Uint8Array };
    return request.equals(row.request) ? 'granted' : 'given';
  }

  close(): void {
    this.#database.close();
    this.#lock?.release();
  }
}

function hashOf(value: string | Uint8Array): Buffer {
  return createHash('sha256').update(value).digest();
}
