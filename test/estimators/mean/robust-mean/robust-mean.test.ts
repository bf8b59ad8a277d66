import { describe, expect, it } from 'vitest';
import { makeRows } from '../../../../bench/accuracy/data.js';
import { createComputePool } from '../../../../server/compute/pool.js';
import { utf8 } from '../../../../src/base/bytes.js';
import { parseParameters } from '../../../../src/estimators/contract/parameters.js';
import { robustMean } from '../../../../src/estimators/mean/robust-mean/robust-mean.js';
import { createGroups, decodeGroups, releaseGroups } from '../../../../src/estimators/run.js';
import { createMechanisms } from '../../../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../../../src/random/insecure.js';
import { seededRandom } from '../../../../src/random/work.js';
import { dataSource, listOf } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';

const [dimension, contributors] = [5, 40_000];
const normal = { spread: 1, shape: 'light' };

async function errorUnder(
  attack: string, corruption = 0.05, name = 'robust-mean', epsilon = 2,
): Promise<number> {
  const { values, truth } = makeRows(attack, { dimension, contributors, corruption, seed: 4 });
  const parameters = name === 'mean' ? { spread: 1 } : normal;
  const plan = planOf(name, parameters, factsOf(dimension, contributors, epsilon));
  const outcome = await releaseOf(plan, dimension, listOf(values, dimension), `robust ${attack}`);
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return Math.hypot(...outcome.estimate.map((entry, j) => entry - truth[j]!));
}

describe('robust-mean of normal rows', () => {
  it.each([
    'ones', 'direction', 'point', 'far', 'two-clusters', 'spray', 'dense', 'cluster', 'moved',
  ])(
    'answers about as if nobody lied under %s', async (attack) => {
      // Sampling alone is .011; the clipped mean is off by .07 to .3.
      expect(await errorUnder(attack)).toBeLessThan(0.035);
    });

  it('stays below what second moments alone can see', { tags: ['long'] }, async () => {
    // A twentieth that nothing shows moves a median by .066.
    for (const attack of ['subtle', 'inliers', 'heavy-tails']) {
      expect(await errorUnder(attack, 0.05, 'robust-mean', 8)).toBeLessThan(0.07);
      expect(await errorUnder(attack, 0.05, 'mean', 8)).toBeGreaterThan(0.07);
    }
  });

  it('states an interval that holds even if a twentieth lies unseen', async () => {
    const facts = factsOf(dimension, 20_000);
    for (const attack of ['subtle', 'inliers', 'near']) {
      const { values, truth } =
        makeRows(attack, { dimension, contributors: 20_000, corruption: 0.05, seed: 5 });
      const outcome =
        await releaseOf(planOf('robust-mean', normal, facts), dimension, listOf(values, dimension),
          `hostile ${attack}`);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      const { estimate, interval95, intervalIfFalse95: held, radiusIfFalse95 } = outcome;
      expect(Math.hypot(...estimate.map((entry, j) => entry - truth[j]!)))
        .toBeLessThan(radiusIfFalse95!);
      truth.forEach((entry, j) => {
        expect(held!.low[j]).toBeLessThan(Math.min(entry, interval95!.low[j]!));
        expect(held!.high[j]).toBeGreaterThan(Math.max(entry, interval95!.high[j]!));
      });
    }
  });

  it('loses hardly anything where nobody lies', async () => {
    expect(await errorUnder('none', 0)).toBeLessThan(0.025);
  });

  it('works in one column, and takes no more axes than columns', async () => {
    const data = dataSource('line');
    const rows =
      Array.from({ length: 20_000 }, (_, i) => Float64Array.of(i < 1_000 ? 3.5 : data.normal()));
    const plan = planOf('robust-mean', normal, factsOf(1, rows.length));
    const outcome = await releaseOf(plan, 1, rows, 'line');
    expect(outcome.kind === 'value' && Math.abs(outcome.estimate[0]!)).toBeLessThan(0.05);
    expect(plan.facts['axesAtMost']).toBe(1);
  });

  it('states intervals that hold, also where a middle is '
    + 'answered', { tags: ['long'] }, async () => {
    let inside = 0;
    for (let seed = 0; seed < 12; seed++) {
      const { values, truth } =
        makeRows('cluster', { dimension, contributors: 20_000, corruption: 0.05, seed });
      const plan = planOf('robust-mean', normal, factsOf(dimension, 20_000));
      const outcome =
        await releaseOf(plan, dimension, listOf(values, dimension), `interval ${seed}`);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      const { low, high } = outcome.interval95!;
      truth.forEach((entry, j) => { inside += low[j]! <= entry && entry <= high[j]! ? 1 : 0; });
    }
    // Of 60; were they right exactly, fewer than 48 would come once in a million.
    expect(inside).toBeGreaterThanOrEqual(48);
  });

  it.each(['any', 'light'])('gives the same release for any order of rows, any split and any '
    + 'number of threads, shape %s', { tags: ['long'] }, async (shape) => {
    const { values } = makeRows('ones', { dimension, contributors, corruption: 0.05, seed: 9 });
    const rows = listOf(values, dimension);
    const plan = planOf('robust-mean', { spread: 1, shape }, factsOf(dimension, rows.length));
    const assignmentHashes = rows.map((_, i) => {
      const bytes = new Uint8Array(32);
      seededNoise(`ticket ${i}`).fill(bytes);
      return bytes;
    });
    const means = () => ({
      mechanisms: createMechanisms(plan.events, seededNoise('order')),
      work: seededRandom(utf8('order')),
    });
    const forward = createGroups(plan, dimension);
    rows.forEach((row, i) => forward.add(assignmentHashes[i]!, row));
    const first = await releaseGroups(plan, forward, means());
    expect(first.kind).toBe('value');
    const backward = createGroups(plan, dimension);
    for (let i = rows.length - 1; i >= 0; i--) backward.add(assignmentHashes[i]!, rows[i]!);
    expect(await releaseGroups(plan, decodeGroups(plan, dimension, backward.encode()), means()))
      .toEqual(first);
    const pool = createComputePool(2);
    try {
      expect(await releaseGroups(plan, forward, { ...means(), compute: pool })).toEqual(first);
    } finally {
      await pool.close();
    }
  });

  it('charges for the worst that one row can do to every release', () => {
    const plan = planOf('robust-mean', { ...normal, radius: 6 }, factsOf(3, 10_000));
    const radius = plan.facts['clipRadiusInSpreads'] as number;
    for (const event of plan.events) {
      if (!('sensitivity' in event) || event.kind === 'exponential') continue;
      const [name, part = ''] = event.name.split('/');
      if (name!.startsWith('map')) continue;
      const right = part === 'count' ? 1
        : part === 'sum' ? 2 * radius
        : part === 'square' ? Math.SQRT2 * radius ** 2 : Math.SQRT2;
      expect(event.sensitivity / right).toBeCloseTo(1, 12);
      expect(event.sensitivity).toBeGreaterThanOrEqual(right);
    }
    expect(plan.events.map(({ name }) => name)).toEqual([
      'centre/bins', 'centre/median',
      ...[1, 2].flatMap((t) => ['count', 'sum', 'square', 'distance', 'axis-1', 'axis-2'].map(
        (part) => `look-${t}/${part}`,
      )),
      'map-1/sum', 'map-1/square', 'map-2/sum', 'map-2/square', 'map/third', 'map/refine',
      'mean/sum', 'mean/count',
    ]);
  });

  it('plans only what can be kept, and refuses where few came', async () => {
    const facts = factsOf(10, 300, 1);
    const parameters = parseParameters(robustMean.parameters, normal, facts);
    const plan = robustMean.plan(parameters, facts);
    expect(plan.kind).toBe('infeasible');
    const needed = plan.kind === 'infeasible' ? plan.cohortNeeded! : 0;
    expect(robustMean.plan(parameters, factsOf(10, needed, 1)).kind).toBe('plan');
    expect(robustMean.plan(parameters, factsOf(10, needed - 1, 1)).kind).toBe('infeasible');
    const large = planOf('robust-mean', { ...normal, corruption: 0.05 }, factsOf(10, 100_000, 1));
    expect(large.expectedError(0).total).toBeLessThan(1.3 * Math.sqrt(10 / 100_000));
    expect(large.expectedError(0.06).total).toBe(Infinity);
    const data = dataSource('few');
    const few = Array.from({ length: 4_000 }, () => data.normals(2));
    expect(await releaseOf(planOf('robust-mean', normal, factsOf(2, 20_000)), 2, few, 'few'))
      .toMatchObject({ kind: 'refused', reason: 'participation-below-plan' });
    expect(await releaseOf(planOf('robust-mean', normal, factsOf(2, 20_000)), 2, [], 'none'))
      .toMatchObject({ kind: 'refused', reason: 'centre-not-found' });
  });
});
