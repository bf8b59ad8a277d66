import type { Sensitive } from '../../base/brands.js';
import { openSensitive } from '../../base/wrappers.js';

/**
 * Encrypts contributors' data for the server itself. This is no release: no event is drawn.
 *
 * Claim: what it returns costs no privacy, for a reader without the key.
 * Why: `seal` is authenticated encryption under a secret key with a fresh nonce, so without the key
 * the text shows its length only. The length must be public: here it follows from the plan and from
 * the number of releases. The text is kept in the store and is never sent to anybody.
 */
export function sealed(
  value: Sensitive<Uint8Array>, seal: (plain: Uint8Array) => Uint8Array,
): Uint8Array {
  return seal(openSensitive(value));
}
