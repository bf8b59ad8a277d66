import { describe, expect, it } from 'vitest';
import { checkMechanism, mechanismChecks } from '../../../src/audit/exact/mechanism-cases.js';
import { compareLaws, type CaseResult } from '../../../src/audit/exact/claims.js';
import { toNumber } from '../../../src/audit/exact/interval.js';
import { lawOfCall, noiseOf } from '../../../src/audit/exact/mechanism-laws.js';
import { walk } from '../../../src/audit/exact/walk.js';
import { amountOf, zeroAmount } from '../../../src/privacy/accounting/amount.js';
import type { PrivacyCost } from '../../../src/privacy/accounting/cost.js';
import type { MechanismEvent } from '../../../src/privacy/accounting/events.js';
import { suppliesOf } from '../../../src/privacy/mechanisms/supply.js';

/** Seconds each: `npm run check:exact` and the slow tests have them. */
const many = /two|2 x 2|sealed|group|exponential|histogram|mask/;
const runOf = (name: string): CaseResult =>
  mechanismChecks.find((check) => check.name === name)!.run();

describe('exact laws of mechanisms', () => {
  it.each(mechanismChecks.filter(({ name }) => !many.test(name)))(
    '$name: neighbours are within the charge', { tags: ['long'] }, ({ name }) => {
      expect(runOf(name).faults).toEqual([]);
    },
  );

  it.each(mechanismChecks.filter(({ name }) => many.test(name)))(
    '$name: all neighbours are within the charge', { tags: ['slow'] }, ({ name }) => {
      expect(runOf(name).faults).toEqual([]);
    },
  );

  it('use up the charge where it is tight, so that no smaller one would do', {
    tags: ['slow'],
  }, () => {
    expect(runOf('gaussian, whole deviation').share).toBeCloseTo(1, 12);
    for (const name of ['whole counts', 'fine grid', 'one entry']) {
      const { share } = runOf(`laplace, ${name}`);
      expect(share, name).toBeGreaterThan(0.996);
      expect(share, name).toBeLessThanOrEqual(1);
    }
  });

  it('show Laplace noise on whole numbers that is charged as noise without a grid', () => {
    const place = { name: 'draw', cohort: 'rows' } as const;
    const [left, right] = [0, 1].map((shift) => {
      const event =
        { ...place, kind: 'laplace', dimension: 1, sensitivity: 1, scale: 1, grid: 1 } as const;
      return lawOfCall(event, Float64Array.of(shift), noiseOf(event));
    });
    const charged = (rho: number): PrivacyCost =>
      ({ rho: amountOf(rho), delta: zeroAmount, epsilon: amountOf(1), gaussian: null });
    expect(compareLaws(left!, right!, charged(Math.exp(-1))).faults.join())
      .toMatch(/the divergence of order 1\.0078125 is 0\.46\d+, and 0\.37\d+ was charged/);
    expect(compareLaws(left!, right!, charged(Math.tanh(0.5))).faults).toEqual([]);
  });

  it('show noise that is 1 % too small, and a threshold that is too low', () => {
    const place = { name: 'draw', cohort: 'rows' } as const;
    const drawn = {
      ...place, kind: 'gaussian', dimension: 1, sensitivity: 1.005, sigma: 1, grid: 1,
    } as const;
    const wrong = checkMechanism({
      name: 'gaussian', event: { ...drawn, sensitivity: 0.99 },
      contents: [Float64Array.of(0), Float64Array.of(1)], areNeighbours: () => true,
    });
    expect(wrong.faults[0]).toMatch(/^\[0\] and \[1\]: the divergence of order 1\.0078125 is 0\.503/);
    // The floor below which a pass is paid for is three steps higher than the test knows.
    const low = checkMechanism({
      name: 'threshold', contents: [2, 3], areNeighbours: () => true,
      event: {
        ...place, kind: 'gaussian-threshold', sensitivity: 1, sigma: 1.25, delta: 0.05, floor: 0,
        grid: 1,
      },
      removed: (left, right) => (key) => key === 'true' && Math.min(left, right) < 3,
    });
    expect(low.faults.join()).toMatch(/outcomes that only delta covers have probability 0\.\d+/);
  });

  const place = { name: 'draw', cohort: 'rows' } as const;
  it.each<MechanismEvent>([
    { ...place, kind: 'gaussian', dimension: 1, sensitivity: 1, sigma: 0.75, grid: 0.5 },
    { ...place, kind: 'symmetric-gaussian', dimension: 2, sensitivity: 1, sigma: 1, grid: 1 },
    { ...place, kind: 'laplace', dimension: 1, sensitivity: 1, scale: 0.75, grid: 0.5 },
    {
      ...place, kind: 'gaussian-threshold', sensitivity: 1, sigma: 1, delta: 0.1, floor: 0,
      grid: 1,
    },
    { ...place, kind: 'gaussian-histogram', coordinates: 1, sigma: 1, delta: 0.1, grid: 1 },
    {
      ...place, kind: 'group-histogram', groupsMax: 1, prefilter: 1, sigma: 1, delta: 0.1, grid: 1,
    },
    {
      ...place, kind: 'group-sums', groupsMax: 1, prefilter: 1, values: 1, sigma: 1,
      sumsSigma: 0.75,
      delta: 0.1, grid: 1, sumsGrid: 0.5,
    },
  ])('take their noise from supplies with the law of $kind', { tags: ['long'] }, (event) => {
    noiseOf(event).forEach((expected, at) => {
      const found = walk((coins) => suppliesOf(coins, event)[at]!.next());
      expect(toNumber(found.cut)).toBeLessThan(2 ** -60);
      for (const [key, { probability }] of found.outcomes) {
        const other = toNumber(expected.outcomes.get(key)!.probability);
        expect(Math.abs(toNumber(probability) - other)).toBeLessThan(2 ** -60);
      }
    });
  });
});
