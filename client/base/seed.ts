import { fromHex } from '../../src/base/bytes.js';
import { InvalidInputError } from '../../src/base/errors.js';

/**
 * The 32-byte seed in the bytes of a key file: 64 hexadecimal digits and white space, as `keelson
 * keys new` writes it, or the 32 bytes themselves.
 * @throws InvalidInputError for anything else. The message never has the file's contents.
 */
export function readSeed(file: Uint8Array): Uint8Array {
  if (file.length === 32) return Uint8Array.from(file);
  const text = String.fromCharCode(...file.subarray(0, 256)).trim();
  if (file.length <= 256 && /^[0-9a-fA-F]{64}$/.test(text)) return fromHex(text);
  throw new InvalidInputError(
    'this is not a key file: expected 64 hexadecimal digits, as "keelson keys new" writes them', {
      bytes: file.length,
    },
  );
}
