import { describe, expect, it } from 'vitest';
import { makeRows } from '../../../../bench/accuracy/data.js';
import { assign } from '../../../../src/estimators/summaries/assignment.js';
import { scoreEdges } from '../../../../src/estimators/mean/filters/weights.js';
import { bumpOf, leastHeavyScore } from '../../../../src/estimators/mean/prime-heavy/bump.js';
import { primeHeavy } from '../../../../src/estimators/mean/prime-heavy/prime-heavy.js';
import { sumOfRest } from '../../../../src/estimators/mean/prime-heavy/remainder.js';
import { clippedRows } from '../../../../src/estimators/pooled/clipped-rows.js';
import type { Plan } from '../../../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../../../src/estimators/contract/parameters.js';
import { inlineCompute } from '../../../../src/estimators/run.js';
import { amountToNumber } from '../../../../src/privacy/accounting/amount.js';
import { clipBall } from '../../../../src/privacy/stages/clip.js';
import { costOfEvents } from '../../../../src/privacy/accounting/composition.js';
import { dataSource, listOf } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';
import { searchedFaults } from '../../../support/sensitivity-check.js';

type Shape = 'student' | 'pareto';

async function errorOf(name: string, rows: Shape, attack: string, seed: number): Promise<number> {
  const [dimension, contributors, corruption] = [5, 50_000, 0.05];
  const { values, truth } = makeRows(attack, { rows, dimension, contributors, corruption, seed });
  const plan = planOf(name, { spread: 1, corruption }, factsOf(dimension, contributors, 2));
  const outcome =
    await releaseOf(plan, dimension, listOf(values, dimension), `${name} ${attack} ${seed}`);
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return Math.hypot(...outcome.estimate.map((entry, j) => entry - truth[j]!));
}

function leastCohort(dimension: number, epsilon: number): number {
  const plan = primeHeavy.plan(
    parseParameters(primeHeavy.parameters, { spread: 1 }, { dimension }),
    factsOf(dimension, 50, epsilon),
  );
  if (plan.kind === 'plan') throw new Error('fifty contributors are enough');
  return plan.cohortNeeded!;
}

describe('prime-heavy', () => {
  it.each<[Shape, string, number]>([
    ['pareto', 'none', 0.03], ['pareto', 'far', 0.03], ['pareto', 'cluster', 0.04],
    ['student', 'cluster', 0.03], ['student', 'far', 0.03],
  ])('%s rows, attack %s: near the mean, where other means are '
    + 'not', { tags: ['long'] }, async (rows, attack, bound) => {
    const own = await errorOf('prime-heavy', rows, attack, 1);
    expect(own).toBeLessThan(bound);
    // Without hostile rows mean is as good: its radius grows with the tail.
    const others = [
      rows === 'pareto' ? 'prime' : 'heavy-tailed', ...attack === 'none' ? [] : ['mean'],
    ];
    for (const other of others) {
      expect(await errorOf(other, rows, attack, 1), other).toBeGreaterThan(1.2 * own);
    }
  });

  it('asks queries that neighbours change by no more than was charged, each in one '
    + 'cohort', { tags: ['slow'] }, async () => {
    const dimension = 2;
    const facts = factsOf(dimension, 900, 60);
    const parameters = parseParameters(
      primeHeavy.parameters, { spread: 1, subsamples: 3, 'near-radius': 3, radius: 9 },
        { dimension },
    );
    const { faults, pairs } =
      await searchedFaults(primeHeavy.plan(parameters, facts), facts, parameters, ['one']);
    expect(faults).toEqual([]);
    expect(pairs).toBeGreaterThan(3);
  });

  it('charges a contributor for its own group or for the rows, whichever is more, and nothing '
    + 'twice', () => {
    const facts = factsOf(4, 40_000, 1);
    const plan = planOf('prime-heavy', { spread: 1, subsamples: 5 }, facts);
    expect(plan.arms.map(({ name }) => name))
      .toEqual(['centre-1', 'centre-2', 'centre-3', 'centre-4', 'centre-5', 'rows']);
    for (const { name } of plan.arms) {
      const own =
        costOfEvents(plan.events.filter(({ cohort }) => cohort === name), { disjoint: [] });
      expect(amountToNumber(own.rho)).toBeLessThanOrEqual(facts.target.rho * (1 + 1e-12));
      expect(amountToNumber(own.rho)).toBeGreaterThan(0.999 * facts.target.rho);
    }
    const seats = new Set<string>();
    const data = dataSource('seats');
    for (let i = 0; i < 2_000;
        i++) seats.add(plan.arms[assign(data.assignmentHash(), plan.arms).arm]!.name);
    expect(seats.size).toBe(6);
  });

  // mean clips normal rows to a smaller ball, and draws no mean of all rows beside its answer.
  it.each([0.5, 1, 4])('has at most 2.1 times the error of mean on normal rows, '
    + 'however few: epsilon %d', (epsilon) => {
    for (const dimension of [1, 2, 5, 10, 20, 50, 100]) {
      const least = leastCohort(dimension, epsilon);
      for (const times of [1, 1.3, 1.7, 2.5, 4, 6, 10, 30]) {
        const cohort = Math.ceil(times * least);
        const [heavy, mean] = ['prime-heavy', 'mean'].map((name): Plan =>
          planOf(name, { spread: 1 }, factsOf(dimension, cohort, epsilon)));
        const own = (1 / Number(heavy!.facts.contributorsOfTheMean)) + heavy!.noise[0]! ** 2;
        const other = 1 / cohort + mean!.noise[0]! ** 2;
        expect(Math.sqrt(own / other), `${dimension} columns, ${cohort} contributors`)
          .toBeLessThan(2.1);
      }
    }
  });

  it('does without filter rounds where few rows would show them nothing, and spends all on the '
    + 'mean', () => {
    const [few, more] = [3_600, 10_000].map((cohort) =>
      planOf('prime-heavy', { spread: 1 }, factsOf(10, cohort, 1)));
    expect([few!.facts.rounds, more!.facts.rounds]).toEqual([0, 2]);
    expect(few!.noise[0]! * Number(few!.facts.contributorsOfTheMean))
      .toBeLessThan(more!.noise[0]! * Number(more!.facts.contributorsOfTheMean) * Math.sqrt(0.65));
  });

  it('adds what is beyond the near ball, by at most its radius and all of it, so that both parts '
    + 'are the clipped row', async () => {
    const [near, rest] = [
      clipBall(3, { products: true, rowsMax: 100 }), clipBall(6, { sums: true }),
    ];
    const [centre, spread] = [Float64Array.of(1, -2), Float64Array.of(1, 10)];
    const place = { centre, spread, near, rest };
    const sums = async (x: number, y: number): Promise<{ rest: number[]; whole: number[] }> => {
      const values = Float64Array.of(1 + x, -2 + 10 * y);
      const pool = { count: 1, dimension: 2, values, tags: BigUint64Array.of(1n) };
      const rows = {
        ...await clippedRows(inlineCompute(), pool, centre, spread, near, 100), values,
      };
      const beyond = [...sumOfRest(rows, place)];
      return { rest: beyond, whole: beyond.map((entry, j) => entry + rows.steps[j]! * near.grid) };
    };
    for (const [x, y] of [
      [0.5, -1], [3, 4], [-4, 3], [30, 40], [-1e300, 0], [1e300, 1e300],
    ] as const) {
      const found = await sums(x, y);
      const length = Math.hypot(x / 1e300, y / 1e300) * 1e300;
      const factor = Math.min(1, 9 / length);
      found.whole.forEach((entry, j) => expect(entry).toBeCloseTo(factor * [x, y][j]!, 4));
      expect(Math.hypot(...found.rest)).toBeLessThanOrEqual(rest.radius);
    }
    const plan =
      planOf('prime-heavy', { spread: 1, 'near-radius': 3, radius: 9 }, factsOf(2, 20_000));
    const event = plan.events.find(({ name }) => name === 'mean/rest');
    const [left, right] = [await sums(1e9, 0), await sums(-1e9, 0)];
    const apart = left.rest[0]! - right.rest[0]!;
    if (event?.kind !== 'gaussian') throw new Error('the rest is a Gaussian release');
    expect(apart).toBeLessThanOrEqual(event.sensitivity);
    expect(apart).toBeGreaterThan(0.999 * event.sensitivity);
  });

  it('refuses with what would do, and where nobody is', async () => {
    const facts = factsOf(10, 1_000, 1);
    const parameters = parseParameters(primeHeavy.parameters, { spread: 1 }, { dimension: 10 });
    const refused = primeHeavy.plan(parameters, facts);
    if (refused.kind === 'plan') throw new Error('there is a plan');
    expect(refused.remedy).toMatch(/a cohort of \d+/);
    expect(primeHeavy.plan(parameters, { ...facts, cohort: refused.cohortNeeded! }).kind)
      .toBe('plan');
    const plan = planOf('prime-heavy', { spread: 1 }, factsOf(2, 20_000));
    expect(await releaseOf(plan, 2, [], 'none'))
      .toMatchObject({ kind: 'refused', reason: 'centre-not-found' });
    expect(() => planOf('prime-heavy', { spread: 1, subsamples: 4 }, factsOf(2, 20_000))).toThrow(/odd/);
  });

  it('answers so few as its own count still tells from a quarter of the plan', async () => {
    const data = dataSource('few came');
    for (let round = 0; round < 12; round++) {
      const rows = Array.from({ length: 1_000 }, (_, i) =>
        Float64Array.of(i % 100 < 38 ? data.normal() : NaN));
      const outcome = await releaseOf(
        planOf('prime-heavy', { spread: 1 }, factsOf(1, 1_000, 1)), 1, rows, `few came ${round}`,
      );
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      const { low, high } = outcome.interval95!;
      expect(low[0]! < 0 && high[0]! > 0).toBe(true);
    }
  });

  it('sees only rows that stand together: not tails, however heavy, nor noise', () => {
    const edges = scoreEdges(7, leastHeavyScore);
    const tail = (index: number): Float64Array =>
      Float64Array.from(edges, (edge) => 30_000 * edge ** (-index / 2));
    const limits = { noise: 40, present: 100_000, most: 10_000, clippedFrom: 49 };
    for (const index of [1, 3, 9]) {
      for (let seed = 0; seed < 300; seed++) {
        const data = dataSource(`tail ${index} ${seed}`);
        const noisy = tail(index).map((count) => count + 40 * data.normal());
        // One bin in 300,000 is 4.5 deviations up by chance.
        expect(bumpOf(edges, noisy, limits)).toBeNull();
      }
    }
    const bump = tail(3).map((count, j) => count + (j >= 14 && j < 17 ? 1_500 : 0));
    const found = bumpOf(edges, bump, limits)!;
    expect(found.low).toBeLessThanOrEqual(edges[14]!);
    expect(found.high).toBeGreaterThanOrEqual(edges[17]!);
    expect(found.high).toBeLessThanOrEqual(edges[19]!);
    expect(bumpOf(edges, bump, { ...limits, present: 100_000_000 })).toBeNull();
  });

  it('leaves honest rows alone that have gaps, more rows than may be hostile, or a clipped '
    + 'tail', () => {
    const edges = scoreEdges(7, leastHeavyScore);
    const limits = { noise: 40, present: 100_000, most: 7_500, clippedFrom: 49 };
    const at = (...held: readonly (readonly [number, number])[]): Float64Array => {
      const counts = new Float64Array(edges.length);
      for (const [bin, count] of held) counts[bin] = count;
      return counts;
    };
    expect(bumpOf(edges, at([10, 6_000]), limits)).not.toBeNull();
    expect(bumpOf(edges, at([10, 8_000]), limits)).toBeNull();
    expect(bumpOf(edges, at([4, 8_000], [10, 6_000]), limits)).toBeNull();
    expect(bumpOf(edges, at([4, 2_000], [8, 1_500], [12, 1_000]), limits)).toBeNull();
    const edge = edges.findIndex((score) => score > 49) - 1;
    const tail = Array.from({ length: edge }, (_, bin) => [bin, 400] as const);
    expect(bumpOf(edges, at(...tail, [edge, 1_500]), limits)).toBeNull();
    expect(bumpOf(edges, at(...tail, [edge, 3_000]), limits)).not.toBeNull();
  });
});
