import {
  createHash, createPrivateKey, createPublicKey, diffieHellman, randomBytes, sign, verify,
} from 'node:crypto';
import { assert } from '../base/assert.js';
import { keyAgreement } from './channel-keys.js';
import type { Signing } from './contract.js';
import { checkPublicKey } from './keys.js';
import { checkSeed } from './seed.js';

/**
 * Keys are passed as JSON Web Keys (RFC 8037), which node:crypto gives to OpenSSL as raw bytes. The
 * same keys in DER take ten times as long. With thousands of contributors that is most of the time
 * of connecting.
 */
const keyType = { kty: 'OKP', crv: 'Ed25519' } as const;
const agreementType = { kty: 'OKP', crv: 'X25519' } as const;
/** A private JWK must have some `x`. node:crypto computes the true one from `d`. */
const anyX = base64Url(new Uint8Array(32));

/**
 * Ed25519, X25519 and hashes from node:crypto. This verifier is authoritative: the server accepts
 * and replays with it.
 */
export const signing: Signing = {
  generateSeed: () => plain(randomBytes(32)),

  createSigner(seed) {
    checkSeed(seed);
    const key =
      createPrivateKey({ key: { ...keyType, d: base64Url(seed), x: anyX }, format: 'jwk' });
    const { x } = createPublicKey(key).export({ format: 'jwk' });
    return {
      publicKey: plain(Buffer.from(x!, 'base64url')),
      sign: (message) => plain(sign(null, message, key)),
    };
  },

  createVerifier(publicKey) {
    checkPublicKey(publicKey);
    const key = createPublicKey({ key: { ...keyType, x: base64Url(publicKey) }, format: 'jwk' });
    return {
      publicKey: Uint8Array.from(publicKey),
      verify: (message, signature) =>
        signature.length === 64 && verify(null, message, key, signature),
    };
  },

  sha512: (bytes) => plain(createHash('sha512').update(bytes).digest()),
  sha256: async (bytes) => plain(createHash('sha256').update(bytes).digest()),
  randomBytes: (length) => plain(randomBytes(length)),

  x25519(secretKey, publicKey) {
    checkLength(secretKey);
    checkLength(publicKey);
    const privateKey = createPrivateKey({
      key: { ...agreementType, d: base64Url(secretKey), x: anyX }, format: 'jwk',
    });
    const other = createPublicKey({
      key: { ...agreementType, x: base64Url(publicKey) }, format: 'jwk',
    });
    try {
      return plain(diffieHellman({ privateKey, publicKey: other }));
    } catch {
      // OpenSSL gives an error in place of zeros, and has no other error for keys of this length.
      return new Uint8Array(32);
    }
  },

  keyAgreement: () => keyAgreement(signing),
};

function checkLength(key: Uint8Array): void {
  assert(key.length === 32, 'a key of X25519 has 32 bytes');
}

function base64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64url');
}

/** A Uint8Array with its own memory: a Buffer may be a view of a shared pool. */
function plain(buffer: Buffer): Uint8Array {
  return Uint8Array.from(buffer);
}
