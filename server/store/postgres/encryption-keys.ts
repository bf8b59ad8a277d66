import { createHash, createSecretKey, type KeyObject } from 'node:crypto';
import { accessSync, constants, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { signing } from '#signing';
import { fromHex, toHex } from '../../../src/base/bytes.js';
import { codeOf, InvalidInputError } from '../../../src/base/errors.js';
import { makeOwnedFolder } from '../../base/owned-files.js';
import { createSecret, eraseSecret, isSecretThere, readSecret } from '../../base/secret-files.js';
import { PostgresFailure } from './failures.js';

const namePattern = /^(\d{4}-\d\d-\d\d-[0-9a-f]{16})\.key$/;

/**
 * The encryption keys: 32 random bytes each, in a folder that all nodes share, and never in the
 * database. A name is a day and a hash of the key, so a file with another key is noticed.
 */
export class EncryptionKeys {
  private constructor(private readonly folder: string) {}

  /**
   * Makes the folder, readable by its owner only, when it is missing.
   * @throws InvalidInputError when it cannot be made or written: there is a new key each day.
   */
  static open(folder: string): EncryptionKeys {
    try {
      makeOwnedFolder(folder);
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch (error) {
      throw new InvalidInputError(`the folder of encryption keys ${folder} cannot be used `
        + `(${codeOf(error)}): give one that this user may `
        + 'write (--encryption-keys)', { path: folder });
    }
    return new EncryptionKeys(folder);
  }

  /** True if a folder has a key. Makes nothing. */
  static isIn(folder: string, name: string): boolean {
    return isSecretThere(join(folder, fileOf(name)));
  }

  /**
   * True if a folder has this key, and not another one in its file. Makes nothing.
   * @throws InvalidInputError when others can read the file.
   */
  static canRead(folder: string, name: string): boolean {
    try {
      new EncryptionKeys(folder).read(name);
      return true;
    } catch (error) {
      if (error instanceof PostgresFailure && error.code === 'encryption-key-missing') return false;
      throw error;
    }
  }

  pathOf(name: string): string {
    return join(this.folder, fileOf(name));
  }

  /**
   * Makes a key. Its file is durable when this returns.
   * @param day as 2030-01-31. @returns its name.
   * @throws InvalidInputError when the folder may not be written.
   */
  make(day: string): string {
    const key = signing.randomBytes(32);
    const name = `${day}-${hashOf(key)}`;
    createSecret(this.pathOf(name), () => toHex(key));
    return name;
  }

  /**
   * Reads the file again each time: a key that is erased must not stay in memory.
   * @throws PostgresFailure encryption-key-missing when the folder does not have this key;
   *   InvalidInputError when others can read its file.
   */
  read(name: string): KeyObject {
    const path = this.pathOf(name);
    if (!isSecretThere(path)) throw keyMissing(name, path);
    const text = readSecret(path);
    const key = /^[0-9a-f]{64}$/.test(text) ? fromHex(text) : new Uint8Array(0);
    if (!name.endsWith(`-${hashOf(key)}`)) throw keyMissing(name, path);
    return createSecretKey(key);
  }

  has(name: string): boolean {
    return EncryptionKeys.isIn(this.folder, name);
  }

  /** Names of all keys in the folder. */
  names(): string[] {
    return readdirSync(this.folder).flatMap((file) => namePattern.exec(file)?.[1] ?? []);
  }

  /** Overwrites the file and deletes it. Does nothing when it is missing. */
  erase(name: string): void {
    eraseSecret(this.pathOf(name));
  }
}

const fileOf = (name: string): string => `${name}.key`;

/** 64 bits that identify a key. They reveal nothing about its 32 random bytes. */
const hashOf = (key: Uint8Array): string =>
  createHash('sha256').update('keelson row key\0').update(key).digest('hex').slice(0, 16);

/** @param sealed the data that is sealed under the key, in words. */
export const keyMissing = (
  name: string, path: string, sealed = 'rows or secrets',
): PostgresFailure => new PostgresFailure(
  `the encryption key ${name} is not in the folder of encryption keys, and ${sealed} are sealed under it: give `
  + `the folder that all servers of this store share (--encryption-keys), or restore ${path} from a copy. If it is `
  + 'lost for ever, "keelson store give-up-rows" shows what is lost with it, and goes on without',
  'other', 'encryption-key-missing',
);
