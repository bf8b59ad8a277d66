import { describe, expect, it } from 'vitest';
import { concatBytes } from '../../src/base/bytes.js';
import {
  enrolmentBytesMax, issueEnrolment, readEnrolment, signedMessage, verifyEnrolment,
} from '../../src/signing/index.js';
import { signing as browser } from '../../src/signing/browser.js';
import { signing } from '../../src/signing/node.js';

const signerOf = (byte: number) => signing.createSigner(new Uint8Array(32).fill(byte));
const issuer = signerOf(1);
const contributor = signerOf(2);
const expiresAtMs = Date.UTC(2030, 0, 1);
const token =
  issueEnrolment(issuer, contributor.publicKey, { study: 'flights', expiresAtMs }, signing);

const holds = (
  bytes: Uint8Array, key = contributor.publicKey, from = issuer.publicKey,
): boolean => {
  const claim = readEnrolment(bytes);
  return claim !== undefined && verifyEnrolment(signing.createVerifier(from), key, claim, signing);
};

describe('an enrolment token', () => {
  it('says what it was issued for, and holds with both implementations', () => {
    const claim = readEnrolment(token)!;
    expect(claim).toMatchObject({ study: 'flights', expiresAtMs });
    expect(holds(token)).toBe(true);
    expect(verifyEnrolment(
      browser.createVerifier(issuer.publicKey), contributor.publicKey, claim, browser,
    ))
      .toBe(true);
    const all =
      issueEnrolment(issuer, contributor.publicKey, { study: null, expiresAtMs }, signing);
    expect(all.length).toBe(72);
    expect(readEnrolment(all)).toMatchObject({ study: null, expiresAtMs });
  });

  it('is invalid for another key, or from another issuer', () => {
    expect(holds(token, signerOf(3).publicKey)).toBe(false);
    expect(holds(token, contributor.publicKey, signerOf(3).publicKey)).toBe(false);
    // The holder of a token cannot issue the next one with its own key.
    expect(holds(issueEnrolment(
      contributor, contributor.publicKey, { study: 'flights', expiresAtMs }, signing,
    )))
      .toBe(false);
  });

  it('cannot be changed in any bit: expiry, study, signature', () => {
    for (let i = 0; i < token.length; i++) {
      const changed = token.slice();
      changed[i]! ^= 1;
      expect(holds(changed), `byte ${i}`).toBe(false);
    }
    // Cut at the name, it would be good for all studies.
    expect(holds(token.slice(0, 72))).toBe(false);
    expect(holds(concatBytes(token, new TextEncoder().encode('s')))).toBe(false);
  });

  it('is not what the issuer signs under another label', () => {
    const body = token.slice(64);
    for (const label of ['hello', 'batch', 'release'] as const) {
      const context = { serverKey: issuer.publicKey, studyId: new Uint8Array(32) };
      const signature =
        issuer.sign(signedMessage(label, context, contributor.publicKey, signing.sha512(body)));
      expect(holds(concatBytes(signature, body)), label).toBe(false);
    }
  });

  it.each([
    ['nothing', new Uint8Array(0)],
    ['too little', token.slice(0, 71)],
    ['too much', new Uint8Array(enrolmentBytesMax + 1).fill(97)],
    ['a name that is not UTF-8', concatBytes(token.slice(0, 72), Uint8Array.of(0xff))],
    ['a name that cannot be printed', concatBytes(token.slice(0, 72), Uint8Array.of(10))],
    [
      'a time past what doubles count',
      concatBytes(token.slice(0, 64), new Uint8Array(8).fill(255)),
    ],
  ])('is not read from %s', (_name, bytes) => {
    expect(readEnrolment(bytes)).toBeUndefined();
  });

  it('is not issued for values that do not fit, or for a key that identifies nobody', () => {
    const issue = (study: string | null, atMs: number, key = contributor.publicKey) => () =>
      issueEnrolment(issuer, key, { study, expiresAtMs: atMs }, signing);
    expect(issue('', expiresAtMs)).toThrow('a name of 1 to 64');
    expect(issue('x'.repeat(65), expiresAtMs)).toThrow('a name of 1 to 64');
    expect(issue('a\nb', expiresAtMs)).toThrow('a name of 1 to 64');
    expect(issue(null, 0.5)).toThrow('whole milliseconds');
    expect(issue(null, -1)).toThrow('whole milliseconds');
    expect(issue(null, expiresAtMs, new Uint8Array(32))).toThrow('small order');
    const longest = issueEnrolment(
      issuer, contributor.publicKey, { study: '界'.repeat(64), expiresAtMs }, signing,
    );
    expect(longest.length).toBeLessThanOrEqual(enrolmentBytesMax);
    expect(holds(longest)).toBe(true);
  });
});
