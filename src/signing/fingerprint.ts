import { toHex } from '../base/bytes.js';
import type { Signing } from './contract.js';

/**
 * A key in the form that people compare: eight groups of four hexadecimal digits, the first 128
 * bits of its SHA-512. It is long enough that nobody can make another key with the same
 * fingerprint.
 */
export function keyFingerprint(publicKey: Uint8Array, signing: Pick<Signing, 'sha512'>): string {
  return toHex(signing.sha512(publicKey).subarray(0, 16)).match(/.{4}/g)!.join(' ');
}
