import { join } from 'node:path';
import { signing } from '#signing';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { createSecret, readSecret } from '../base/secret-files.js';

/**
 * The key that seals exact values of running totals in the store. Creates DIR/series.key if it is
 * missing: then the series begin again, and nothing else is lost.
 * @returns 32 bytes.
 * @throws InvalidInputError when the file is unreadable, when other users can read it, or when it
 *   holds no key.
 */
export function openSeriesKey(directory: string): Uint8Array {
  const path = join(directory, 'series.key');
  createSecret(path, () => toHex(signing.randomBytes(32)));
  const text = readSecret(path);
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new InvalidInputError(
      `${path} does not hold a key of 64 hexadecimal digits: restore it, or remove it to get a fresh `
      + 'one. With a fresh one the running totals begin again', { path },
    );
  }
  return fromHex(text);
}
