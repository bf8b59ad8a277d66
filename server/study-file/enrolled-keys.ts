import { createHash } from 'node:crypto';
import { concatBytes, fromHex } from '../../src/base/bytes.js';
import { KeelsonError } from '../../src/base/errors.js';
import { checkPublicKey } from '../../src/signing/index.js';
import { studyError } from './refusal.js';

/**
 * Reads a list of enrolled keys: one public key of 64 hexadecimal digits in each line. Empty lines
 * and text after `#` are ignored.
 * @throws KeelsonError('invalid-study') with the line, for a key that cannot be used or is listed
 *   twice.
 */
export function parseKeyList(text: string, file: string): ReadonlySet<string> {
  const keys = new Set<string>();
  text.split(/\r?\n/).forEach((raw, i) => {
    const key = raw.replace(/#.*/, '').trim().toLowerCase();
    if (key === '') return;
    const line = i + 1;
    if (!/^[0-9a-f]{64}$/.test(key)) {
      throw studyError(file, {
        path: '', rule: 'has a line that is not a public key',
        remedy: 'give 64 hexadecimal digits in each line', line,
      });
    }
    try {
      checkPublicKey(fromHex(key));
    } catch (error) {
      if (!(error instanceof KeelsonError)) throw error;
      throw studyError(
        file, { path: '', rule: `has a key that cannot be used: ${error.message}`, line }, error,
      );
    }
    if (keys.has(key)) {
      throw studyError(file, { path: '', rule: 'has this key twice', remedy: 'remove one', line });
    }
    keys.add(key);
  });
  if (keys.size === 0) {
    throw studyError(file, {
      path: '', rule: 'has no key', remedy: 'enrol at least one, or write admission: open',
    });
  }
  return keys;
}

/**
 * Identifies a list without publishing it: SHA-256 of the keys' bytes, sorted and joined, in hex.
 */
export function digestOfKeys(keys: ReadonlySet<string>): string {
  return createHash('sha256').update(concatBytes(...[...keys].sort().map(fromHex))).digest('hex');
}
