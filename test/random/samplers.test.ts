import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { InvariantError } from '../../src/base/errors.js';
import { Coins } from '../../src/random/samplers/coins.js';
import { seededNoise } from '../../src/random/insecure.js';
import { discreteLaplace } from '../../src/random/samplers/discrete-laplace.js';
import { gaussianSampler, squareRoot } from '../../src/random/samplers/discrete-gaussian.js';
import { chooseByLoss } from '../../src/random/samplers/choice.js';
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
    expect(() => chooseByLoss(bits, 0, () => ({ numerator: 0n, denominator: 1n })))
      .toThrow(InvariantError);
    expect(() => chooseByLoss(bits, 1, () => ({ numerator: -1n, denominator: 1n })))
      .toThrow(InvariantError);
  });
});
