import { readFileSync } from 'node:fs';
import { createHmac, createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { concatBytes, fromHex, toHex } from '../../src/base/bytes.js';
import { signing as asyncNode } from '../../src/signing/async-node.js';
import { signing as browser } from '../../src/signing/browser.js';
import { channelKeys, openFrame, sealFrame } from '../../src/signing/channel-keys-node.js';
import {
  frameKinds, openMessage, putNonce, signShare, verifyShare, type FrameKind,
} from '../../src/signing/index.js';
import { signing as node } from '../../src/signing/node.js';
import { signing as web } from '../../src/signing/web.js';
import { root } from '../support/sources.js';

interface Frame {
  readonly number: number;
  readonly kind: number;
  readonly plain: string;
  readonly sealed: string;
}

/** Made by test/vectors/channel-keys.py, which has nothing of this project. */
const vector = JSON.parse(
  readFileSync(`${root}test/vectors/channel-keys.json`, 'utf8'),
) as Readonly<Record<'serverKey' | 'contributorKey' | 'studyId' | 'serverNonce' | 'serverSecret'
  | 'share' | 'shareMessage' | 'shareSignature' | 'clientSecret' | 'clientShare' | 'message'
  | 'signature' | 'agreed' | 'prk' | 'up' | 'down', string>> & {
  readonly issuedMs: number; readonly untilMs: number;
  readonly fromContributor: readonly Frame[]; readonly fromServer: readonly Frame[];
  readonly farFrame: Frame;
};

const server = node.createSigner(fromHex(
  Array.from({ length: 32 }, (_, i) => i.toString(16).padStart(2, '0')).join('')));
const context = { serverKey: fromHex(vector.serverKey), studyId: fromHex(vector.studyId) };
const shares = {
  serverNonce: fromHex(vector.serverNonce), share: fromHex(vector.share),
  clientShare: fromHex(vector.clientShare),
};
const contributorKey = fromHex(vector.contributorKey);
const message = fromHex(vector.message);
const kindOf = (byte: number): FrameKind =>
  (Object.keys(frameKinds) as FrameKind[]).find((kind) => frameKinds[kind] === byte)!;
const keys = () => channelKeys(fromHex(vector.agreed), message);

const keyShare = {
  share: fromHex(vector.share), issuedMs: BigInt(vector.issuedMs), untilMs: BigInt(vector.untilMs),
};

describe('the keys of a channel', () => {
  it('are those of a second implementation', () => {
    const { up, down } = keys();
    expect(toHex(up.export())).toBe(vector.up);
    expect(toHex(down.export())).toBe(vector.down);
    expect(vector.up).not.toBe(vector.down);
    const salt = createHash('sha256').update(message).digest();
    expect(createHmac('sha256', salt).update(fromHex(vector.agreed)).digest('hex'))
      .toBe(vector.prk);
  });

  it('come from a message that names server, study, contributor, nonce and both shares', () => {
    expect(toHex(openMessage(contributorKey, context, shares, node))).toBe(vector.message);
    const other = new Uint8Array(32).fill(7);
    const others = [
      openMessage(contributorKey, { ...context, serverKey: other }, shares, node),
      openMessage(contributorKey, { ...context, studyId: other }, shares, node),
      openMessage(other, context, shares, node),
      ...(['serverNonce', 'share', 'clientShare'] as const).map((name) =>
        openMessage(contributorKey, context, { ...shares, [name]: other }, node)),
    ];
    const ups = others.map((one) =>
      toHex(channelKeys(fromHex(vector.agreed), one).up.export()));
    expect(new Set([vector.up, ...ups]).size).toBe(7);
  });

  it('overwrite what they are made from', async () => {
    const agreed = fromHex(vector.agreed);
    channelKeys(agreed, message);
    expect(agreed).toEqual(new Uint8Array(32));
    for (const signing of [asyncNode, web]) {
      const given = fromHex(vector.agreed);
      await signing.contributorCipher(given, message);
      expect(given).toEqual(new Uint8Array(32));
    }
  });

  it.each([['node', node], ['browser', browser]])('agree, in %s', (_, signing) => {
    const secret = fromHex(vector.clientSecret);
    const base = new Uint8Array(32);
    base[0] = 9;
    expect(toHex(signing.x25519(secret, base))).toBe(vector.clientShare);
    expect(toHex(signing.x25519(secret, shares.share))).toBe(vector.agreed);
    const verifier = signing.createVerifier(contributorKey);
    expect(verifier.verify(message, fromHex(vector.signature))).toBe(true);
  });
});

describe('frames of a channel', () => {
  it('are those of a second implementation, on the server', () => {
    const { up, down } = keys();
    for (const { number, kind, plain, sealed } of [...vector.fromContributor, vector.farFrame]) {
      expect(toHex(openFrame(up, number, kindOf(kind), fromHex(sealed))!)).toBe(plain);
    }
    for (const { number, kind, plain, sealed } of vector.fromServer) {
      expect(toHex(sealFrame(down, number, kindOf(kind), fromHex(plain)))).toBe(sealed);
    }
  });

  it.each([['node', asyncNode], ['web', web]])(
    'are those of a second implementation, of a contributor in %s', async (_, signing) => {
      const cipher = await signing.contributorCipher(fromHex(vector.agreed), message);
      for (const { number, plain, sealed } of [...vector.fromContributor, vector.farFrame]) {
        const bytes = fromHex(plain);
        expect(toHex(await cipher.seal(number, bytes.subarray(0, 64), bytes.subarray(64))))
          .toBe(sealed);
      }
      for (const { number, kind, plain, sealed } of vector.fromServer) {
        const opened = await cipher.open(number, kindOf(kind) as 'ack', fromHex(sealed));
        expect(toHex(opened!)).toBe(plain);
      }
    },
  );

  it('open under no other number, kind, direction or bytes', async () => {
    const { up, down } = keys();
    const { number, sealed } = vector.fromContributor[0]!;
    const bytes = fromHex(sealed);
    expect(openFrame(up, number, 'batch', bytes)).not.toBeNull();
    expect(openFrame(up, number + 1, 'batch', bytes)).toBeNull();
    expect(openFrame(up, number + 2 ** 32, 'batch', bytes)).toBeNull();
    expect(openFrame(up, number, 'ack', bytes)).toBeNull();
    expect(openFrame(down, number, 'batch', bytes)).toBeNull();
    for (const length of [0, 15, 16, bytes.length - 1]) {
      expect(openFrame(up, number, 'batch', bytes.subarray(0, length))).toBeNull();
    }
    for (let at = 0; at < bytes.length; at += 7) {
      expect(openFrame(up, number, 'batch', bytes.with(at, bytes[at]! ^ 1))).toBeNull();
    }
    const [opened, ack] = vector.fromServer.map((frame) => fromHex(frame.sealed));
    for (const signing of [asyncNode, web]) {
      const cipher = await signing.contributorCipher(fromHex(vector.agreed), message);
      expect(await cipher.open(0, 'opened', opened!)).not.toBeNull();
      expect(await cipher.open(0, 'ack', opened!)).toBeNull();
      expect(await cipher.open(1, 'opened', opened!)).toBeNull();
      expect(await cipher.open(2, 'ack', ack!)).toBeNull();
      expect(await cipher.open(1, 'ack', ack!.with(3, ack![3]! ^ 8))).toBeNull();
      expect(await cipher.open(1, 'ack', new Uint8Array(0))).toBeNull();
    }
  });

  it('have a nonce of their own number, to 2^53', () => {
    const nonce = new Uint8Array(12).fill(0);
    putNonce(nonce, 2 ** 53 - 1);
    expect(toHex(nonce)).toBe('00000000' + '001fffffffffffff');
  });
});

describe('a share', () => {
  it('is signed as a second implementation signs it', async () => {
    const signature = signShare(server, keyShare, node);
    expect(toHex(signature)).toBe(vector.shareSignature);
    const verifier = node.createVerifier(fromHex(vector.serverKey));
    expect(await verifyShare(verifier, { ...keyShare, signature }, node)).toBe(true);
    expect(verifier.verify(fromHex(vector.shareMessage), signature)).toBe(true);
  });

  it('is not valid with another time, share or key', async () => {
    const signature = fromHex(vector.shareSignature);
    const verifier = node.createVerifier(fromHex(vector.serverKey));
    for (const change of [
      { issuedMs: keyShare.issuedMs + 1n }, { untilMs: keyShare.untilMs + 1n },
      { issuedMs: keyShare.untilMs, untilMs: keyShare.issuedMs },
      { share: shares.clientShare },
    ]) expect(await verifyShare(verifier, { ...keyShare, ...change, signature }, node)).toBe(false);
    const stranger = node.createVerifier(contributorKey);
    expect(await verifyShare(stranger, { ...keyShare, signature }, node)).toBe(false);
  });
});

it('has labels that no signature of version 1 has', () => {
  expect(toHex(message.subarray(16, 20))).toBe('00000002');
  expect(toHex(concatBytes(message.subarray(0, 12))))
    .toBe(Buffer.from('keelson open').toString('hex'));
});
