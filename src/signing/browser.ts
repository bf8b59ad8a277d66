import nacl from 'tweetnacl';
import { keyAgreement } from './channel-keys.js';
import type { Signing } from './contract.js';
import { checkPublicKey, hasReducedScalar } from './keys.js';
import { checkSeed } from './seed.js';
import { randomBytes, sha256 } from './platform.js';

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
  sha256,
  randomBytes,
  x25519: (secretKey, publicKey) => nacl.scalarMult(secretKey, publicKey),
  keyAgreement: () => keyAgreement(signing),
};
