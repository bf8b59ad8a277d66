import { describe, expect, it } from 'vitest';
import { concatBytes, toHex, utf8 } from '../../src/base/bytes.js';
import { InvalidParameterError } from '../../src/base/errors.js';
import {
  keyFingerprint, signBatch, signedMessage, signedMessageBytes, signHello, signReady, signStatement,
  verifyBatch, verifyHello, verifyReady, verifyStatement, type SignatureLabel,
} from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';

const filled = (byte: number, length = 32): Uint8Array => new Uint8Array(length).fill(byte);
const context = { serverKey: filled(1), studyId: filled(2) };
const labels: readonly SignatureLabel[] = [
  'hello', 'ready', 'batch', 'study', 'release', 'head', 'enrol', 'rotation', 'withdraw',
  'sealed',
];

const server = signing.createSigner(filled(11));
const contributor = signing.createSigner(filled(12));
const serverVerifier = signing.createVerifier(server.publicKey);
const contributorVerifier = signing.createVerifier(contributor.publicKey);
const own = { serverKey: server.publicKey, studyId: filled(3) };
const nonces = { serverNonce: filled(4), clientNonce: filled(5) };
const digest = filled(6, 64);

describe('signed message', () => {
  it('has the documented layout', () => {
    for (const label of labels) {
      const message = signedMessage(label, context, filled(7), filled(8, 64));
      const text = utf8(`keelson ${label}`);
      expect(toHex(message)).toBe(
        toHex(concatBytes(
          text, new Uint8Array(16 - text.length), Uint8Array.of(0, 0, 0, 1), filled(1), filled(2),
          filled(7), filled(8, 64),
        )),
      );
      expect(message.length).toBe(signedMessageBytes);
    }
  });

  it('puts zeros where there is no contributor', () => {
    expect(signedMessage('head', context, null, digest))
      .toEqual(signedMessage('head', context, filled(0), digest));
  });

  it('differs when any field differs', () => {
    const messages = [
      ...labels.map((label) => signedMessage(label, context, filled(7), digest)),
      signedMessage('batch', { ...context, serverKey: filled(9) }, filled(7), digest),
      signedMessage('batch', { ...context, studyId: filled(9) }, filled(7), digest),
      signedMessage('batch', context, filled(9), digest),
      signedMessage('batch', context, filled(7), filled(9, 64)),
    ].map(toHex);
    expect(new Set(messages).size).toBe(messages.length);
  });

  it('refuses fields of another length, so that none can move into the next', () => {
    for (const build of [
      () => signedMessage('batch', { ...context, serverKey: filled(1, 31) }, null, digest),
      () => signedMessage('batch', { ...context, studyId: filled(1, 33) }, null, digest),
      () => signedMessage('batch', context, filled(1, 0), digest),
      () => signedMessage('batch', context, null, filled(1, 63)),
      () =>
        signHello(contributor, context, { serverNonce: filled(1, 33), clientNonce: filled(1, 32) }),
    ]) {
      expect(build).toThrow(InvalidParameterError);
    }
  });
});

describe('signatures for one use', () => {
  const hello = signHello(contributor, own, nonces);
  const ready = signReady(server, own.studyId, contributor.publicKey, nonces);
  const batch = signBatch(contributor, own, digest);

  it('verify where they belong', () => {
    expect(verifyHello(contributorVerifier, own, nonces, hello)).toBe(true);
    expect(verifyReady(serverVerifier, own.studyId, contributor.publicKey, nonces, ready))
      .toBe(true);
    expect(verifyBatch(contributorVerifier, own, digest, batch)).toBe(true);
    for (const label of ['study', 'release', 'head'] as const) {
      expect(verifyStatement(label, serverVerifier, own.studyId, digest, signStatement(
        label, server, own.studyId, digest,
      )))
        .toBe(true);
    }
  });

  it('do not replay at another server, study, key, nonce or body', () => {
    const elsewhere = { ...own, serverKey: filled(9) };
    const otherStudy = { ...own, studyId: filled(9) };
    const stale = { ...nonces, serverNonce: filled(9) };
    const swapped = { serverNonce: nonces.clientNonce, clientNonce: nonces.serverNonce };
    for (const wrong of [elsewhere, otherStudy]) {
      expect(verifyHello(contributorVerifier, wrong, nonces, hello)).toBe(false);
      expect(verifyBatch(contributorVerifier, wrong, digest, batch)).toBe(false);
    }
    for (const wrong of [stale, swapped]) {
      expect(verifyHello(contributorVerifier, own, wrong, hello)).toBe(false);
      expect(verifyReady(serverVerifier, own.studyId, contributor.publicKey, wrong, ready))
        .toBe(false);
    }
    expect(verifyHello(serverVerifier, own, nonces, hello)).toBe(false);
    expect(verifyReady(serverVerifier, own.studyId, server.publicKey, nonces, ready)).toBe(false);
    expect(verifyReady(serverVerifier, filled(9), contributor.publicKey, nonces, ready))
      .toBe(false);
    expect(verifyBatch(contributorVerifier, own, filled(7, 64), batch)).toBe(false);
  });

  it('do not pass for another label', () => {
    for (const signed of ['study', 'release', 'head'] as const) {
      for (const read of ['study', 'release', 'head'] as const) {
        const signature = signStatement(signed, server, own.studyId, digest);
        expect(verifyStatement(read, serverVerifier, own.studyId, digest, signature))
          .toBe(signed === read);
      }
    }
    // The payload of a batch could be chosen to look like nonces: the label keeps them apart.
    const asNonces = { serverNonce: digest.slice(0, 32), clientNonce: digest.slice(32) };
    expect(verifyHello(contributorVerifier, own, asNonces, batch)).toBe(false);
  });
});

describe('fingerprint', () => {
  it('is 32 digits in groups of four', () => {
    expect(keyFingerprint(server.publicKey, signing)).toMatch(/^([0-9a-f]{4} ){7}[0-9a-f]{4}$/);
    expect(keyFingerprint(contributor.publicKey, signing)).not
      .toBe(keyFingerprint(server.publicKey, signing));
  });
});
