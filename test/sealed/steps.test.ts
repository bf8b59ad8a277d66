import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvariantError } from '../../src/base/errors.js';
import { modPrime, prime, signedModPrime } from '../../src/base/prime.js';
import { bits, bitsMost, componentSum } from '../../src/sealed/steps/adder.js';
import { number } from '../../src/sealed/steps/convert.js';
import { KeyStream } from '../../src/sealed/steps/key-stream.js';
import { and, dot, product } from '../../src/sealed/steps/multiply.js';
import { onesPlane, planesOfNumbers } from '../../src/sealed/steps/planes.js';
import { joined, parts, publicBits } from '../../src/sealed/steps/shares.js';
import { oneHot, tally } from '../../src/sealed/steps/tally.js';
import {
  addInto, addScaledInto, constantNumbers, doubled, productsMost, ProductSum, signedAt,
  subtractFrom, wordsOf,
} from '../../src/sealed/steps/words.js';
import {
  bitsAt, bitsBehind, dotsOf, numbersAt, numbersBehind, runThree, splitBits, splitNumbers,
  type Components,
} from '../support/sealed-run.js';

const largest = prime >> 1n;
/** Any number, and often one at which words or limbs are carried. */
const ring = fc.oneof(
  fc.bigInt({ min: -largest, max: largest }),
  fc.tuple(fc.nat(60), fc.integer({ min: -2, max: 2 }), fc.boolean()).map(([bit, more, isMinus]) =>
    signedModPrime((2n ** BigInt(bit) + BigInt(more)) * (isMinus ? -1n : 1n))),
);
const runs = { numRuns: 10, seed: 22 };

describe('numbers modulo 2^61 - 1', () => {
  it('are pairs of words', () => {
    fc.assert(fc.property(ring, fc.maxSafeInteger(), (value, factor) => {
      const words = constantNumbers(1, value);
      expect(signedAt(words, 0)).toBe(value);
      const multiple = constantNumbers(1, 5);
      addScaledInto(multiple, words, factor);
      expect(signedAt(multiple, 0)).toBe(signedModPrime(5n + value * BigInt(factor)));
      const times = 1 + (factor & 0xff) % 28;
      expect(signedAt(doubled(words, times), 0))
        .toBe(signedModPrime(value * 2n ** BigInt(times)));
      expect(signedAt(constantNumbers(1, factor), 0)).toBe(signedModPrime(BigInt(factor)));
    }), { numRuns: 1_000, seed: 22 });
  });

  it('are below the prime after each sum, difference and product', () => {
    const valueAt = (words: Uint32Array): bigint =>
      BigInt(words[0]!) + (BigInt(words[1]!) << 32n);
    fc.assert(fc.property(ring, ring, ring, (left, right, more) => {
      const result = constantNumbers(1, left);
      addInto(result, constantNumbers(1, right));
      expect(valueAt(result)).toBe(modPrime(left + right));
      subtractFrom(result, constantNumbers(1, more));
      expect(valueAt(result)).toBe(modPrime(left + right - more));
      const sum = new ProductSum();
      sum.add(...wordsOf(left), ...wordsOf(right));
      sum.addInto(result, 0);
      expect(valueAt(result)).toBe(modPrime(left + right - more + left * right));
    }), { numRuns: 5_000, seed: 22 });
  });

  it('have sums of as many of the largest products as there may be', () => {
    const last = wordsOf(-1);
    const result = constantNumbers(1, -1);
    const sum = new ProductSum();
    for (let i = 0; i < productsMost; i++) sum.add(...last, ...last);
    sum.addInto(result, 0);
    expect(signedAt(result, 0)).toBe(BigInt(productsMost) - 1n);
  });

  it('come from a key stream without the prime itself', () => {
    // The first number and the first spare one are p, and each has higher bits that do not count.
    const bytes = new Uint8Array(8 * 4).fill(0xff).with(8, 7).with(24, 9);
    const taken = (all: Uint8Array): Uint32Array =>
      new KeyStream(() => Uint8Array.from(all)).takeNumbers(1, 2);
    const numbers = taken(bytes);
    expect([0, 1].map((i) => signedAt(numbers, i))).toEqual([-246n, -248n]);
    expect(() => taken(bytes.fill(0xff))).toThrow(InvariantError);
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
            await dot(party, left, right, dotsOf(1, pairs.length, (_, i) => i, (_, i) => i)),
          ] as const;
        });
        expect(numbersBehind(results.map(([each]) => each)))
          .toEqual(pairs.map(([left, right]) => signedModPrime(left * right)));
        expect(numbersBehind(results.map(([, sum]) => sum)))
          .toEqual([signedModPrime(
            pairs.reduce((sum, [left, right]) => sum + left * right, 0n))]);
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

  it('find the bits of numbers', { tags: ['long'] }, async () => {
    const most = 2n ** BigInt(bitsMost);
    const small = fc.oneof(
      fc.bigInt({ min: -most, max: most }), fc.constantFrom(most, -most, 0n, -1n, most - 1n),
    );
    await fc.assert(fc.asyncProperty(
      fc.array(small, { minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: bitsMost }),
      fc.integer({ min: 0, max: bitsMost - 1 }), fc.string(), async (values, end, low, seed) => {
        const from = Math.min(low, end - 1);
        const components = splitNumbers(values, seed);
        const results = await runThree(async (party) =>
          joined(await bits(party, numbersAt(party.server, components), { from, end })));
        const numbers = new Uint32Array(2 * values.length);
        values.forEach((value, i) => {
          const twos = BigInt.asUintN(64, value);
          numbers.set([Number(twos & 0xffff_ffffn), Number(twos >> 32n)], 2 * i);
        });
        const words = Math.ceil(values.length / 32);
        const got = bitsBehind(results);
        const wanted = planesOfNumbers(numbers, end).subarray(from * words);
        // Lanes past the last number hold whatever shares of zeros add up to: zeros.
        expect(got).toEqual(wanted);
      },
    ), runs);
  });

  it('find no bits that could be wrong', async () => {
    const components = splitNumbers([1], 'too high');
    for (const range of [{ from: 0, end: bitsMost + 1 }, { from: 3, end: 3 }]) {
      await expect(runThree((party) => bits(party, numbersAt(party.server, components), range)))
        .rejects.toThrow(InvariantError);
    }
  });

  it('add up components, and find both carries', async () => {
    for (let width = 2; width <= 6; width += 2) {
      const below = 2 ** width;
      const all = Array.from({ length: below ** 2 }, (_, i) =>
        [i % below, Math.floor(i / below), (7 * i + 3) % below]);
      const components = [0, 1, 2].map((component) => Uint32Array.from(
        all.flatMap((values) => [values[component]!, 0]))) as unknown as Components;
      const results = await runThree(async (party) => {
        const { planes, carries } =
          await componentSum(party, numbersAt(party.server, components), { from: 1, width });
        return joined([...planes, ...carries]);
      });
      const planes = bitsBehind(results);
      const words = Math.ceil(all.length / 32);
      const bitAt = (plane: number, i: number): number =>
        (planes[plane * words + (i >>> 5)]! >>> (i & 31)) & 1;
      all.forEach((values, i) => {
        const sum = values.reduce((total, value) => total + value, 0);
        const low = Array.from({ length: width - 1 }, (_, j) => bitAt(j, i) << (j + 1));
        const carried = below * (bitAt(width - 1, i) + bitAt(width, i));
        expect((sum & 1) + low.reduce((total, bit) => total + bit, 0) + carried).toBe(sum);
      });
    }
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
