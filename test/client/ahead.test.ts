import nacl from 'tweetnacl';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { withAhead, type AheadVerifier } from '../../src/signing/index.js';
import { signing } from '../../src/signing/browser.js';
import { signing as web } from '../../src/signing/web.js';

afterEach(() => void vi.restoreAllMocks());

const signer = signing.createSigner(new Uint8Array(32).fill(5));
const message = new Uint8Array(180).fill(7);
const signature = signer.sign(message);
const aheadFor = (publicKey: Uint8Array): AheadVerifier =>
  withAhead(signing.createVerifier(publicKey), web.createVerifier(publicKey));
const changed = (bytes: Uint8Array): Uint8Array =>
  Uint8Array.from(bytes, (byte, i) => (i === 3 ? byte ^ 1 : byte));

describe('signatures that the platform checks ahead', () => {
  it('are valid for exactly these bytes, once, without a second check', async () => {
    const slow = vi.spyOn(nacl.sign.detached, 'verify');
    const verifier = aheadFor(signer.publicKey);
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
    const verifier = aheadFor(signer.publicKey);
    await verifier.ahead(changed(message), signature);
    await verifier.ahead(message, changed(signature));
    await verifier.ahead(message, new Uint8Array(3));
    expect(verifier.verify(changed(message), signature)).toBe(false);
    expect(verifier.verify(message, changed(signature))).toBe(false);
    const other = aheadFor(signing.createSigner(new Uint8Array(32).fill(6)).publicKey);
    await verifier.ahead(message, signature);
    await other.ahead(message, signature);
    expect(other.verify(message, signature)).toBe(false);
  });

  it('are checked here where the platform fails', async () => {
    const failing = { publicKey: signer.publicKey, verify: () => Promise.reject(new Error('no')) };
    const verifier = withAhead(signing.createVerifier(signer.publicKey), failing);
    await verifier.ahead(message, signature);
    expect(verifier.verify(message, signature)).toBe(true);
    expect(verifier.verify(changed(message), signature)).toBe(false);
  });
});
