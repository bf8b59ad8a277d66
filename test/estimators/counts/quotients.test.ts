import { describe, expect, it } from 'vitest';
import { labelsOf } from '../../../src/answers/words.js';
import {
  answerOfQuotients, deviationsCovering, quotientOf,
} from '../../../src/estimators/counts/quotients/fieller.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { privacyTarget, resolvePureTarget } from '../../../src/privacy/accounting/target.js';
import { dataSource } from '../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../support/offline.js';

const gaussian = deviationsCovering(privacyTarget({ epsilon: 1, delta: 1e-6 }));
const pure = deviationsCovering(resolvePureTarget({ epsilon: 1, delta: 0 }));

describe('Fieller’s interval', () => {
  // 95 % -+ 1 %: five standard deviations of 15,000 draws are 0.9 %.
  it.each([[3, 0.4], [3, -6], [6, 1], [20, 30]])('covers 95 in 100 '
    + 'quotients with a denominator of %d deviations and a quotient of %d', (
    denominator, quotient) => {
    const data = dataSource(`fieller ${denominator} ${quotient}`);
    let [answers, covered] = [0, 0];
    while (answers < 15_000) {
      const found = quotientOf({
        numerator: quotient * denominator + 2 * data.normal(),
        denominator: denominator + data.normal(),
        numeratorNoise: 2, denominatorNoise: 1,
      }, gaussian);
      if (found === null) continue;
      answers += 1;
      if (found.low <= quotient && quotient <= found.high) covered += 1;
    }
    expect(Math.abs(covered / answers - 0.95)).toBeLessThan(0.01);
  });

  it.each([0, 0.3, 1, 3])('covers 95 in 100 at least of Laplace noise, for a quotient of %d', (
    quotient) => {
    const data = dataSource(`laplace ${quotient}`);
    const laplace = (): number =>
      (data.below(2) === 0 ? 1 : -1) * Math.log(1 - data.uniform());
    let covered = 0;
    const rounds = 20_000;
    for (let round = 0; round < rounds; round++) {
      const found = quotientOf({
        numerator: quotient * 20 + laplace(), denominator: 20 + laplace(),
        numeratorNoise: Math.SQRT2, denominatorNoise: Math.SQRT2,
      }, pure)!;
      if (found.low <= quotient && quotient <= found.high) covered += 1;
    }
    expect(covered / rounds).toBeGreaterThan(0.94);
    expect(covered / rounds).toBeLessThan(0.98);
  });

  it('has no answer where the denominator may be noise, and is finite where it just is not', () => {
    const at = (denominator: number) => quotientOf({
      numerator: 5, denominator, numeratorNoise: 1, denominatorNoise: 1,
    }, gaussian);
    expect(at(2.999)).toBeNull();
    expect(at(-40)).toBeNull();
    expect(at(0)).toBeNull();
    expect(at(NaN)).toBeNull();
    const { low, high } = at(3)!;
    expect(low).toBeGreaterThan(0);
    expect(high).toBeLessThan(20);
  });

  it('is that of the numerator alone where the denominator has no noise', () => {
    const found = quotientOf({
      numerator: 30, denominator: 10, numeratorNoise: 2, denominatorNoise: 0,
      sampling: { squares: 12, people: 0 },
    }, gaussian)!;
    expect(found.low).toBeCloseTo(3 - (gaussian * 4) / 10, 12);
    expect(found.high).toBeCloseTo(3 + (gaussian * 4) / 10, 12);
  });

  it('is Wilson’s of a share of a sample without noise', () => {
    // 30 of 40 say 1 and 10 say -1: shares of .75 in 0..1, Wilson's .5981 to .8581.
    const found = quotientOf({
      numerator: 20, denominator: 40, numeratorNoise: 0, denominatorNoise: 0,
      sampling: { squares: 40, people: 40 },
    }, gaussian)!;
    expect((1 + found.low) / 2).toBeCloseTo(0.59806, 4);
    expect((1 + found.high) / 2).toBeCloseTo(0.85811, 4);
  });
});

describe('an answer of quotients', () => {
  const some = { estimate: 2, standardDeviation: 0.1, low: 1.8, high: 2.2 };
  const base = { isPure: false, divisor: 'the noisy number of people' };

  it('has zeros and no interval under a key in which one quotient has no answer', () => {
    expect(answerOfQuotients({ ...base, quotients: [some, null, some, some], shape: [2, 2],
      byKey: true })).toEqual({
      kind: 'value', estimate: [0, 0, 2, 2], shape: [2, 2], answered: [false, true],
      uncertainty: { kind: 'gaussian', standardDeviation: [0, 0, 0.1, 0.1] },
      interval95: {
        low: [-Infinity, -Infinity, 1.8, 1.8], high: [Infinity, Infinity, 2.2, 2.2],
      },
    });
  });

  it('is refused where there is none at all', () => {
    for (const byKey of [false, true]) {
      expect(answerOfQuotients({ ...base, quotients: [null, null], shape: [2], byKey }))
        .toMatchObject({ kind: 'refused', reason: 'participation-below-plan',
          text: expect.stringContaining('the noisy number of people is less than 3') as string });
    }
  });
});

describe('share and ratio', () => {
  it('find the share on either side of a threshold, and of yes', async () => {
    const rows = Array.from({ length: 4_000 }, (_, i) => Float64Array.of(i % 4, i % 2));
    const sharesOf = async (raw: Readonly<Record<string, unknown>>): Promise<number> => {
      const outcome = await releaseOf(planOf('share', raw, factsOf(2, 4_000)), 2, rows, 'share');
      return outcome.kind === 'value' ? outcome.estimate[0]! : NaN;
    };
    expect(await sharesOf({ column: 0, threshold: 3 })).toBeCloseTo(0.25, 1);
    expect(await sharesOf({ column: 0, threshold: 3, side: 'below' })).toBeCloseTo(0.75, 1);
    expect(await sharesOf({ column: 1 })).toBeCloseTo(0.5, 1);
  });

  it('find the ratio of clipped totals, and say that values were clipped', async () => {
    const plan = planOf('ratio', { cap: [100, 10] }, factsOf(2, 4_000));
    const rows = Array.from({ length: 4_000 }, (_, i) => Float64Array.of(i % 2 ? 900 : 20, 5));
    const outcome = await releaseOf(plan, 2, rows, 'ratio');
    if (outcome.kind !== 'value') throw new Error(outcome.text);
    expect(outcome.estimate[0]).toBeCloseTo(12, 0);
    expect(outcome.interval95!.low[0]).toBeLessThan(12);
    expect(outcome.interval95!.high[0]).toBeGreaterThan(12);
    expect(outcome.findings).toMatchObject([{ reason: 'values-clipped', columns: [0] }]);
  });

  it.each([['share', {}, 1], ['ratio', { cap: 1 }, 2]] as const)('%s refuses when nobody came, '
    + 'and names the cohort that it needs', async (name, raw, columns) => {
    const refused = await releaseOf(planOf(name, raw, factsOf(columns, 4_000)), columns, [], 'no');
    expect(refused).toMatchObject({ kind: 'refused', reason: 'participation-below-plan' });
    expect(() => planOf(name, raw, factsOf(columns, 3))).toThrow(/infeasible: with 3 contributors/);
  });

  it('label their answers', () => {
    const [age, cost, hours] = ['age', 'cost', 'hours'].map((column) => ({ name: column }));
    const share = findEstimator('share').describe({ threshold: 3, side: 'below' }, [age!]);
    expect(labelsOf(share)).toEqual(['share with age below 3']);
    expect(labelsOf(findEstimator('ratio').describe({}, [cost!, hours!])))
      .toEqual(['cost per hours']);
  });
});
