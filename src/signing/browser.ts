import nacl from 'tweetnacl';
import { concatBytes } from '../base/bytes.js';
import { KeelsonError } from '../base/errors.js';
import { frameKinds, keyLabels, putNonce, type FrameKind } from './channel-keys.js';
import type { ContributorCipher, Signing } from './contract.js';
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

  get contributorCipher() {
    const subtle = globalThis.crypto.subtle as Subtle | undefined;
    return subtle === undefined
      ? null : (agreed: Uint8Array, message: Uint8Array) => cipherOf(subtle, agreed, message);
  },
};

type Subtle = typeof globalThis.crypto.subtle;

/** The key schedule by WebCrypto, which keeps the two keys. */
async function cipherOf(
  subtle: Subtle, agreed: Uint8Array, message: Uint8Array,
): Promise<ContributorCipher> {
  const secret = own(agreed);
  agreed.fill(0);
  const root = await subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey']);
  secret.fill(0);
  const salt = await subtle.digest('SHA-256', own(message));
  const [up, down] = await Promise.all(keyLabels.map((info) => subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt, info: own(info) }, root,
    { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])));
  const form = (number: number, kind: FrameKind) => {
    const iv = new Uint8Array(12);
    putNonce(iv, number);
    return { name: 'AES-GCM', iv, additionalData: Uint8Array.of(frameKinds[kind]) };
  };
  return {
    seal: async (number, digest, body) => new Uint8Array(
      await subtle.encrypt(form(number, 'batch'), up!, own(concatBytes(digest, body)))),
    open: (number, kind, sealed) => subtle.decrypt(form(number, kind), down!, own(sealed))
      .then((plain) => new Uint8Array(plain), () => null),
  };
}

/** A copy in plain memory, which the platform's types require. */
const own = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => Uint8Array.from(bytes);

function randomBytes(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i += randomChunkBytes) {
    globalThis.crypto.getRandomValues(bytes.subarray(i, i + randomChunkBytes));
  }
  return bytes;
}
