import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bits } from '../../src/sealed/steps/adder.js';
import { from0, number } from '../../src/sealed/steps/convert.js';
import { and, dot, product } from '../../src/sealed/steps/multiply.js';
import { onesPlane, planesOfNumbers } from '../../src/sealed/steps/planes.js';
import { joined, parts, publicBits } from '../../src/sealed/steps/shares.js';
import { oneHot, tally } from '../../src/sealed/steps/tally.js';
import { constantNumbers, scaled, signedAt } from '../../src/sealed/steps/words.js';
import { Sealed } from '../../src/base/brands.js';
import {
  bitsAt, bitsBehind, numbersAt, numbersBehind, runThree, splitBits, splitNumbers,
} from '../support/sealed-run.js';

const ring = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const wrapped = (value: bigint): bigint => BigInt.asIntN(64, value);
const runs = { numRuns: 10, seed: 22 };

describe('numbers modulo 2^64', () => {
  it('are pairs of words', () => {
    fc.assert(fc.property(ring, fc.maxSafeInteger(), (value, factor) => {
      const words = constantNumbers(1, value);
      expect(signedAt(words, 0)).toBe(value);
      expect(signedAt(scaled(words, factor), 0)).toBe(wrapped(value * BigInt(factor)));
      expect(signedAt(constantNumbers(1, factor), 0)).toBe(BigInt(factor));
    }), runs);
  });
});

describe('steps of three servers', () => {
  it('multiply', async () => {
    await fc.assert(fc.asyncProperty(
      fc.array(fc.tuple(ring, ring), { minLength: 1, maxLength: 9 }), async (pairs) => {
        const x = splitNumbers(pairs.map(([left]) => left), 'x');
        const y = splitNumbers(pairs.map(([, right]) => right), 'y');
        const results = await runThree(async (party) => {
          const [left, right] = [numbersAt(party.server, x), numbersAt(party.server, y)];
          return [
            await product(party, left, right),
            await dot(party, left, right, {
              count: 1, terms: pairs.length, left: (_, term) => term, right: (_, term) => term,
            }),
          ] as const;
        });
        expect(numbersBehind(results.map(([each]) => each)))
          .toEqual(pairs.map(([left, right]) => wrapped(left * right)));
        expect(numbersBehind(results.map(([, sum]) => sum)))
          .toEqual([wrapped(pairs.reduce((sum, [left, right]) => sum + left * right, 0n))]);
      },
    ), runs);
  });

  it('combine bits, and turn them into numbers', async () => {
    const word = fc.integer({ min: 0, max: 2 ** 32 - 1 });
    await fc.assert(fc.asyncProperty(word, word, async (left, right) => {
      const x = splitBits(Uint32Array.of(left), 'x');
      const y = splitBits(Uint32Array.of(right), 'y');
      const results = await runThree(async (party) => {
        const both = await and(party, bitsAt(party.server, x), bitsAt(party.server, y));
        return [both, await number(party, both)] as const;
      });
      const expected = (left & right) >>> 0;
      expect(bitsBehind(results.map(([both]) => both))).toEqual(Uint32Array.of(expected));
      expect(numbersBehind(results.map(([, numbers]) => numbers)))
        .toEqual(Array.from({ length: 32 }, (_, i) => BigInt((expected >>> i) & 1)));
    }), runs);
  });

  it('share what server 0 knows', async () => {
    const value = constantNumbers(1, 77);
    const results = await runThree((party) => from0(
      party, 'numbers', 2, party.server === 0 ? Sealed.of(value) : null,
    ));
    expect(numbersBehind(results)).toEqual([77n]);
  });

  it('find the bits of numbers', { tags: ['long'] }, async () => {
    await fc.assert(fc.asyncProperty(
      fc.array(ring, { minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 64 }),
      fc.integer({ min: 0, max: 63 }), async (values, end, low) => {
        const from = Math.min(low, end - 1);
        const components = splitNumbers(values, 'bits');
        const results = await runThree(async (party) =>
          joined(await bits(party, numbersAt(party.server, components), { from, end })));
        const numbers = new Uint32Array(2 * values.length);
        values.forEach((value, i) => numbers.set(constantNumbers(1, value), 2 * i));
        const words = Math.ceil(values.length / 32);
        const got = bitsBehind(results);
        const wanted = planesOfNumbers(numbers, end).subarray(from * words);
        // Lanes past the last number hold whatever shares of zeros add up to: zeros.
        expect(got).toEqual(wanted);
      },
    ), runs);
  });

  it('count the bins that contributors are in', { tags: ['long'] }, async () => {
    await fc.assert(fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 300 }), async (width, people) => {
        const bins = Array.from({ length: people }, (_, i) => (i * i + 3) % 2 ** width);
        const numbers = new Uint32Array(2 * people);
        bins.forEach((bin, i) => (numbers[2 * i] = bin));
        const words = Math.ceil(people / 32);
        const components = splitBits(planesOfNumbers(numbers, width), 'bins');
        const results = await runThree(async (party) => {
          const planes = parts(bitsAt(party.server, components), words, width);
          const mask = publicBits(party.server, onesPlane(people));
          return tally(party, await oneHot(party, planes, mask, words), words);
        });
        expect(numbersBehind(results).map(Number)).toEqual(
          Array.from({ length: 2 ** width }, (_, bin) => bins.filter((one) => one === bin).length),
        );
      },
    ), runs);
  });
});
