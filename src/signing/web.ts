import { concatBytes, fromBase64, fromHex } from '../base/bytes.js';
import { frameKinds, keyLabels, putNonce, type FrameKind } from './channel-keys.js';
import type {
  AsyncSigner, AsyncSigning, ContributorCipher, KeyAgreement, Signing,
} from './contract.js';
import { checkPublicKey, hasReducedScalar } from './keys.js';
import { own, randomBytes, sha256, subtleOf, type Subtle } from './platform.js';
import { checkSeed } from './seed.js';

type Key = Awaited<ReturnType<Subtle['importKey']>>;
/** A pair of X25519. */
interface KeyPair {
  readonly privateKey: Key;
  readonly publicKey: Key;
}

/** PKCS #8 of an Ed25519 key (RFC 8410) is this, and then the seed. */
const pkcs8Head = fromHex('302e020100300506032b657004220420');

/** Ed25519, X25519 and hashes from WebCrypto; byte-compatible with node.ts. */
export const signing: AsyncSigning = {
  generateSeed: () => randomBytes(32),

  createSigner(seed) {
    checkSeed(seed);
    return byPlatform((subtle) => signerOf(subtle, seed), (other) => other.createSigner(seed));
  },

  createVerifier(publicKey) {
    checkPublicKey(publicKey);
    const key = Uint8Array.from(publicKey);
    let verifier: ReturnType<typeof verifierOf> | undefined;
    return {
      publicKey: key,
      verify: async (message, signature) =>
        signature.length === 64 && hasReducedScalar(signature)
          && (await (verifier ??= verifierOf(key)))(message, signature),
    };
  },

  sha512: (bytes) => byPlatform(
    async (subtle) => new Uint8Array(await subtle.digest('SHA-512', own(bytes))),
    (other) => other.sha512(bytes),
  ),
  sha256,
  randomBytes,
  keyAgreement: () => byPlatform(agreementOf, (other) => other.keyAgreement()),
  contributorCipher,
};

/**
 * Does it with WebCrypto; with tweetnacl, in a file of its own, where the page has no WebCrypto or
 * it does not know the algorithm.
 */
async function byPlatform<T>(
  work: (subtle: Subtle) => Promise<T>, otherwise: (other: Signing) => T,
): Promise<T> {
  const subtle = subtleOf();
  if (subtle !== undefined) {
    try {
      return await work(subtle);
    } catch {
      // The other one decides.
    }
  }
  return otherwise((await import('./browser.js')).signing);
}

async function signerOf(subtle: Subtle, seed: Uint8Array): Promise<AsyncSigner> {
  const form = own(concatBytes(pkcs8Head, seed));
  const key = await subtle.importKey('pkcs8', form, 'Ed25519', true, ['sign']);
  form.fill(0);
  const { x } = await subtle.exportKey('jwk', key);
  return {
    publicKey: fromBase64(x!.replaceAll('-', '+').replaceAll('_', '/')),
    sign: async (message) => new Uint8Array(await subtle.sign('Ed25519', key, own(message))),
  };
}

const verifierOf = (publicKey: Uint8Array) => byPlatform(
  async (subtle) => {
    const key = await subtle.importKey('raw', own(publicKey), 'Ed25519', false, ['verify']);
    return (message: Uint8Array, signature: Uint8Array) =>
      subtle.verify('Ed25519', key, own(signature), own(message));
  },
  (other) => {
    const verifier = other.createVerifier(publicKey);
    return async (message: Uint8Array, signature: Uint8Array) =>
      verifier.verify(message, signature);
  },
);

/** The platform keeps the secret. */
async function agreementOf(subtle: Subtle): Promise<KeyAgreement> {
  const { privateKey, publicKey } =
    await subtle.generateKey('X25519', false, ['deriveBits']) as KeyPair;
  const share = new Uint8Array(await subtle.exportKey('raw', publicKey));
  return {
    share,
    async agree(other) {
      const theirs = await subtle.importKey('raw', own(other), 'X25519', false, []);
      // WebCrypto refuses shares of small order. The test for zeros is for platforms that do not.
      const agreed = await subtle.deriveBits({ name: 'X25519', public: theirs }, privateKey, 256)
        .then((bits) => new Uint8Array(bits), () => null);
      return agreed?.some((byte) => byte !== 0) === true ? agreed : null;
    },
  };
}

/** The key schedule by WebCrypto, which keeps the two keys. */
async function contributorCipher(
  agreed: Uint8Array, message: Uint8Array,
): Promise<ContributorCipher> {
  // A page without it has opened no channel, for want of SHA-256.
  const subtle = subtleOf()!;
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
