import { concatBytes } from '../base/bytes.js';
import type { Verifier } from './contract.js';
import { hasReducedScalar } from './keys.js';

/** Valid signatures remembered at most, of those nobody has asked for yet. */
const rememberedMax = 8_192;

/** A verifier that the platform may help. */
export interface AheadVerifier extends Verifier {
  /**
   * Lets the platform check a signature beside this thread, and remembers one that is valid, so that `verify` of exactly
   * these bytes is quick, once. Never rejects, and decides nothing else: what was not found valid `verify` checks itself.
   */
  ahead(message: Uint8Array, signature: Uint8Array): Promise<void>;
}

/**
 * Adds Ed25519 by the platform (WebCrypto), which is many times as fast as in JavaScript and on another thread, but
 * asynchronous. Where it is missing, in older browsers and on pages from no secure origin, `ahead` does nothing.
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
    verify: (message, signature) => valid.delete(nameOf(message, signature)) || verifier.verify(message, signature),
    async ahead(message, signature) {
      if (subtle === undefined || signature.length !== 64 || !hasReducedScalar(signature)) return;
      try {
        imported ??= importKey(subtle);
        const isValid = await subtle.verify(
          'Ed25519', await imported, Uint8Array.from(signature), Uint8Array.from(message));
        if (isValid && valid.size < rememberedMax) valid.add(nameOf(message, signature));
      } catch {
        // The platform does not know the algorithm, or does not like the key: the other verifier decides.
      }
    },
  };
}

/** The bytes themselves, as text: signatures have one length, so different pairs have different names. */
function nameOf(message: Uint8Array, signature: Uint8Array): string {
  return String.fromCharCode(...concatBytes(signature, message));
}
