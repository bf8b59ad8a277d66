import nacl from 'tweetnacl';
import { describe, expect, it } from 'vitest';
import { concatBytes, fromHex, toHex, utf8 } from '../../src/base/bytes.js';
import { InvalidParameterError } from '../../src/base/errors.js';
import { signing as browser } from '../../src/signing/browser.js';
import { boxKeysOf, openBox, sealBox } from '../../src/signing/boxes.js';
import { signing as node } from '../../src/signing/node.js';
import {
  add, decodeNumber, encodeNumber, encodePoint, fieldPrime, groupOrder, inverse, multiply, pointAt,
  smallOrderPoints,
} from '../support/edwards.js';

const nonceAt1 = Uint8Array.from({ length: 24 }, (_, i) => (i === 0 ? 1 : 0));
/** Keys that look random, the same in each run. */
function keyed(name: string): () => Uint8Array {
  let count = 0;
  return () => node.sha512(utf8(`${name} ${count++}`)).subarray(0, 32);
}

const implementations = [['node', node], ['browser', browser]] as const;

/** RFC 8032, section 7.1, tests 1 to 3. */
const standard = [
  ['9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', '',
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155'
      + '5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b'],
  ['4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c', '72',
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da'
      + '085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00'],
  ['c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
    'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025', 'af82',
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac'
      + '18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a'],
] as const;

const seed = Uint8Array.from({ length: 32 }, (_, i) => 3 * i + 1);
const message = utf8('a batch');
const publicKey = node.createSigner(seed).publicKey;
const good = node.createSigner(seed).sign(message);

function withScalar(signature: Uint8Array, scalar: bigint): Uint8Array {
  return concatBytes(signature.subarray(0, 32), encodeNumber(scalar));
}
const scalar = decodeNumber(good.subarray(32));
const flipped = (bytes: Uint8Array, bit: number): Uint8Array =>
  bytes.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));

/** Signatures that some verifier somewhere takes, or that used to crash one. */
const hostile: readonly (readonly [string, Uint8Array])[] = [
  ['the order added to the scalar', withScalar(good, scalar + groupOrder)],
  ['twice the order added', withScalar(good, scalar + 2n * groupOrder)],
  ['a scalar of exactly the order', withScalar(good, groupOrder)],
  ['a zero scalar', withScalar(good, 0n)],
  ['a scalar of all ones', withScalar(good, 2n ** 256n - 1n)],
  ['an unreduced R', concatBytes(encodePoint(fieldPrime + 1n, 0n), good.subarray(32))],
  ['R of small order and no scalar', withScalar(encodePoint(1n, 0n), 0n)],
  ['R with the other sign', flipped(good, 255)],
  ['nothing', new Uint8Array(0)],
  ['a byte too few', good.subarray(0, 63)],
  ['a byte too many', concatBytes(good, Uint8Array.of(0))],
  ['all zeros', new Uint8Array(64)],
  ['all ones', new Uint8Array(64).fill(255)],
];

/** Points of small order on Curve25519 and its twist, also in forms that are not reduced. */
const smallOrderPoints25519 = [0n, 1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
  fieldPrime - 1n, fieldPrime, fieldPrime + 1n];

describe('X25519 of node:crypto', () => {
  const draw = keyed('x25519');

  it('has the bits of tweetnacl for random keys, also with the top bit and not reduced', () => {
    for (let i = 0; i < 300; i++) {
      const [secret, other] = [draw(), draw()];
      expect(node.x25519(secret, other)).toEqual(browser.x25519(secret, other));
    }
    for (let i = 0n; i < 19n; i++) {
      const other = encodeNumber(fieldPrime + i);
      const secret = draw();
      for (const each of [other, flipped(other, 255)]) {
        expect(node.x25519(secret, each)).toEqual(browser.x25519(secret, each));
      }
    }
  });

  it('gives zeros for each point of small order, as tweetnacl', () => {
    for (const point of smallOrderPoints25519) {
      for (const each of [encodeNumber(point), flipped(encodeNumber(point), 255)]) {
        expect(browser.x25519(draw(), each)).toEqual(new Uint8Array(32));
        expect(node.x25519(draw(), each)).toEqual(new Uint8Array(32));
      }
    }
  });

  it('opens the same boxes as tweetnacl, also those of keys of small order', () => {
    const [recipient, sender, plain] = [draw(), draw(), draw()];
    const zeros = nacl.box.before(new Uint8Array(32), recipient);
    const cases: readonly (readonly [Uint8Array, Uint8Array])[] = [
      [sealBox(plain, 1, boxKeysOf(recipient).publicKey, sender), boxKeysOf(sender).publicKey],
      [nacl.box.after(plain, nonceAt1, zeros), new Uint8Array(32)],
    ];
    for (const [box, key] of cases) {
      for (const bytes of [box, flipped(box, 7), box.subarray(1), new Uint8Array(0)]) {
        const expected = nacl.box.open(bytes, nonceAt1, key, recipient);
        expect(expected === null).toBe(bytes !== box);
        for (const [, signing] of implementations) {
          expect(openBox(signing, bytes, 1, key, recipient)).toEqual(expected);
        }
      }
    }
  });
});

describe.each(implementations)('signing with %s', (_, signing) => {
  it('signs as RFC 8032 does', () => {
    for (const [secret, key, text, signature] of standard) {
      const signer = signing.createSigner(fromHex(secret));
      expect(toHex(signer.publicKey)).toBe(key);
      expect(toHex(signer.sign(fromHex(text)))).toBe(signature);
      expect(signing.createVerifier(fromHex(key)).verify(fromHex(text), fromHex(signature)))
        .toBe(true);
    }
  });

  it('hashes as the standards do', async () => {
    expect(toHex(await signing.sha256(utf8('abc')))).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    expect(toHex(signing.sha512(utf8('abc')))).toBe(
      'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a'
      + '2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
    );
  });

  it('takes the honest signature and refuses every hostile one', () => {
    const verifier = signing.createVerifier(publicKey);
    expect(verifier.verify(message, good)).toBe(true);
    for (const [name, signature] of hostile) {
      expect(verifier.verify(message, signature), name).toBe(false);
    }
  });

  it('refuses every flipped bit of signature and message', () => {
    const verifier = signing.createVerifier(publicKey);
    // tweetnacl takes some 5 ms for each: a spread of bits, the ends and the halves' borders among
    // them.
    for (const bit of [0, 7, 100, 252, 254, 255, 256, 257, 400, 507, 508, 511]) {
      expect(verifier.verify(message, flipped(good, bit)), `bit ${bit}`).toBe(false);
    }
    for (let bit = 0; bit < 8 * message.length; bit += 5) {
      expect(verifier.verify(flipped(message, bit), good)).toBe(false);
    }
    expect(verifier.verify(concatBytes(message, message), good)).toBe(false);
  });

  it('refuses everything under a key that is not a point of the curve', () => {
    let y = 2n;
    while (pointAt(y) !== null) y++;
    const verifier = signing.createVerifier(encodePoint(y, 0n));
    for (const [name, signature] of [...hostile, ['good', good] as const]) {
      expect(verifier.verify(message, signature), name).toBe(false);
    }
  });

  it('reads messages, keys and signatures that are windows into larger buffers', () => {
    const slab = Buffer.concat([Buffer.from([9]), publicKey, good, message]);
    const verifier = signing.createVerifier(slab.subarray(1, 33));
    expect(verifier.verify(slab.subarray(97), slab.subarray(33, 97))).toBe(true);
    slab.fill(0);
    expect(verifier.verify(message, good)).toBe(true);
    expect(verifier.publicKey).toEqual(publicKey);
  });

  it('makes fresh seeds and random bytes of any length', () => {
    expect(signing.generateSeed()).not.toEqual(signing.generateSeed());
    expect(signing.generateSeed().length).toBe(32);
    const many = signing.randomBytes(200_000);
    expect(many.length).toBe(200_000);
    // Every quarter is filled: all zeros has chance 2^-400000.
    for (let i = 0; i < 4; i++) {
      expect(many.subarray(50_000 * i, 50_000 * (i + 1)).some((byte) => byte !== 0)).toBe(true);
    }
    expect(signing.randomBytes(0).length).toBe(0);
  });

  it('refuses a seed of another length', () => {
    for (const length of [0, 31, 33, 64]) {
      expect(() => signing.createSigner(new Uint8Array(length))).toThrow(InvalidParameterError);
    }
  });

  it('gives plain arrays with memory of their own', () => {
    const signer = signing.createSigner(seed);
    for (const bytes of [
      signer.publicKey, signer.sign(message), signing.sha512(message), signing.randomBytes(5),
    ]) {
      expect(bytes.constructor).toBe(Uint8Array);
      expect(bytes.buffer.byteLength).toBe(bytes.length);
    }
  });
});

describe('both implementations', () => {
  it('agree on keys, signatures and verdicts', () => {
    for (let i = 0; i < 12; i++) {
      const own = node.generateSeed();
      const text = node.randomBytes(17 * i);
      const signature = node.createSigner(own).sign(text);
      expect(browser.createSigner(own).publicKey).toEqual(node.createSigner(own).publicKey);
      expect(browser.createSigner(own).sign(text)).toEqual(signature);
      expect(browser.createVerifier(node.createSigner(own).publicKey).verify(text, signature))
        .toBe(true);
    }
  });

  it('agree on R of small order', () => {
    for (const { x, y } of smallOrderPoints()) {
      const signature = withScalar(encodePoint(y, x & 1n), scalar);
      for (const [, signing] of implementations) {
        expect(signing.createVerifier(publicKey).verify(message, signature)).toBe(false);
      }
    }
  });

  it('agree on keys that carry a part of small order, where rules for verifying '
    + 'differ', { tags: ['slow'] }, () => {
    // A = aB + T. A verifier that multiplies by the cofactor takes every signature below; one that
    // does not takes those whose hash is a multiple of T's order.
    const hashed = node.sha512(seed).slice(0, 32);
    hashed[0]! &= 248;
    hashed[31] = (hashed[31]! & 63) | 64;
    const secret = decodeNumber(hashed) % groupOrder;
    const base = pointAt((4n * inverse(5n)) % fieldPrime)!;
    const verdicts: boolean[] = [];
    for (const torsion of smallOrderPoints().slice(0, 4)) {
      const point = add(multiply(base, secret), torsion);
      const key = encodePoint(point.y, point.x & 1n);
      for (let nonce = 1n; nonce <= 5n; nonce++) {
        const commitment = multiply(base, nonce);
        const r = encodePoint(commitment.y, commitment.x & 1n);
        const challenge = decodeNumber(node.sha512(concatBytes(r, key, message))) % groupOrder;
        const signature = concatBytes(r, encodeNumber((nonce + challenge * secret) % groupOrder));
        const [left, right] = implementations.map(([, signing]) =>
          signing.createVerifier(key).verify(message, signature));
        expect(left).toBe(right);
        verdicts.push(left!);
      }
    }
    expect(new Set(verdicts)).toEqual(new Set([true, false]));
  });
});
