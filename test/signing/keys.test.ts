import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { concatBytes, fromHex, toHex } from '../../src/base/bytes.js';
import { WireError } from '../../src/base/errors.js';
import { signing as browser } from '../../src/signing/browser.js';
import { checkPublicKey } from '../../src/signing/index.js';
import { hasReducedScalar } from '../../src/signing/keys.js';
import { signing as node } from '../../src/signing/node.js';
import {
  encodeNumber, encodePoint, fieldPrime, groupOrder, identity, multiply, smallOrderPoints,
} from '../support/edwards.js';

/**
 * Every 32 bytes that some decoder reads as a point of small order: y may be unreduced, and x = 0
 * may have a sign.
 */
function smallOrderEncodings(): readonly string[] {
  const encodings = new Set<string>();
  for (const { x, y } of smallOrderPoints()) {
    for (const form of [y, y + fieldPrime].filter((value) => value < 2n ** 255n)) {
      for (const sign of x === 0n
        ? [0n, 1n] : [x & 1n]) encodings.add(toHex(encodePoint(form, sign)));
    }
  }
  return [...encodings].sort();
}

const vectors = JSON.parse(
  readFileSync(fileURLToPath(new URL('../vectors/refused-keys.json', import.meta.url)), 'utf8'),
) as { smallOrder: string[]; notReduced: string[] };

function refusal(action: () => unknown): WireError {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(WireError);
    expect((error as WireError).code).toBe('invalid-key');
    return error as WireError;
  }
  throw new Error('the key was accepted');
}

describe('public keys', () => {
  it('knows all 14 encodings of small order, derived from the curve', { tags: ['long'] }, () => {
    for (const point of smallOrderPoints()) expect(multiply(point, 8n)).toEqual(identity);
    expect(smallOrderEncodings().length).toBe(14);
    expect(smallOrderEncodings()).toEqual([...vectors.smallOrder].sort());
  });

  it.each([
    ['node', node],
    ['browser', browser],
  ])('refuses small order and unreduced keys with %s', (_, signing) => {
    for (const key of [...vectors.smallOrder, ...vectors.notReduced]) {
      refusal(() => checkPublicKey(fromHex(key)));
      refusal(() => signing.createVerifier(fromHex(key)));
    }
  });

  it('refuses each y from p to 2^255 - 1, and takes p - 2', () => {
    for (let y = fieldPrime; y < 2n ** 255n; y++) {
      for (const sign of [0n, 1n]) refusal(() => checkPublicKey(encodePoint(y, sign)));
    }
    checkPublicKey(encodePoint(fieldPrime - 2n, 0n));
    checkPublicKey(encodePoint(2n, 1n));
  });

  it('takes the scalars of signatures below the group order only', () => {
    const signature = (scalar: bigint): Uint8Array =>
      concatBytes(new Uint8Array(32), encodeNumber(scalar));
    for (const scalar of [0n, 1n, 2n ** 252n, groupOrder - 1n]) {
      expect(hasReducedScalar(signature(scalar))).toBe(true);
    }
    for (const scalar of [groupOrder, groupOrder + 1n, 2n ** 253n, 2n ** 256n - 1n]) {
      expect(hasReducedScalar(signature(scalar))).toBe(false);
    }
  });

  it('refuses another length and names it', () => {
    for (const length of [0, 31, 33, 64]) {
      expect(refusal(() => checkPublicKey(new Uint8Array(length).fill(5))).message)
        .toContain(`not ${length}`);
    }
  });

  it('takes a thousand honest keys', () => {
    for (let i = 0; i < 1000; i++) checkPublicKey(node.createSigner(node.generateSeed()).publicKey);
  });
});
