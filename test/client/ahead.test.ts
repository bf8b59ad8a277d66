import nacl from 'tweetnacl';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { withAhead } from '../../src/signing/index.js';
import { signing } from '../../src/signing/browser.js';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const signer = signing.createSigner(new Uint8Array(32).fill(5));
const message = new Uint8Array(180).fill(7);
const signature = signer.sign(message);
const changed = (bytes: Uint8Array): Uint8Array =>
  Uint8Array.from(bytes, (byte, i) => (i === 3 ? byte ^ 1 : byte));

describe('signatures that the platform checks ahead', () => {
  it('are valid for exactly these bytes, once, without a second check', async () => {
    const slow = vi.spyOn(nacl.sign.detached, 'verify');
    const verifier = withAhead(signing.createVerifier(signer.publicKey));
    await verifier.ahead(message, signature);
    expect(verifier.verify(message, signature)).toBe(true);
    expect(slow).not.toHaveBeenCalled();
    expect(verifier.verify(message, signature)).toBe(true);
    expect(slow).toHaveBeenCalledTimes(1);
    await verifier.ahead(message, signature);
    expect(verifier.verify(changed(message), signature)).toBe(false);
    expect(verifier.verify(message, changed(signature))).toBe(false);
  });

  it('are not believed when they are forged, nor for another key', async () => {
    const verifier = withAhead(signing.createVerifier(signer.publicKey));
    await verifier.ahead(changed(message), signature);
    await verifier.ahead(message, changed(signature));
    await verifier.ahead(message, new Uint8Array(3));
    expect(verifier.verify(changed(message), signature)).toBe(false);
    expect(verifier.verify(message, changed(signature))).toBe(false);
    const other =
      withAhead(signing.createVerifier(signing.createSigner(new Uint8Array(32).fill(6)).publicKey));
    await verifier.ahead(message, signature);
    await other.ahead(message, signature);
    expect(other.verify(message, signature)).toBe(false);
  });

  it('are checked here where the platform has nothing, or not this algorithm', async () => {
    const subtle = { importKey: () => Promise.reject(new Error('Unrecognized name.')) };
    for (const platform of [{ subtle: undefined }, { subtle }]) {
      vi.stubGlobal('crypto', platform);
      const verifier = withAhead(signing.createVerifier(signer.publicKey));
      await verifier.ahead(message, signature);
      expect(verifier.verify(message, signature)).toBe(true);
      expect(verifier.verify(changed(message), signature)).toBe(false);
    }
  });
});
