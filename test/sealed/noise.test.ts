import { describe, expect, it } from 'vitest';
import { Sealed, Sensitive, type Released } from '../../src/base/brands.js';
import { InvalidParameterError, InvariantError } from '../../src/base/errors.js';
import { modPrime } from '../../src/base/prime.js';
import { gaussianEvent, symmetricGaussianEvent } from '../../src/privacy/accounting/calibration.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import { sealedCost } from '../../src/privacy/accounting/sealed-cost.js';
import {
  createSealedMechanisms, publishedOverCharged, type SealedSums,
} from '../../src/privacy/mechanisms/sealed-noise.js';
import { seededNoise } from '../../src/random/insecure.js';
import { constantNumbers } from '../../src/sealed/steps/words.js';
import { openedSum, runThree, splitNumbers } from '../support/sealed-run.js';

const entries = 4_000;
const event = gaussianEvent({
  name: 'sums', cohort: 'contributors', dimension: entries, sensitivity: 1, rho: 0.01,
  grid: 2 ** -10,
});

/** What the servers open of a list of sevens, less seven. @param silent - draws no noise. */
async function noiseOf(silent: number | null, seed: string): Promise<Float64Array> {
  const sums = splitNumbers(new Array<number>(entries).fill(7), 'sevens');
  const opened = await runThree(async (party) => {
    const own = sums[party.server];
    if (party.server === silent) {
      const factor = BigInt(1 / event.grid);
      const scaled = new BigUint64Array(own.slice().buffer).map((entry) =>
        modPrime(entry * factor));
      await openedSum(party, new Uint32Array(scaled.buffer));
      return null;
    }
    const mechanisms = createSealedMechanisms(
      [event], seededNoise(`${seed} ${party.server}`), (noised) => openedSum(party, noised),
    );
    return (await mechanisms.open('sums', Sealed.of({ own }), 1)).value;
  });
  const found = opened.filter((values) => values !== null);
  found.forEach((values) => expect(values).toEqual(found[0]));
  return found[0]!.map((value) => value - 7);
}

const deviationOf = (values: Float64Array): number =>
  Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);

describe('noise that three servers draw in shares', () => {
  it('has the variance of three halves, and of the charge when one server draws none', {
    tags: ['long'],
  }, async () => {
    // The deviation of a sample of 4,000 is off by more than 5.6 % less than once in 10^6: that is
    // five times 1 / sqrt(2 . 4,000). The seeds are fixed.
    const all = deviationOf(await noiseOf(null, 'all')) / event.sigma;
    expect(Math.abs(all / publishedOverCharged - 1)).toBeLessThan(0.056);
    const two = deviationOf(await noiseOf(2, 'two')) / event.sigma;
    expect(Math.abs(two - 1)).toBeLessThan(0.056);
  });

  it('is that of a symmetric matrix: less above the diagonal, and mirrored', {
    tags: ['long'],
  }, async () => {
    const size = 60;
    const matrix = symmetricGaussianEvent({
      name: 'squares', cohort: 'rows', dimension: size, sensitivity: 1, rho: 0.01, grid: 2 ** -10,
    });
    const upper = (size * (size + 1)) / 2;
    const sums = splitNumbers(new Array<number>(upper).fill(7), 'squares');
    const [opened] = await runThree(async (party) => {
      const mechanisms = createSealedMechanisms(
        [matrix], seededNoise(`squares ${party.server}`), (noised) => openedSum(party, noised),
      );
      return (await mechanisms.open('squares', Sealed.of({ own: sums[party.server] }), 1)).value;
    });
    const entry = (i: number, j: number): number => opened![i * size + j]! - 7;
    const places = Array.from({ length: size }, (_, i) => i);
    const above = places.flatMap((i) => places.slice(i + 1).map((j) => [i, j] as const));
    for (const [i, j] of above) expect(entry(i, j)).toBe(entry(j, i));
    const charged = publishedOverCharged * matrix.sigma;
    // Five times 1 / sqrt(2 . 1,770), and for 60 entries five times 1 / sqrt(120).
    const off = deviationOf(Float64Array.from(above, ([i, j]) => entry(i, j)));
    expect(Math.abs(off / (charged / Math.SQRT2) - 1)).toBeLessThan(0.084);
    const on = deviationOf(Float64Array.from(places, (i) => entry(i, i)));
    expect(Math.abs(on / charged - 1)).toBeLessThan(0.46);
    expect(sealedCost([matrix], { disjoint: [] }).rho)
      .toBe(costOfEvents([matrix], { disjoint: [] }).rho + 1n);
  });

  it('costs the event and one unit', () => {
    const cohorts = { disjoint: [] };
    const two = [event, { ...event, name: 'more' }];
    expect(sealedCost(two, cohorts).rho).toBe(costOfEvents(two, cohorts).rho + 2n);
  });

  it('is as good as one draw: the law of two, at the coarsest grid that is allowed', () => {
    // A server's deviation is 8 steps, and sigma^2 is 128. Renyi divergences of order a, of the sum
    // of two draws and the same moved by D steps, are at most a D^2 / (2 sigma^2) and what doubles
    // round.
    const reach = 150;
    const half = Array.from(
      { length: 2 * reach + 1 }, (_, i) => Math.exp(-((i - reach) ** 2) / 128),
    );
    const law = (x: number): number => half.reduce((sum, weight, i) => {
      const other = x - (i - reach) + reach;
      return sum + weight * (half[other] ?? 0);
    }, 0);
    const values = Array.from({ length: 2 * reach + 1 }, (_, i) => law(i - reach));
    const total = values.reduce((sum, value) => sum + value, 0);
    for (const order of [2, 8]) {
      for (const moved of [1, 5]) {
        const sum = values.reduce((all, value, i) => {
          const shifted = values[i - moved] ?? 0;
          return shifted === 0 ? all : all + (value / total) ** order
            * (shifted / total) ** (1 - order);
        }, 0);
        const divergence = Math.log(sum) / (order - 1);
        expect(divergence).toBeLessThanOrEqual(order * moved ** 2 / (2 * 128) * (1 + 1e-9));
        expect(divergence).toBeGreaterThan(order * moved ** 2 / (2 * 128) * (1 - 1e-6));
      }
    }
  });

  it.each<[string, Partial<typeof event>]>([
    ['a grid too coarse for two draws to be as good as one', { grid: 1, sigma: 9 }],
    ['too many entries', { dimension: 2 ** 20 + 1 }],
  ])('is not charged for %s', (_, change) => {
    const wrong = { ...event, ...change };
    expect(() => sealedCost([wrong], { disjoint: [] })).toThrow(InvalidParameterError);
    expect(() => createSealedMechanisms([wrong], seededNoise('x'), async (list) => list))
      .toThrow(InvalidParameterError);
  });

  it('opens an event of the plan once, at its length and on its grid', async () => {
    const small = { ...event, dimension: 1 };
    const own = (count: number): Sealed<SealedSums> =>
      Sealed.of({ own: constantNumbers(count, 1) });
    const made = (): ReturnType<typeof createSealedMechanisms> =>
      createSealedMechanisms([small], seededNoise('once'), async (list) => list);
    const once = made();
    await once.open('sums', own(1), 1);
    await expect(once.open('sums', own(1), 1)).rejects.toThrow(InvariantError);
    await expect(made().open('other', own(1), 1)).rejects.toThrow(InvariantError);
    await expect(made().open('sums', own(2), 1)).rejects.toThrow(InvariantError);
    await expect(made().open('sums', own(1), 2 ** -11)).rejects.toThrow(InvariantError);
  });

  it('is the only way out of Sealed, by types', () => {
    const sealed = Sealed.of(1);
    // @ts-expect-error what is sealed is not sensitive: no mechanism of one server takes it.
    const sensitive: Sensitive<number> = sealed;
    // @ts-expect-error what is sealed is not released.
    const released: Released<number> = sealed;
    // @ts-expect-error there is no value to read.
    expect(sealed.value).toBeUndefined();
    expect([sensitive, released].every((one) => !(one instanceof Sensitive))).toBe(true);
    expect(JSON.stringify(sealed)).toBe('{}');
  });
});
