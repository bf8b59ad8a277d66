import { concatBytes } from '../base/bytes.js';
import type { AsyncVerifier, Verifier } from './contract.js';

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
 * Adds a verifier of the same key that may work on another thread, as WebCrypto's does. It is many
 * times as fast as one in JavaScript, but asynchronous.
 */
export function withAhead(verifier: Verifier, platform: AsyncVerifier): AheadVerifier {
  const valid = new Set<string>();
  return {
    publicKey: verifier.publicKey,
    verify: (message, signature) =>
      valid.delete(nameOf(message, signature)) || verifier.verify(message, signature),
    async ahead(message, signature) {
      try {
        const isValid = await platform.verify(message, signature);
        if (isValid && valid.size < rememberedMax) valid.add(nameOf(message, signature));
      } catch {
        // The platform failed: the other verifier decides.
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
