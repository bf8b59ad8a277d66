import { describe, expect, it } from 'vitest';
import type { Outcome, ValueOutcome } from '../../../src/base/outcome.js';
import {
  allRowsDesign, allRowsShare, movedByHostile, withAllRows, withoutAllRows, type AllRows,
} from '../../../src/estimators/pooled/all-rows.js';
import { groupSeenFrom } from '../../../src/estimators/pooled/radius.js';
import { amountToNumber } from '../../../src/privacy/accounting/amount.js';
import { costOfEvents } from '../../../src/privacy/accounting/composition.js';
import { dataSource } from '../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../support/offline.js';

const contributors = 20_000;

/** Normal rows, of which every thirtieth stands at `cluster`. */
function rowsWith(cluster: number): Float64Array[] {
  const data = dataSource(`crowd at ${cluster}`);
  return Array.from({ length: contributors }, (_, i) =>
    Float64Array.of(i % 30 === 0 ? cluster : data.normal()));
}

async function answerFor(estimator: string, cluster: number, set = {}): Promise<ValueOutcome> {
  const plan = planOf(estimator, { spread: 1, ...set }, factsOf(1, contributors, 1));
  const outcome = await releaseOf(plan, 1, rowsWith(cluster), `${estimator} and ${cluster}`);
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return outcome;
}

const named = ({ findings }: ValueOutcome): readonly string[] =>
  (findings ?? []).map(({ reason }) => reason);

describe('the mean of all rows beside an answer', () => {
  it.each([
    ['prime', true, {}], ['prime', true, { directions: 'one' }], ['prime-heavy', true, {}],
    ['stable-mean', false, {}], ['resilience', false, {}],
  ])('is in the interval of %s; where it leaves rows out (%s), so is that of the '
    + 'others: %o', async (estimator, leavesOut, set) => {
    for (const cluster of [6, 30]) {
      const { interval95 } = await answerFor(estimator, cluster, set);
      for (const truth of leavesOut ? [0, cluster / 30] : [cluster / 30]) {
        expect(interval95!.low[0], `${cluster}`).toBeLessThan(truth);
        expect(interval95!.high[0], `${cluster}`).toBeGreaterThan(truth);
      }
    }
  });

  it.each([
    ['prime', {}], ['prime', { directions: 'one' }], ['prime-heavy', {}],
  ])('says which rows %s left out, with bounds for hostile rows that stay: '
    + '%o', async (estimator, set) => {
    const outcome = await answerFor(estimator, 6, set);
    expect(named(outcome)).toContain('cluster-apart');
    const [share, mean] = outcome.findings!
      .find(({ reason }) => reason === 'cluster-apart')!.amounts;
    expect(share).toBeGreaterThan(0.02);
    expect(share).toBeLessThan(0.06);
    expect(mean).toBeCloseTo(0.2, 1);
    const { interval95, intervalIfFalse95, radiusIfFalse95 } = outcome;
    expect(intervalIfFalse95!.low[0]).toBeLessThan(interval95!.low[0]!);
    expect(radiusIfFalse95).toBeGreaterThan(Math.abs(outcome.estimate[0]!));
    expect(named(await answerFor(estimator, 0, set))).toEqual(['interval-assumes']);
  });

  it('costs its share of rho, and leaves the rest', () => {
    const facts = factsOf(5, contributors, 1);
    const { rho } = costOfEvents(allRowsDesign(facts).events, { disjoint: [] });
    const whole = amountToNumber(rho) + withoutAllRows(facts).target.rho;
    expect(whole).toBeLessThanOrEqual(facts.target.rho * (1 + 1e-12));
    expect(amountToNumber(rho)).toBeGreaterThan(0.98 * allRowsShare * facts.target.rho);
  });

  it('knows nothing of rows that no bin shows, and bounds what a share may move', () => {
    const all: AllRows = {
      moved: Float64Array.of(0.1), deviation: Float64Array.of(0.01), present: 1_000,
      isBelowPlan: false, width: 1, radius: 4, sigma: 2, bias: Infinity, beyond: () => Infinity,
      hidden: () => 0,
    };
    const answer: Outcome = {
      kind: 'value', estimate: [0], shape: [1],
      uncertainty: { kind: 'gaussian', standardDeviation: [0.01] },
      interval95: { low: [-0.1], high: [0.1] },
    };
    const [centre, spread] = [Float64Array.of(0), Float64Array.of(1)];
    expect(withAllRows(answer, { all, centre, spread, left: null, clippedAt: 4 }))
      .toMatchObject({ interval95: { low: [-Infinity], high: [Infinity] } });
    const { findings } = withAllRows(answer, {
      all: { ...all, bias: 0 }, centre, spread, left: null, clippedAt: null,
    }) as ValueOutcome;
    expect(findings!.at(-1)).toEqual(
      { reason: 'interval-assumes', columns: [0], amounts: [groupSeenFrom(2), 0, -4, 4] },
    );
    // All of the share at one place, and the others at another with no width.
    const apart = (share: number): number => Math.sqrt(share / (1 - share));
    expect(movedByHostile(0.05, 0, 100)).toBeGreaterThan(apart(0.05));
    expect(movedByHostile(0.05, 0, 100)).toBeLessThan(1.1 * apart(0.05));
    expect(movedByHostile(0.05, Infinity, 3)).toBeCloseTo(0.33, 10);
  });
});
