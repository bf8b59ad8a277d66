import { describe, expect, it } from 'vitest';
import {
  expOf, fraction, overlap, subtract, toNumber, unit, widthOf, zero, type Interval,
} from '../../../src/audit/exact/interval.js';
import type { Law } from '../../../src/audit/exact/law.js';
import { gaussianNoise, laplaceNoise } from '../../../src/audit/exact/noise.js';
import { missingMass, walk } from '../../../src/audit/exact/walk.js';
import { RandomBits } from '../../../src/random/bits.js';
import { Coins } from '../../../src/random/samplers/coins.js';
import { gaussianSampler } from '../../../src/random/samplers/discrete-gaussian.js';
import {
  discreteLaplace, laplaceMagnitude,
} from '../../../src/random/samplers/discrete-laplace.js';
import { chooseByRejection } from '../../support/choice-by-rejection.js';

/** The largest mass that a walk may leave. */
const left = 2 ** -60;

/** That the walked law is the expected one: its intervals meet, and they are narrow. */
function expectSame(found: Law, expected: Law): void {
  expect(toNumber(found.cut)).toBeLessThan(left);
  expect(toNumber(missingMass(found))).toBeLessThan(left);
  for (const [key, { probability }] of found.outcomes) {
    const wide = { low: probability.low, high: probability.high + found.cut.high };
    const other = expected.outcomes.get(key)?.probability ?? zero;
    expect([key, overlap(wide, other)]).toEqual([key, true]);
    expect(widthOf(wide)).toBeLessThan(left);
  }
}

const coinOf = (yes: Interval): Law => ({
  outcomes: new Map([
    ['true', { value: true, probability: yes }],
    ['false', { value: false, probability: subtract(unit, yes) }],
  ]),
  cut: zero,
});

describe('coins', () => {
  it.each([[1, 3], [2, 5], [7, 7], [0, 3], [255, 256]])('of %d / %d', (top, bottom) => {
    const whole = walk((coins) => Coins.prototype.bernoulli.call(coins, top, bottom));
    expectSame(whole, coinOf(fraction(BigInt(top), BigInt(bottom))));
    const big = walk((coins) =>
      Coins.prototype.bernoulliBig.call(coins, BigInt(top), BigInt(bottom)));
    expectSame(big, coinOf(fraction(BigInt(top), BigInt(bottom))));
  });

  it.each([[0n, 1n], [1n, 1n], [1n, 3n], [7n, 2n], [40n, 3n], [3n << 60n, 1n << 61n]])(
    'of exp(-%d / %d)', (top, bottom) => {
      expectSame(
        walk((coins) => coins.bernoulliExpBig(top, bottom)), coinOf(expOf(fraction(-top, bottom))),
      );
    },
  );

  it('of exp(-1)', () => {
    expectSame(walk((coins) => coins.bernoulliInverseE()), coinOf(expOf(fraction(-1n))));
  });
});

describe('samplers', () => {
  it.each([[1n, 1n], [3n, 2n], [5n, 7n]])(
    'of discrete Laplace noise of scale %d / %d', (numerator, denominator) => {
      const scale = { numerator, denominator };
      expectSame(walk((coins) => discreteLaplace(coins, scale)), laplaceNoise(scale));
    },
  );

  // Whole standard deviations take a way of their own.
  it.each([[1n, 1n], [4n, 1n], [1n, 2n], [9n, 4n], [1n, 9n]])(
    'of discrete Gaussian noise of variance %d / %d', (numerator, denominator) => {
      const variance = { numerator, denominator };
      const sample = gaussianSampler(variance);
      expectSame(walk((coins) => sample(coins)), gaussianNoise(variance));
    },
  );

  it('of a choice by rejection, with which the shipped choice is compared', () => {
    const losses = [0n, 1n, 2n, 7n];
    const found = walk((coins) =>
      chooseByRejection(coins, 4, (i) => ({ numerator: losses[i]!, denominator: 3n })));
    const weights = losses.map((loss) => expOf(fraction(-loss, 3n)));
    const whole = weights.reduce((sum, { low }) => sum + low, 0n);
    losses.forEach((_, i) => {
      const { probability } = found.outcomes.get(String(i))!;
      expect(toNumber(probability)).toBeCloseTo(Number(weights[i]!.low) / Number(whole), 14);
    });
    expect(toNumber(found.cut)).toBeLessThan(left);
  });

  it('would show a sampler that keeps both zeros', () => {
    const wrong = walk((coins) => {
      const size = laplaceMagnitude(coins, 2);
      return coins.bit() ? -size : size;
    });
    expect(() => expectSame(wrong, laplaceNoise({ numerator: 2n, denominator: 1n }))).toThrow();
  });
});

describe('uniform draws', () => {
  /** Bits that read the given words; other words than those are an error. */
  const reading = (words: readonly number[]): RandomBits => {
    let used = 0;
    return new (class extends RandomBits {
      override word(): number {
        if (used === words.length) throw new RangeError('no more words');
        return words[used++]!;
      }
    })({ kind: 'noise', secure: false, fill: () => { throw new RangeError('no more words'); } });
  };

  // The draw uses the highest bits of a word. All patterns of these are listed, each with low bits
  // that are all 0 and all 1.
  it.each([1, 2, 3, 5, 8, 100, 256])('below %d are equally likely over all words', (bound) => {
    for (const low of [0, 0xff_ffff]) {
      const hits = new Map<number, number>();
      for (let high = 0; high < 256; high++) {
        try {
          const value = reading([((high << 24) | low) >>> 0]).below(bound);
          hits.set(value, (hits.get(value) ?? 0) + 1);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }
      expect([...hits.keys()].sort((one, other) => one - other))
        .toEqual(Array.from({ length: bound }, (_, i) => i));
      expect(new Set(hits.values()).size).toBe(1);
    }
  });

  it('of two words, and of many, are equally likely at the top of their range', () => {
    const bound = 3n << 62n;
    const tops = new Map<string, number>();
    for (let high = 0; high < 4; high++) {
      for (const [middle, low] of [[0, 0], [5, 9], [2 ** 32 - 1, 2 ** 32 - 1]] as const) {
        try {
          const value = reading([(high << 30) >>> 0, middle, low].slice(0, 3)).belowBig(bound);
          tops.set(String(value >> 62n), (tops.get(String(value >> 62n)) ?? 0) + 1);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }
    }
    expect([...tops.keys()].sort()).toEqual(['0', '1', '2']);
  });
});
