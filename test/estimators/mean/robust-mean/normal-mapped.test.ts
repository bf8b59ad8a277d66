import { describe, expect, it } from 'vitest';
import { attacks, makeRows } from '../../../../bench/accuracy/data.js';
import type { ValueOutcome } from '../../../../src/base/outcome.js';
import type { NeighbourPair } from '../../../../src/audit/index.js';
import type { Plan } from '../../../../src/estimators/contract/estimator.js';
import { isNarrow } from '../../../../src/estimators/mean/robust-mean/normal-mapped.js';
import { knownColumns } from '../../../../src/estimators/pooled/estimator.js';
import { dataSource, listOf } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';
import { sensitivityFaults } from '../../../support/sensitivity-check.js';

const [dimension, contributors] = [4, 60_000];
const facts = factsOf(dimension, contributors, 1);
const normal = { spread: 1, shape: 'light' };
const rows = { dimension, contributors, rows: 'condition-1e4', seed: 3 };

async function released(
  attack: string, kind = 'condition-1e4',
): Promise<{ readonly outcome: ValueOutcome; readonly error: number; readonly truth: number[] }> {
  const { values, honestMean, truth, inDeviations } =
    makeRows(attack, { ...rows, rows: kind, corruption: 0.05 });
  const outcome = await releaseOf(
    planOf('robust-mean', normal, facts), dimension, listOf(values, dimension), `map ${attack}`,
  );
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  const error =
    Math.hypot(...inDeviations(outcome.estimate.map((entry, j) => entry - honestMean[j]!)));
  return { outcome, error, truth: Array.from(truth) };
}

const reasons = ({ findings }: ValueOutcome) => (findings ?? []).map(({ reason }) => reason);

describe('robust-mean of normal rows in correlated columns', () => {
  it('answers clean rows, along the narrowest direction too', async () => {
    const { outcome, error } = await released('none');
    expect(error).toBeLessThan(0.015);
    expect(reasons(outcome)).toEqual([]);
  });

  it.each(['direction', 'cluster', 'near', 'spray', 'far'])(
    'sees %s, which hides in a narrow direction', async (attack) => {
      expect(Object.keys(attacks)).toContain(attack);
      const { outcome, error, truth } = await released(attack);
      // Without a map: .2 to .45, but for far and cluster.
      expect(error).toBeLessThan(0.15);
      const { low, high } = outcome.intervalIfFalse95!;
      truth.forEach((entry, j) => {
        expect(low[j]).toBeLessThan(entry);
        expect(high[j]).toBeGreaterThan(entry);
      });
    },
  );

  it('says that a cluster was left out, and where the mean of all is', async () => {
    const { outcome } = await released('direction');
    expect(reasons(outcome)).toContain('cluster-apart');
    const { amounts: [share, ...means] } =
      outcome.findings!.find(({ reason }) => reason === 'cluster-apart')!;
    expect(share).toBeGreaterThan(0.03);
    expect(share).toBeLessThan(0.07);
    expect(means).toHaveLength(dimension);
  });

  it('spends what the map does not need on the mean of uncorrelated columns', async () => {
    const plan = planOf('robust-mean', normal, facts);
    const { outcome } = await released('none', 'normal');
    if (outcome.uncertainty.kind !== 'gaussian') throw new Error('no deviation');
    // The plan states the noise for columns that need no map.
    outcome.uncertainty.standardDeviation.forEach((entry, j) =>
      expect(entry).toBeLessThan(1.02 * plan.noise[j]!));
    expect(outcome.findings).toBeUndefined();
  });

  it('charges for the worst that one row can do to the events of a map', () => {
    const right = (name: string): number => {
      if (name.startsWith('map/')) return 2 * (Math.sqrt(dimension) + 2.5);
      const radius = Math.sqrt(dimension) + 1.2;
      return name.endsWith('/sum') ? 2 * radius : Math.SQRT2 * radius ** 2;
    };
    const events = planOf('robust-mean', normal, facts).events
      .filter(({ name }) => name.startsWith('map'));
    expect(events).toHaveLength(6);
    for (const event of events) {
      if (event.kind !== 'gaussian' && event.kind !== 'symmetric-gaussian') throw new Error('?');
      expect(event.sensitivity / right(event.name), event.name).toBeGreaterThan(1 - 1e-4);
      expect(event.sensitivity / right(event.name), event.name).toBeLessThan(1 + 1e-9);
    }
    const few = planOf('robust-mean', normal, factsOf(10, 10_000, 1)).events;
    expect(few.some(({ name }) => name.startsWith('map'))).toBe(false);
  });

  it('asks queries that neighbours change by no more than was charged', async () => {
    const small = factsOf(2, 400, 60);
    const plan = planOf('robust-mean', normal, small);
    const data = dataSource('neighbours on a line');
    const common = Array.from({ length: 400 }, () => {
      const [x, y] = data.normals(2);
      return [x!, x! + 0.1 * y!];
    });
    const side = (last: readonly number[]) => ({
      count: 401, assignmentHashes: new Uint8Array(401 * 32),
      rows: Float64Array.from([...common, last].flat()),
    });
    const far = [[1e6, -1e6], [2, -2], [0.1, 30], [NaN, 0], [-1e300, -1e300]];
    const seen = new Set<string>();
    for (const [i, last] of far.entries()) {
      const pair: NeighbourPair = {
        name: `${i}`, left: side(last), right: side(far[(i + 1) % far.length]!),
      };
      const subject = {
        plan: { ...plan, release: spiedRelease(plan, seen) }, dimension: 2,
      };
      expect(await sensitivityFaults(subject, pair, 'one')).toEqual([]);
    }
    expect([...seen]).toContain('map-2/square');
    expect([...seen].filter((name) => name.startsWith('look-2/sum'))).toHaveLength(1);
  });
});

/** Notes which events are drawn. */
function spiedRelease(plan: Plan, seen: Set<string>): Plan['release'] {
  return (summaries, mechanisms, compute) => plan.release(summaries, {
    ...mechanisms,
    gaussian: (name, value) => {
      seen.add(name);
      return mechanisms.gaussian(name, value);
    },
    symmetricGaussian: (name, value) => {
      seen.add(name);
      return mechanisms.symmetricGaussian(name, value);
    },
    histogram: (name, value) => mechanisms.histogram(name, value),
    exponential: (name, value) => mechanisms.exponential(name, value),
  }, compute);
}

describe('columns are correlated', () => {
  const columns = knownColumns(new Float64Array(2).fill(1));
  const narrow = (...covariance: readonly [number, number, number]): boolean => isNarrow({
    excess: Float64Array.of(covariance[0] - 1, covariance[1], covariance[1], covariance[2] - 1),
  }, 0.05, columns);

  it('where a direction is narrower than the columns', () => {
    expect(narrow(1, 0.9, 1)).toBe(true);
    expect(narrow(0.3, 0.28, 0.3)).toBe(true);
    expect(narrow(1, 0.3, 1)).toBe(false);
  });

  it('not where columns are narrower than their spread, or noise hides them', () => {
    expect(narrow(0.2, 0, 1)).toBe(false);
    expect(narrow(0.001, 0.04, 0.001)).toBe(false);
  });

  it('not where hostile rows have widened two columns together', () => {
    expect(narrow(2.5, 1.5, 2.5)).toBe(false);
  });

  it('not by columns in which nearly all rows have one value', () => {
    const oneValue = [{ value: 0, unseenBelow: 9 }, null];
    const excess = Float64Array.of(-1, 0.9, 0.9, 0);
    expect(isNarrow({ excess }, 0.05, { ...columns, oneValue })).toBe(false);
  });
});
