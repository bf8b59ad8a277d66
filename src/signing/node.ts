import { createHash, createPrivateKey, createPublicKey, randomBytes, sign, verify } from 'node:crypto';
import type { Signing } from './contract.js';
import { checkPublicKey } from './keys.js';
import { checkSeed } from './seed.js';

/** What stands before the 32 bytes of a seed in PKCS #8 (RFC 8410, section 7). */
const privateKeyPrefix = Buffer.from('302e020100300506032b657004220420', 'hex');
/** What stands before the 32 bytes of a key in SubjectPublicKeyInfo (RFC 8410, section 4). */
const publicKeyPrefix = Buffer.from('302a300506032b6570032100', 'hex');

/** Ed25519 and hashes from node:crypto. The authoritative verifier: the server accepts and replays with it. */
export const signing: Signing = {
  generateSeed: () => plain(randomBytes(32)),

  createSigner(seed) {
    checkSeed(seed);
    const key = createPrivateKey({ key: Buffer.concat([privateKeyPrefix, seed]), format: 'der', type: 'pkcs8' });
    const encoded = createPublicKey(key).export({ format: 'der', type: 'spki' });
    return {
      publicKey: plain(encoded.subarray(publicKeyPrefix.length)),
      sign: (message) => plain(sign(null, message, key)),
    };
  },

  createVerifier(publicKey) {
    checkPublicKey(publicKey);
    const key = createPublicKey({ key: Buffer.concat([publicKeyPrefix, publicKey]), format: 'der', type: 'spki' });
    return {
      publicKey: Uint8Array.from(publicKey),
      verify: (message, signature) => signature.length === 64 && verify(null, message, key, signature),
    };
  },

  sha512: (bytes) => plain(createHash('sha512').update(bytes).digest()),
  sha256: async (bytes) => plain(createHash('sha256').update(bytes).digest()),
  randomBytes: (length) => plain(randomBytes(length)),
};

/** A Uint8Array with memory of its own: a Buffer may be a window into a shared pool. */
function plain(buffer: Buffer): Uint8Array {
  return Uint8Array.from(buffer);
}
