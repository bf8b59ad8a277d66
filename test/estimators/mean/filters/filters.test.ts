import { describe, expect, it } from 'vitest';
import type { PooledRows } from '../../../../src/estimators/contract/estimator.js';
import {
  clippedRows, countScores, momentsOf, removeRows, scoreCounts, scoresOf,
} from '../../../../src/estimators/pooled/clipped-rows.js';
import {
  behindCluster, directionsOf, roundMoments, scoreEdges, thresholdOf,
} from '../../../../src/estimators/mean/filters/weights.js';
import { prime } from '../../../../src/estimators/mean/prime/prime.js';
import { parseParameters } from '../../../../src/estimators/contract/parameters.js';
import {
  createGroups, decodeGroups, inlineCompute, releaseGroups, runOffline,
} from '../../../../src/estimators/run.js';
import { clipBall } from '../../../../src/privacy/stages/clip.js';
import { createMechanisms } from '../../../../src/privacy/mechanisms/index.js';
import { normalUpperTail } from '../../../../src/numerics/normal.js';
import { seededNoise } from '../../../../src/random/insecure.js';
import { seededRandom } from '../../../../src/random/work.js';
import { utf8 } from '../../../../src/base/bytes.js';
import { createComputePool } from '../../../../server/compute/pool.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';

const compute = inlineCompute();
const normal = (random: { uniform(): number }): number =>
  Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(2 * Math.PI * random.uniform());

/** n rows of spread 1 about `centre`, the first of them hostile. */
function rowsOf(
  n: number, d: number, seed: string, hostile = 0,
  move: (honest: number[]) => number[] = (row) => row, centre = 0,
): number[][] {
  const random = seededRandom(utf8(seed));
  return Array.from({ length: n }, (_, i) => {
    const row = Array.from({ length: d }, () => normal(random));
    return (i < hostile * n ? move(row) : row).map((value) => value + centre);
  });
}

async function errorOf(
  rows: number[][], d: number, seed: string, centre = 0, name = 'prime', epsilon = 4, set = {},
): Promise<number> {
  const parameters = { spread: 1, corruption: 0.05, ...set };
  const plan = planOf(name, parameters, factsOf(d, rows.length, epsilon));
  const outcome = await releaseOf(plan, d, rows, seed);
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return Math.hypot(...outcome.estimate.map((value) => value - centre));
}

describe('filters', () => {
  it.each<[string, (row: number[]) => number[]]>([
    ['together', (row) => row.map((value) => value + 1.5)],
    ['in alternating directions', (row) =>
      row.map((value, j) => value + (j % 2 === 0 ? 1.5 : -1.5))],
    ['along one column', (row) => row.map((value, j) => value + (j === 3 ? 4 : 0))],
    ['to one point', (row) => row.map(() => 1.5)],
    ['very far', (row) => row.map(() => 1e5)],
  ])('stays where honest rows are when a twentieth moves '
    + '%s', { tags: ['long'] }, async (_, move) => {
    const rows = rowsOf(20_000, 8, 'hostile', 0.05, move);
    // 8 columns and 20,000 rows: sampling alone is .02; the plain mean is moved by .2 and more.
    expect(await errorOf(rows, 8, 'a', 0, 'mean', 8)).toBeGreaterThan(0.15);
    expect(await errorOf(rows, 8, 'a', 0, 'prime', 8)).toBeLessThan(0.09);
    expect(await errorOf(rows, 8, 'a', 0, 'prime', 8, { directions: 'one' }))
      .toBeLessThan(0.09);
  });

  it('is about as good as the plain mean on honest rows, near and far from the '
    + 'origin', { tags: ['long'] }, async () => {
    for (const centre of [0, 1e6]) {
      const rows = rowsOf(20_000, 8, `honest ${centre}`, 0, undefined, centre);
      expect(await errorOf(rows, 8, 'b', centre)).toBeLessThan(0.05);
    }
  });

  it('answers for a constant column, and refuses where nobody is', { tags: ['long'] }, async () => {
    const rows = rowsOf(20_000, 3, 'constant').map(([x, y]) => [x!, y!, 7]);
    const plan = planOf('prime', { spread: 1 }, factsOf(3, 20_000, 4));
    const outcome = await releaseOf(plan, 3, rows, 'c');
    expect(outcome).toMatchObject({ kind: 'value' });
    if (outcome.kind === 'value') expect(Math.abs(outcome.estimate[2]! - 7)).toBeLessThan(0.1);
    expect(await releaseOf(plan, 3, [], 'd'))
      .toMatchObject({ kind: 'refused', reason: 'centre-not-found' });
  });

  it('gives the same release for any order of rows, any split and any number of '
    + 'threads', { tags: ['long'] }, async () => {
    const d = 4;
    const rows = rowsOf(40_000, d, 'order', 0.05, (row) => row.map((value) => value + 2));
    const plan = planOf('prime', { spread: 1 }, factsOf(d, rows.length, 4));
    const assignmentHash = (i: number): Uint8Array => {
      const bytes = new Uint8Array(32);
      seededNoise(`ticket ${i}`).fill(bytes);
      return bytes;
    };
    const means = () => ({
      mechanisms: createMechanisms(plan.events, seededNoise('order')),
      work: seededRandom(utf8('order')),
    });
    const assignmentHashes = rows.map((_, i) => assignmentHash(i));
    const forward = createGroups(plan, d);
    rows.forEach((row, i) => forward.add(assignmentHashes[i]!, Float64Array.from(row)));
    const first = await releaseGroups(plan, forward, means());
    const backward = createGroups(plan, d);
    for (let i = rows.length - 1;
        i >= 0; i--) backward.add(assignmentHashes[i]!, Float64Array.from(rows[i]!));
    expect(await releaseGroups(plan, decodeGroups(plan, d, backward.encode()), means()))
      .toEqual(first);
    for (const threads of [1, 2]) {
      const pool = createComputePool(threads);
      try {
        expect(await releaseGroups(plan, forward, { ...means(), compute: pool })).toEqual(first);
      } finally {
        await pool.close();
      }
    }
  });

  it('plans only what can be kept, from public numbers', () => {
    const facts = factsOf(10, 300, 1);
    const plan = prime.plan(parseParameters(prime.parameters, { spread: 1 }, facts), facts);
    expect(plan).toMatchObject({ kind: 'infeasible', cohortNeeded: expect.any(Number) as number });
    const needed = (plan as { cohortNeeded: number }).cohortNeeded;
    expect(planOf('prime', { spread: 1 }, factsOf(10, needed, 1)).kind).toBe('plan');
    const large = planOf('prime', { spread: 1, corruption: 0.05 }, factsOf(10, 100_000, 1));
    expect(large.expectedError(0).total).toBeLessThan(1.3 * Math.sqrt(10 / 100_000));
    expect(large.expectedError(0.06).total).toBe(Infinity);
  });

  it('makes the ball as small as honest rows allow where noise hides much, and only there', () => {
    const factOf = (name: string, cohort: number, epsilon: number, extra: object = {}): number =>
      planOf('prime', { spread: 1, ...extra }, factsOf(10, cohort, epsilon)).facts[name] as number;
    const radius = 'clipRadiusInSpreads';
    const wide = 1.35 * Math.sqrt(10) + 3;
    expect(factOf(radius, 100_000, 1)).toBeCloseTo(1.1 * Math.sqrt(10) + 2.5, 3);
    expect(factOf(radius, 100_000, 1, { radius: 7 })).toBeCloseTo(7, 3);
    expect(factOf(radius, 200_000, 20)).toBeCloseTo(wide, 3);
    // Noise and sampling add to the spread that is left alone; its noise is as the squared radius.
    const least = 0.1 * Math.log(20) + 3 * Math.sqrt(10 / 100_000);
    const [small, large] = [{}, { radius: wide }].map((extra) =>
      factOf('excessVarianceDetectedAbove', 100_000, 1, { corruption: 0.05, ...extra }) - least);
    expect(small! / large!).toBeCloseTo(((1.1 * Math.sqrt(10) + 2.5) / wide) ** 2, 2);
    expect(large!).toBeGreaterThan(0.02);
  });

  it('leaves out the rows beyond what can be counted exactly, without a word about how many there '
    + 'were', async () => {
    const plan = planOf('prime', { spread: 1 }, factsOf(1, 3000, 4));
    const rows = rowsOf(13_000, 1, 'surplus');
    const outcome = await runOffline({
      plan, dimension: 1, rows, mechanisms: createMechanisms(plan.events, seededNoise('surplus')),
      assignmentHashes: seededNoise('surplus tickets'), work: seededRandom(utf8('surplus')),
    });
    expect(outcome).toMatchObject({ kind: 'value' });
  });
});

describe('what a filter is made of', () => {
  const ball = clipBall(6, { products: true, rowsMax: 4096 });

  const pooled = (rows: readonly (readonly number[])[], dimension: number): PooledRows => ({
    count: rows.length, dimension, values: Float64Array.from(rows.flat()),
    tags: BigUint64Array.from(rows, (_, i) => BigInt(i)),
  });

  // 5,000 pairs of neighbours, four rounds each.
  it('changes by at most one row when a contributor is replaced, whatever is released: 20,000 '
    + 'cases', { tags: ['slow'] }, async () => {
    const random = seededRandom(utf8('lattice'));
    const [d, n] = [2, 7];
    const point = (): number[] =>
      Array.from({ length: d }, () => Math.floor(5 * random.uniform()) - 2);
    const origin = new Float64Array(d);
    const spread = new Float64Array(d).fill(1);
    for (let run = 0; run < 20_000 / 4; run++) {
      const rows = Array.from({ length: n }, point);
      const other = rows.map((row, i) => (i === run % n ? point() : row));
      const [left, right] = [
        await clippedRows(compute, pooled(rows, d), origin, spread, ball, 4096),
        await clippedRows(compute, pooled(other, d), origin, spread, ball, 4096),
      ];
      for (let look = 0; look < 4; look++) {
        // Released numbers: the same for both.
        const mean = Float64Array.from(point(), (value) => value / ball.grid / 4);
        const weights = Float64Array.of(0.5, random.uniform() / 4, 0.25, 0.5);
        const least = (8 * random.uniform()) / ball.grid ** 2;
        for (const set of [left, right]) {
          await removeRows(compute, set, { mean, weights }, least);
        }
        const differ = rows.filter((_, i) => i !== run % n && left.alive[i] !== right.alive[i]);
        expect(differ).toEqual([]);
        const [a, b] = [await momentsOf(compute, left), await momentsOf(compute, right)];
        const gap = a.products.reduce((sum, value, i) => sum + (value - b.products[i]!) ** 2, 0);
        expect(Math.sqrt(gap)).toBeLessThanOrEqual(Math.SQRT2 * ball.steps ** 2);
        expect(Math.hypot(...a.sums.map((value, j) => value - b.sums[j]!)))
          .toBeLessThanOrEqual(2 * ball.steps);
        expect(Math.abs(a.count - b.count)).toBeLessThanOrEqual(1);
      }
    }
  });

  it('counts a row in at most one bin of scores', async () => {
    const edges = scoreEdges(ball.radius);
    const rows = await clippedRows(
      compute, pooled([[0, 0], [2, 0], [5, 0], [0, -6]], 2), new Float64Array(2),
      Float64Array.of(1, 1), ball, 4096,
    );
    const along = { mean: new Float64Array(2), weights: Float64Array.of(1, 0, 0, 1) };
    const scores = await scoresOf(compute, rows, along);
    const inSpreads = scores.map((score) => score * ball.grid ** 2);
    const counts = countScores(rows, inSpreads, edges);
    expect(counts.reduce((sum, count) => sum + count)).toBe(3);
    const inSteps = Float64Array.from(edges, (edge) => edge / ball.grid ** 2);
    expect(await scoreCounts(compute, rows, along, inSteps)).toEqual(counts);
    expect(edges.at(-1)! <= 4 * ball.radius ** 2).toBe(true);
  });

  it.each([3, 300])('removes the same rows by their bins, of %d, as by their '
    + 'scores', async (size) => {
    const random = seededRandom(utf8('bins'));
    const [d, n] = [3, 3_000];
    const points = Array.from({ length: n }, () =>
      Array.from({ length: d }, () => 4 * (random.uniform() + random.uniform() - 1)));
    const place = [new Float64Array(d), new Float64Array(d).fill(1)] as const;
    const [binned, scored] = [
      await clippedRows(compute, pooled(points, d), ...place, ball, 4096),
      await clippedRows(compute, pooled(points, d), ...place, ball, 4096),
    ];
    for (let look = 0; look < 3; look++) {
      const along = {
        mean: Float64Array.from({ length: d }, () => random.uniform() / ball.grid),
        weights: Float64Array.from({ length: d * d }, (_, at) =>
          random.uniform() / 4 + (at % (d + 1) === 0 ? 0.5 : 0)),
      };
      const edges = Float64Array.from({ length: size }, (_, j) =>
        (3 * 1.01 ** ((300 * j) / size)) / ball.grid ** 2);
      const counts = await scoreCounts(compute, binned, along, edges);
      expect(counts).toEqual(countScores(scored, await scoresOf(compute, scored, along), edges));
      const edge = (share: number): number => edges[Math.floor(share * size)]!;
      // The highest, a stretch below them, one that is no stretch of bins, and some that are gone
      // already.
      for (const [least, below] of [
        [edge(0.7), Infinity], [edge(0.4), edge(0.7)], [0.9 * edge(0.4), edge(0.4)],
        [edge(0.5), Infinity],
      ]) {
        await removeRows(compute, binned, along, least!, below);
        await removeRows(compute, scored, { ...along, mean: along.mean.slice() }, least!, below);
        expect(binned.alive).toEqual(scored.alive);
      }
      expect(await momentsOf(compute, binned)).toEqual(await momentsOf(compute, scored));
    }
    const left = scored.alive.reduce((sum, flag) => sum + flag, 0);
    expect(left > n / 10 && left < 0.9 * n).toBe(true);
  });

  it('takes the mean back into the ball, and finds the widest direction', () => {
    const moved =
      roundMoments(100, Float64Array.of(5000, 0), Float64Array.of(900, 0, 0, 100), 6, 50);
    expect(moved.mean[0]).toBeCloseTo(6, 12);
    const wide = roundMoments(100, Float64Array.of(0, 0), Float64Array.of(400, 0, 0, 100), 6, 50);
    expect(wide.largestExcess).toBeCloseTo(3, 9);
    const weights = directionsOf([wide]);
    expect(weights[0]!).toBeGreaterThan(0.95);
    expect(weights[0]! + weights[3]!).toBeCloseTo(1, 9);
  });

  it('goes inwards to where a cluster ends, and not into tails', () => {
    const edges = scoreEdges(6);
    const n = 100_000;
    const tail = (score: number): number => 2 * n * normalUpperTail(Math.sqrt(score));
    const light =
      Float64Array.from(edges, (edge, l) => tail(edge) - tail(edges[l + 1] ?? Infinity));
    for (const edge of edges) expect(behindCluster(edges, light, edge, n, 30)).toBe(edge);
    // A cluster in bins 5 to 9, of which the excess finds the upper half.
    const crowded = light.map((count, l) => count + (l >= 5 && l <= 9 ? 3_000 : 0));
    expect(behindCluster(edges, crowded, edges[8]!, n, 30)).toBe(edges[5]);
    expect(behindCluster(edges, crowded, edges[5]!, n, 30)).toBe(edges[5]);
    expect(behindCluster(edges, crowded.fill(5_000), edges[4]!, n, 30)).toBe(edges[0]);
  });

  it('lets nobody go because of noise alone', () => {
    const edges = scoreEdges(6);
    const noise = edges.map((_, j) => (j % 2 === 0 ? 10 : -12));
    expect(thresholdOf(edges, Float64Array.from(noise), 1, 10_000, 12)).toBeNull();
  });
});
