import { fromHex, toHex } from '../../src/base/bytes.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { readBlindEnrolment, readEnrolment } from '../../src/signing/index.js';
import { readText } from './text-files.js';

/**
 * The token for one key, from a file of lines "KEY TOKEN", as `keelson keys enrol` and `keelson
 * token` print them. A line may also hold only a token. If several fit, it takes the one that is
 * valid longest; of blind tokens, the last one.
 * @returns hexadecimal digits.
 * @throws InvalidInputError for a line of another form, or if no token in the file is for the key.
 */
export function readEnrolmentFile(path: string, publicKey: Uint8Array): string {
  const own = toHex(publicKey);
  let best: { readonly token: string; readonly expiresAtMs: number } | undefined;
  for (const [index, raw] of readText(path).split(/\r?\n/).entries()) {
    const words = raw.trim().toLowerCase().split(/\s+/);
    if (words[0] === '') continue;
    const token = words.at(-1)!;
    const expiresAtMs = words.length <= 2 && /^([0-9a-f]{2})+$/.test(token)
      ? expiryOf(fromHex(token)) : undefined;
    if (expiresAtMs === undefined) {
      throw new InvalidInputError(
        `${path}, line ${index + 1}: this is no enrolment token: use what "keelson keys enrol" or `
          + '"keelson keys token" printed',
          { path, line: index + 1 },
      );
    }
    const mine = words.length === 1 || words[0] === own;
    if (mine && !(best !== undefined && best.expiresAtMs > expiresAtMs)) {
      best = { token, expiresAtMs };
    }
  }
  if (best !== undefined) return best.token;
  throw new InvalidInputError(
    `${path} holds no token for ${own}: ask the operator for one`, { path },
  );
}

/** Undefined for bytes that are no token. The end of a blind token is not in the token: 0. */
function expiryOf(token: Uint8Array): number | undefined {
  return readBlindEnrolment(token) === undefined ? readEnrolment(token)?.expiresAtMs : 0;
}
