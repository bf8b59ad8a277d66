import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { InvariantError } from '../../src/base/errors.js';
import { Coins } from '../../src/random/samplers/coins.js';
import { expOf, fraction } from '../../src/audit/exact/interval.js';
import { seededNoise } from '../../src/random/insecure.js';
import { discreteLaplace } from '../../src/random/samplers/discrete-laplace.js';
import { gaussianSampler, squareRoot } from '../../src/random/samplers/discrete-gaussian.js';
import {
  chooseByLoss, expOfMinus, type Losses, type ScoreRuns,
} from '../../src/random/samplers/choice.js';
import {
  referenceExp, referenceGaussian, referenceLaplace,
} from '../support/reference-samplers.js';

const bitsOf = (seed: string): Coins => new Coins(seededNoise(seed));
const times = <T>(count: number, draw: () => T): T[] => Array.from({ length: count }, draw);

describe('small-number paths', () => {
  it.each([1n, 2n, 3n, 1000n, 1n << 20n, (1n << 26n) - 5n, 1n << 26n])(
    'draw the same Gaussian as plain whole-number arithmetic at sigma %s',
    (deviation) => {
      const [fast, plain] = [bitsOf('paths'), bitsOf('paths')];
      const sample = gaussianSampler({ numerator: deviation * deviation * 9n, denominator: 9n });
      expect(times(300, () => BigInt(sample(fast))))
        .toEqual(times(300, () => referenceGaussian(plain, deviation)));
    },
  );

  it('draw the same coins as plain whole-number arithmetic', () => {
    const cases: [bigint, bigint][] = [
      [0n, 1n], [1n, 1n], [7n, 3n], [5n, 1n], [2n ** 53n - 2n, 2n ** 53n - 1n],
      [10n ** 30n, 10n ** 29n + 1n],
    ];
    for (const [numerator, denominator] of cases) {
      const [fast, plain] = [bitsOf('coins'), bitsOf('coins')];
      expect(times(400, () => fast.bernoulliExpBig(numerator, denominator)))
        .toEqual(times(400, () => referenceExp(plain, numerator, denominator)));
    }
  });

  it('draw the same Laplace of whole-number scale', () => {
    const [fast, plain] = [bitsOf('laplace'), bitsOf('laplace')];
    const reference = (): bigint => referenceLaplace(plain, 37n).signed() ?? reference();
    expect(times(400, () => discreteLaplace(fast, { numerator: 37n, denominator: 1n })))
      .toEqual(times(400, reference));
  });
});

describe('vectors', () => {
  const file = new URL('../vectors/samplers.json', import.meta.url);
  interface Vector {
    readonly sampler: string;
    readonly numerator: string;
    readonly denominator: string;
    readonly draws: readonly string[];
  }
  const { seed, vectors } =
    JSON.parse(readFileSync(file, 'utf8')) as { seed: string; vectors: readonly Vector[] };
  const drawer = (vector: Vector): ((bits: Coins) => number | bigint) => {
    const ratio = { numerator: BigInt(vector.numerator), denominator: BigInt(vector.denominator) };
    if (vector.sampler === 'gaussian') return gaussianSampler(ratio);
    return (bits) => discreteLaplace(bits, ratio);
  };

  it.each(vectors)('$sampler $numerator / $denominator keeps its draws', (vector) => {
    const bits = bitsOf(seed);
    const draw = drawer(vector);
    expect(vector.draws.map(() => String(draw(bits)))).toEqual(vector.draws);
  });
});

describe('edges', () => {
  it('takes square roots exactly', () => {
    for (const root of [0n, 1n, 2n, 3n, 255n, 2n ** 26n, 2n ** 53n + 1n, 3n ** 100n]) {
      expect(squareRoot(root * root)).toBe(root);
      if (root > 0n) expect(squareRoot(root * root - 1n)).toBe(root - 1n);
      expect(squareRoot(root * root + 2n * root)).toBe(root);
    }
  });

  it('ends at once on hopeless coins, and always wins exp(-0)', () => {
    const bits = bitsOf('edges');
    expect(times(50, () => bits.bernoulliExpBig(10n ** 400n, 1n))).not.toContain(true);
    expect(times(50, () => bits.bernoulliExp(0, 3))).not.toContain(false);
  });

  it('refuses scales that are not positive and choices of nothing', () => {
    const bits = bitsOf('bad');
    expect(() => gaussianSampler({ numerator: 0n, denominator: 1n })).toThrow(InvariantError);
    expect(() => discreteLaplace(bits, { numerator: -1n, denominator: 1n }))
      .toThrow(InvariantError);
    expect(() => chooseByLoss(uniformOf(bits), runsOf([], []), inHalves))
      .toThrow(InvariantError);
    expect(() => chooseByLoss(uniformOf(bits), runsOf([2], [-1]), inHalves))
      .toThrow(InvariantError);
  });
});

const uniformOf = (bits: Coins) => (): bigint => bits.belowBig(1n << 128n);
/** These bits, and zeros after them. */
const exactly = (first: bigint) => {
  let calls = 0;
  return (): bigint => (calls++ === 0 ? first : 0n);
};
const runsOf = (lengths: readonly number[], scores: readonly number[]): ScoreRuns =>
  ({ lengths: Float64Array.from(lengths), scores: Float64Array.from(scores) });
/** A score costs half of itself. */
const inHalves: Losses = {
  of: (score) => ({ numerator: BigInt(score), denominator: 2n }), near: (score) => score / 2,
};

describe('a choice by one uniform number', () => {
  it('encloses exp(-x) within two units, for large and small x', () => {
    for (const [numerator, denominator] of [
      [1n, 3n], [1n, 1n << 70n], [7n, 2n], [90n, 1n], [10n ** 20n + 1n, 10n ** 19n], [255n, 256n],
      [1n, 256n], [399n, 3n],
    ] as const) {
      const { low, high } = expOfMinus({ numerator, denominator }, 192);
      const exact = expOf(fraction(-numerator, denominator));
      const shift = 448n - 192n;
      expect([numerator, low << shift <= exact.low]).toEqual([numerator, true]);
      expect([numerator, high << shift >= exact.high]).toEqual([numerator, true]);
      expect(high - low).toBeLessThanOrEqual(2n);
    }
    expect(expOfMinus({ numerator: 0n, denominator: 5n }, 64))
      .toEqual({ low: 1n << 64n, high: 1n << 64n });
  });

  it('gives the candidate that the uniform number lies in, to the last unit of it', () => {
    // Weights 1, 1, e^-1, e^-1, e^-1: the third begins at 2 / (2 + 3 / e).
    const whole = 1n << 448n;
    const third = expOf(fraction(-1n));
    const edge = (2n * whole << 128n) / (2n * whole + 3n * third.low);
    const at = (uniform: bigint): number =>
      chooseByLoss(exactly(uniform), runsOf([2, 0, 3], [0, 9, 2]), inHalves);
    expect([at(0n), at(edge), at(edge + 1n), at((1n << 128n) - 1n)]).toEqual([0, 1, 2, 4]);
  });

  it('does so where doubles put the losses in the wrong order', () => {
    const heavy = 2n ** 60n + 1n;
    const tiny: Losses = {
      of: (score) => [
        { numerator: 0n, denominator: 1n }, { numerator: heavy, denominator: 2n ** 60n },
        { numerator: 1n, denominator: 1n },
      ][score]!,
      near: (score) => Math.min(1, score),
    };
    const whole = 1n << 448n;
    const [second, third] = [expOf(fraction(-heavy, 2n ** 60n)), expOf(fraction(-1n))];
    const edge = ((whole + second.low) << 128n) / (whole + second.low + third.low);
    const at = (uniform: bigint): number =>
      chooseByLoss(exactly(uniform), runsOf([1, 1, 1], [0, 1, 2]), tiny);
    expect([at(edge), at(edge + 1n)]).toEqual([1, 2]);
  });

  it('takes more bits where the first ones do not decide', () => {
    // Two candidates of weight e^-1 beside one of weight 1 on each side: the middle is an edge that
    // no enclosure decides by itself.
    const runs = runsOf([1, 2, 1], [0, 2, 0]);
    const half = 1n << 127n;
    const drawn = (first: bigint, next: bigint): [number, number] => {
      let calls = 0;
      const index = chooseByLoss(() => (calls++ === 0 ? first : next), runs, inHalves);
      return [index, calls];
    };
    expect(drawn(half, 1n << 100n)).toEqual([2, 2]);
    expect(drawn(half - 1n, (1n << 128n) - (1n << 100n))).toEqual([1, 2]);
    expect(drawn(half - (1n << 100n), 0n)).toEqual([1, 1]);
  });

  it('finds light candidates: a long run whose members weigh next to nothing', () => {
    // 2^52 candidates of weight e^-36 together weigh 1.04.
    const index = chooseByLoss(exactly((1n << 128n) - 1n), runsOf([1, 2 ** 52], [0, 72]), inHalves);
    expect(index).toBe(2 ** 52);
    const ratio = Number(2n ** 52n) * Math.exp(-36);
    const middle = chooseByLoss(exactly(3n << 126n), runsOf([1, 2 ** 52], [0, 72]), inHalves);
    expect(middle / 2 ** 52).toBeCloseTo((0.75 * (1 + ratio) - 1) / ratio, 12);
  });

  it('gives the same index for a run as for its candidates one by one', () => {
    const bits = bitsOf('runs');
    for (let trial = 0; trial < 200; trial++) {
      const lengths = times(5, () => bits.below(4));
      const scores = times(5, () => bits.below(12));
      scores[bits.below(5)] = 0;
      lengths[scores.indexOf(0)]! += 1;
      const listed = lengths.flatMap((length, i) => times(length, () => scores[i]!));
      const uniform = uniformOf(bits)();
      const one = chooseByLoss(exactly(uniform), runsOf(lengths, scores), inHalves);
      const each = chooseByLoss(exactly(uniform), runsOf(listed.map(() => 1), listed), inHalves);
      expect(one).toBe(each);
    }
  });
});
