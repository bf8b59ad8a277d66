import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/brands.js';
import type { MechanismEvent } from '../../src/privacy/accounting/events.js';
import { squareInSteps } from '../../src/privacy/accounting/grid.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { suppliesOf } from '../../src/privacy/mechanisms/supply.js';
import { Coins } from '../../src/random/samplers/coins.js';
import { seededNoise } from '../../src/random/insecure.js';
import { gaussianSampler } from '../../src/random/samplers/discrete-gaussian.js';
import type { NoiseSource } from '../../src/random/source.js';
import { distanceLimit, distanceToMass, gaussianMass } from '../support/goodness.js';

const place = { cohort: 'rows', grid: 1 } as const;
const wide: MechanismEvent = {
  ...place, kind: 'gaussian', name: 'wide', dimension: 2_000, sensitivity: 1, sigma: 2 ** 40,
};
const all: readonly MechanismEvent[] = [
  { ...place, kind: 'gaussian', name: 'gaussian', dimension: 3, sensitivity: 1, sigma: 5 },
  {
    ...place, kind: 'symmetric-gaussian', name: 'symmetric', dimension: 4, sensitivity: 1, sigma: 5,
  },
  { ...place, kind: 'laplace', name: 'laplace', dimension: 2, sensitivity: 1, scale: 3 },
  {
    ...place, kind: 'gaussian-threshold', name: 'test', sensitivity: 1, sigma: 4, delta: 1e-6,
    floor: 0,
  },
  { ...place, kind: 'gaussian-histogram', name: 'bins', coordinates: 1, sigma: 4, delta: 1e-6 },
  {
    kind: 'exponential', name: 'choice', cohort: 'rows', candidates: 1_000, sensitivity: 1,
    epsilon: 1e-6, times: 2,
  },
];
const zeros = (length: number): Sensitive<Float64Array> => Sensitive.of(new Float64Array(length));
const binsOf = (bins: number): Sensitive<readonly ReadonlyMap<number, number>[]> =>
  Sensitive.of([new Map(Array.from({ length: bins }, (_, bin) => [bin, 1_000]))]);

/** Noise that can be switched off, after which asking for it is an error. */
function switched(seed: string): NoiseSource & { off: boolean } {
  const inner = seededNoise(seed);
  const source: NoiseSource & { off: boolean } = {
    kind: 'noise', secure: false, off: false,
    fill: (bytes) => {
      if (source.off) throw new RangeError('no noise is left to draw');
      inner.fill(bytes);
    },
  };
  return source;
}

describe('noise drawn ahead', () => {
  it('is handed out in the order of its draws, each value once, however much was ready', () => {
    const bits = new Coins(seededNoise('order'));
    const sample = gaussianSampler(squareInSteps(2 ** 40, 1));
    const expected = Array.from({ length: 2_000 }, () => Number(sample(bits)));
    for (const ready of [[], [1], [700, 700], [1_999], [5_000]]) {
      const mechanisms = createMechanisms([wide], seededNoise('order'));
      const drawn = ready.map((limit) => mechanisms.prepare(limit));
      expect(drawn.reduce((sum, count) => sum + count, 0))
        .toBe(Math.min(2_000, ready.reduce((sum, n) => sum + n, 0)));
      const values = Array.from(mechanisms.gaussian('wide', zeros(2_000)).value);
      expect(values).toEqual(expected);
      expect(new Set(values).size).toBe(2_000);
    }
  });

  it('is never drawn twice for one place: further draws continue the sequence, and used values are '
    + 'gone', () => {
    const [supply] = suppliesOf(new Coins(seededNoise('twice')), { ...wide, dimension: 5 });
    expect(supply!.prepare(Infinity)).toBe(5);
    expect(supply!.prepare(Infinity)).toBe(0);
    const values = Array.from({ length: 12 }, () => supply!.next());
    expect(new Set(values).size).toBe(12);
    expect(supply!.prepare(Infinity)).toBe(0);
    expect(new Set([...values, ...Array.from({ length: 3 }, () => supply!.next())]).size).toBe(15);
  });

  it('is all that a release takes: once prepared, every mechanism works without a '
    + 'source', () => {
    const source = switched('off');
    const mechanisms = createMechanisms(all, source);
    expect(mechanisms.prepare(10)).toBe(10);
    // 3 + (4 + 6) + 2 + 1 + 128 values in all, and a uniform number for each of two choices.
    expect(mechanisms.prepare(Infinity)).toBe(146 - 10);
    expect(mechanisms.prepare(Infinity)).toBe(0);
    source.off = true;
    mechanisms.gaussian('gaussian', zeros(3));
    mechanisms.symmetricGaussian('symmetric', zeros(16));
    mechanisms.laplace('laplace', zeros(2));
    mechanisms.threshold('test', Sensitive.of(0));
    expect(mechanisms.histogram('bins', binsOf(128)).value[0]).toHaveLength(128);
    // Each choice has a number of its own: the same one twice would give the same index.
    const choices = [1, 2].map(() => mechanisms.exponential('choice', zeros(1_000)).value);
    expect(choices[0]).not.toBe(choices[1]);
  });

  it('draws more if a histogram has more bins than values', () => {
    const source = switched('more');
    const mechanisms = createMechanisms(all, source);
    mechanisms.prepare(Infinity);
    const [kept] = mechanisms.histogram('bins', binsOf(3_000)).value;
    expect(kept).toHaveLength(3_000);
    const noise = kept!.map(({ noisyCount }) => noisyCount - 1_000);
    expect(distanceToMass(noise, gaussianMass(4))).toBeLessThan(distanceLimit(3_000));
  });

  it('has the distribution that was charged, and not one that is a tenth narrower or wider', () => {
    const draws = 20_000;
    const event: MechanismEvent = {
      ...place, kind: 'gaussian', name: 'g', dimension: draws, sensitivity: 1, sigma: 6,
    };
    const mechanisms = createMechanisms([event], seededNoise('distribution'));
    mechanisms.prepare(draws / 2);
    const noise = Array.from(mechanisms.gaussian('g', zeros(draws)).value);
    expect(distanceToMass(noise, gaussianMass(6))).toBeLessThan(distanceLimit(draws));
    for (const factor of [0.9, 1.1]) {
      expect(distanceToMass(noise, gaussianMass(6 * factor))).toBeGreaterThan(distanceLimit(draws));
    }
  });
});
