import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidInputError } from '../../src/base/errors.js';
import { createSecret } from '../base/secret-files.js';

/**
 * Binds a folder of secrets to one store. Two stores under one key could each sign a release of the
 * same place of a log, and both would verify. So DIR/store.id holds the name of the store that the
 * key has served first.
 * @param store names the store, also when its database is copied or moved.
 * @throws InvalidInputError when the folder belongs to another store.
 */
export function bindSecrets(directory: string, store: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = nameIn(directory);
  if (createSecret(path, () => store)) return;
  const bound = readFileSync(path, 'utf8').trim();
  if (bound === store) return;
  throw new InvalidInputError(
    `the keys in ${directory} belong to the store ${bound}, and this is ${store}: one key for two `
    + 'stores would sign two logs; give the address of that store, or another folder of '
    + 'secrets (--secrets)',
    { path, bound, store },
  );
}

/** The name of the store that a folder is bound to; undefined when it is bound to none yet. */
export function boundStore(directory: string): string | undefined {
  const path = nameIn(directory);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
}

const nameIn = (directory: string): string => join(directory, 'store.id');
