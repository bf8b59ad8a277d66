import nacl from 'tweetnacl';
import { KeelsonError } from '../base/errors.js';
import type { Signing } from './contract.js';
import { checkPublicKey, hasReducedScalar } from './keys.js';
import { checkSeed } from './seed.js';

/** Most bytes that one call of getRandomValues fills. */
const randomChunkBytes = 65_536;

/**
 * Ed25519, X25519 and SHA-512 from tweetnacl, the rest from the platform; byte-compatible with
 * node.ts.
 */
export const signing: Signing = {
  generateSeed: () => randomBytes(32),

  createSigner(seed) {
    checkSeed(seed);
    const pair = nacl.sign.keyPair.fromSeed(Uint8Array.from(seed));
    return {
      publicKey: pair.publicKey,
      sign: (message) => nacl.sign.detached(message, pair.secretKey),
    };
  },

  createVerifier(publicKey) {
    checkPublicKey(publicKey);
    const key = Uint8Array.from(publicKey);
    return {
      publicKey: key,
      // tweetnacl accepts a second half that is not reduced; node:crypto refuses it.
      verify: (message, signature) =>
        signature.length === 64 &&
        hasReducedScalar(signature) &&
        nacl.sign.detached.verify(message, signature, key),
    };
  },

  sha512: (bytes) => nacl.hash(bytes),

  async sha256(bytes) {
    // Missing on pages without a secure origin.
    const subtle = globalThis.crypto.subtle as typeof globalThis.crypto.subtle | undefined;
    if (subtle === undefined) {
      throw new KeelsonError(
        'unsupported', 'this page has no crypto.subtle: serve it over https or from localhost',
      );
    }
    return new Uint8Array(await subtle.digest('SHA-256', Uint8Array.from(bytes)));
  },

  randomBytes,
  x25519: (secretKey, publicKey) => nacl.scalarMult(secretKey, publicKey),
};

function randomBytes(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i += randomChunkBytes) {
    globalThis.crypto.getRandomValues(bytes.subarray(i, i + randomChunkBytes));
  }
  return bytes;
}
