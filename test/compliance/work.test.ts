import { describe, expect, it } from 'vitest';
import { utf8 } from '../../src/base/bytes.js';
import type { Plan } from '../../src/estimators/contract/estimator.js';
import { estimators, findEstimator } from '../../src/estimators/registry.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { createGroups, releaseGroups } from '../../src/estimators/run.js';
import { seededRandom } from '../../src/random/work.js';
import {
  countedCompute, countingMath, mechanismsByEvent, type Pass,
} from '../support/counted-work.js';
import { dataSource, type DataSource } from '../support/data.js';
import { factsOf } from '../support/offline.js';
import { sampleParameters } from '../support/sample-parameters.js';

/**
 * One contributor must not decide how long a release takes, because its time is public. Time itself
 * is no measure in tests: passes over rows are counted, and calls of Math for the loops beside
 * them. Neighbours get the same noise.
 */
const dimension = 2;

/** What one contributor sent; null when it did not come. */
type Row = Float64Array | null;

interface Sample {
  readonly plan: Plan;
  readonly cohort: number;
}

function sampleOf(name: string, extra: object): Sample {
  const estimator = findEstimator(name);
  const raw = { ...sampleParameters(name), ...extra };
  for (let cohort = 4_000; ;) {
    const facts = factsOf(dimension, cohort, 4);
    const plan = estimator.plan(parseParameters(estimator.parameters, raw, facts), facts);
    if (plan.kind === 'plan') return { plan, cohort };
    if (plan.cohortNeeded === undefined || plan.cohortNeeded <= cohort) {
      throw new Error(plan.reason);
    }
    cohort = plan.cohortNeeded;
  }
}

interface Work {
  readonly passes: readonly Pass[];
  readonly calls: Readonly<Record<string, number>>;
}

async function workOf(plan: Plan, rows: readonly Row[], seed: string): Promise<Work> {
  const data = dataSource(seed);
  const groups = createGroups(plan, dimension);
  for (const row of rows) {
    const assignmentHash = data.assignmentHash();
    if (row !== null) groups.add(assignmentHash, row);
  }
  const { compute, passes } = countedCompute();
  const mechanisms = mechanismsByEvent(plan.events, seed);
  const { calls } = await countingMath(() =>
    releaseGroups(plan, groups, { mechanisms, work: seededRandom(utf8(seed)), compute }));
  return { passes, calls };
}

const neighbours: Readonly<Record<string, (rows: readonly Row[]) => Row>> = {
  'far away': () => new Float64Array(dimension).fill(1e6),
  'at the end of the doubles': () => Float64Array.of(1e300, 1e-300),
  'as another row': (rows) => rows[1]!,
  'at zero': () => new Float64Array(dimension),
  missing: () => null,
};

/** Rows as they are expected, and rows that give loops nothing to do. */
const sets: Readonly<Record<string, (data: DataSource) => Float64Array>> = {
  normal: (data) => data.normals(dimension),
  equal: () => Float64Array.of(1, 2),
};

/** Other forms, with loops of their own. */
const forms: readonly (readonly [string, object])[] = [
  ['covariance', { spread: 3 }],
  ['gaussian', { spread: 3 }],
  ['gaussian', { local: 'robust', corruption: 0.05 }],
  ['populous-mean', { spread: 'auto' }],
  ['prime', { directions: 'one' }],
  ['prime', { variant: 'reference', corruption: 0.2, rounds: 2 }],
  ['stable-mean', { variant: 'reference' }],
  ['stable-mean', { spread: 'auto', variant: 'reference', recentre: 'yes' }],
];

/**
 * Their loops go on as long as what was released says. The calls of Math then differ, and tell
 * nothing more.
 */
const decidedByReleases = new Set(['stable-covariance', 'stable-moments']);

/** Their centre counts as many bins as the released spread makes of the range of the rows. */
const scaledByPairs = new Set(['covariance', 'gaussian']);

/**
 * A few calls for the row itself and what it alone is counted in, and a fiftieth for loops that end
 * at a row's place.
 */
const callsApart = (before: number): number => 120 + before / 50;

function expectSameWork(
  plan: Plan, name: string, [before, after]: readonly [Work, Work], neighbour: string,
): void {
  if (plan.work === undefined) {
    expect(after.passes.map(({ kernel }) => kernel))
      .toEqual(before.passes.map(({ kernel }) => kernel));
    after.passes.forEach(({ rows }, i) =>
      expect(Math.abs(rows - before.passes[i]!.rows)).toBeLessThanOrEqual(1));
  }
  // A missing row changes the order of tags, which says nothing of rows but costs the sort other
  // steps.
  const isDecided = decidedByReleases.has(name) || plan.work !== undefined;
  if (isDecided || neighbour === 'missing') return;
  // A released spread decides how many bins the centre counts. The form with a spread is compared.
  if (scaledByPairs.has(name) && plan.facts['spread'] === 'found privately') return;
  for (const [call, count] of Object.entries(after.calls)) {
    const was = before.calls[call]!;
    expect(Math.abs(count - was), `calls of Math.${call}: ${was} and ${count}`)
      .toBeLessThanOrEqual(callsApart(was));
  }
}

/** A release of these takes seconds. `npm test` runs them on equal rows only. */
const isSlow = (name: string, extra: object): boolean => name === 'mixture' || 'local' in extra;
const otherKinds = Object.keys(sets).filter((kind) => kind !== 'equal');

describe.each([
  ...estimators.map(({ name }) => [name, {}] as const), ...forms,
])('the work of %s %o', { tags: ['long'] }, (name, extra) => {
  const measure = async (kind: string): Promise<void> => {
    const { plan, cohort } = sampleOf(name, extra);
    const data = dataSource(name);
    const rows: readonly Row[] = Array.from({ length: cohort }, () => sets[kind]!(data));
    // The first release makes public tables that later ones use.
    await workOf(plan, rows, name);
    const before = await workOf(plan, rows, name);
    for (const [neighbour, rowOf] of Object.entries(neighbours)) {
      const after = await workOf(plan, [rowOf(rows), ...rows.slice(1)], name);
      expectSameWork(plan, name, [before, after], neighbour);
      if (plan.work !== undefined) {
        expect(after.passes.length / 2).toBeLessThanOrEqual(plan.work.passes);
      }
    }
  };
  const title = 'does not depend on one contributor among rows that are %s';
  it.each(['equal'])(title, measure);
  it.each(otherKinds)(title, { tags: isSlow(name, extra) ? ['slow'] : [] }, measure);
});

describe('planned work', () => {
  it('is stated where the passes depend on rows, in public numbers, and grows with the '
    + 'radius', () => {
    expect(estimators.filter(({ name }) => sampleOf(name, {}).plan.work !== undefined)).toEqual([]);
    const variant = 'reference';
    const { plan: { work, facts }, cohort } = sampleOf('stable-mean', { variant, recentre: 'no' });
    expect(work).toMatchObject({ rows: 2 * cohort, columns: dimension });
    expect(facts['passesAtMost']).toBe(work!.passes);
    expect(sampleOf('stable-mean', { variant, recentre: 'no', radius: 9 }).plan.work!.passes)
      .toBeGreaterThan(2 * work!.passes);
    expect(sampleOf('stable-mean', { variant, recentre: 'yes' }).plan.work!.passes)
      .toBeGreaterThan(1.5 * work!.passes);
  });

  it('cannot be made endless by a radius', () => {
    const estimator = findEstimator('stable-mean');
    const facts = factsOf(dimension, 10_000);
    const set = { spread: 1, radius: 100, variant: 'reference' };
    const plan = estimator.plan(parseParameters(estimator.parameters, set, facts), facts);
    expect(plan).toMatchObject({
      kind: 'infeasible', remedy: 'a radius of at most 9.82, or none: the default is 4.91',
    });
  });
});
