import { concatBytes } from '../base/bytes.js';
import type { Verifier } from './contract.js';
import { hasReducedScalar } from './keys.js';

/** Most valid signatures that are remembered until `verify` asks for them. */
const rememberedMax = 8_192;

/** A verifier with help from the platform. */
export interface AheadVerifier extends Verifier {
  /**
   * Lets the platform check a signature on another thread. If it is valid, the next `verify` of
   * exactly these bytes is quick, once. Never rejects. It decides nothing else: if the platform
   * does not find a signature valid, `verify` checks it itself.
   */
  ahead(message: Uint8Array, signature: Uint8Array): Promise<void>;
}

/**
 * Adds Ed25519 by the platform (WebCrypto). It is many times as fast as in JavaScript and runs on
 * another thread, but it is asynchronous. Older browsers and pages without a secure origin do not
 * have it; `ahead` then does nothing.
 */
export function withAhead(verifier: Verifier): AheadVerifier {
  const { publicKey } = verifier;
  const { subtle } = globalThis.crypto as { readonly subtle?: typeof globalThis.crypto.subtle };
  const valid = new Set<string>();
  let imported: ReturnType<typeof importKey> | undefined;
  const importKey = (from: NonNullable<typeof subtle>) =>
    from.importKey('raw', Uint8Array.from(publicKey), 'Ed25519', false, ['verify']);
  return {
    publicKey,
    verify: (message, signature) =>
      valid.delete(nameOf(message, signature)) || verifier.verify(message, signature),
    async ahead(message, signature) {
      if (subtle === undefined || signature.length !== 64 || !hasReducedScalar(signature)) return;
      try {
        imported ??= importKey(subtle);
        const isValid = await subtle.verify(
          'Ed25519', await imported, Uint8Array.from(signature), Uint8Array.from(message));
        if (isValid && valid.size < rememberedMax) valid.add(nameOf(message, signature));
      } catch {
        // The platform does not know the algorithm or refuses the key: the other verifier decides.
      }
    },
  };
}

/**
 * The bytes as text. All signatures have the same length, so different pairs have different names.
 */
function nameOf(message: Uint8Array, signature: Uint8Array): string {
  return String.fromCharCode(...concatBytes(signature, message));
}
