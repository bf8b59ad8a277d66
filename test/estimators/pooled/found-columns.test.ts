import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../../src/base/brands.js';
import type { Outcome } from '../../../src/base/outcome.js';
import { doublings, zeroBin } from '../../../src/numerics/kernels/column-counts.js';
import { createMechanisms } from '../../../src/privacy/mechanisms/index.js';
import { atomEvents, privateAtoms, type Atom } from '../../../src/privacy/stages/atoms.js';
import type { RowBlock } from '../../../src/privacy/stages/rows.js';
import { seededNoise } from '../../../src/random/insecure.js';
import { dataSource } from '../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../support/offline.js';
import { recordingMechanisms } from '../../support/recording-mechanisms.js';

const means: readonly (readonly [name: string, cohort: number, set: Readonly<object>])[] = [
  ['mean', 8_000, {}], ['robust-mean', 8_000, {}], ['prime', 8_000, {}],
  ['prime', 8_000, { directions: 'one' }], ['stable-mean', 8_000, {}],
  ['stable-mean', 8_000, { variant: 'reference' }], ['populous-mean', 8_000, {}],
  ['resilience', 100_000, {}], ['tukey-median', 100_000, {}],
];

/** A normal column, and one with `rare` in a share of the rows and 7 in the others. */
function rowsOf(seed: string, count: number, share: number, rare = 8): Float64Array[] {
  const data = dataSource(seed);
  return Array.from({ length: count }, () =>
    Float64Array.of(data.normals(1)[0]!, data.below(1_000) < 1_000 * share ? rare : 7));
}

function valueOf(outcome: Outcome): Outcome & { kind: 'value' } {
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return outcome;
}

describe.each(means)('%s, %d people, %o', (name, cohort, set) => {
  it('answers a column of one value by it, and the others as usual', async () => {
    const plan = planOf(name, { ...set }, factsOf(2, cohort));
    const outcome = valueOf(await releaseOf(plan, 2, rowsOf(name, cohort, 0), `one ${name}`));
    expect(outcome.estimate[1]).toBe(7);
    expect(Math.abs(outcome.estimate[0]!)).toBeLessThan(0.5);
    const findings = outcome.findings!.filter(({ reason }) => reason !== 'interval-assumes');
    expect(findings).toEqual([
      { reason: 'mostly-one-value', columns: [1], amounts: [7, expect.any(Number)] },
    ]);
    if (outcome.uncertainty.kind === 'grid') {
      // Of the other column.
      expect(outcome.uncertainty.spacing).toBeLessThan(1);
      return;
    }
    expect(outcome.uncertainty).toEqual({
      kind: 'gaussian', standardDeviation: [expect.any(Number), 0],
    });
    const { low, high } = outcome.interval95!;
    expect([low[1], high[1]]).toEqual([-Infinity, Infinity]);
    expect(Number.isFinite(low[0]) && Number.isFinite(high[0])).toBe(true);
  });
});

it('names a discrete column, and finds its mean', async () => {
  const plan = planOf('mean', {}, factsOf(2, 20_000));
  const outcome = valueOf(await releaseOf(plan, 2, rowsOf('rare', 20_000, 0.05), 'rare'));
  expect(outcome.findings).toContainEqual({ reason: 'discrete', columns: [1], amounts: [] });
  expect(Math.abs(outcome.estimate[1]! - 7.05)).toBeLessThan(0.02);
});

it('finds ten columns in which one row in a hundred differs, with intervals', async () => {
  const [columns, count, share] = [10, 50_000, 0.01];
  const data = dataSource('ten rare');
  const rows = Array.from({ length: count }, () =>
    Float64Array.from({ length: columns }, () => (data.below(1_000) < 1_000 * share ? 1 : 0)));
  const plan = planOf('robust-mean', {}, factsOf(columns, count));
  const release = await releaseOf(plan, columns, rows, 'ten rare');
  const { spread, estimate, interval95 } = valueOf(release);
  const deviation = Math.sqrt(share * (1 - share));
  for (let j = 0; j < columns; j++) {
    expect(spread![j]! / deviation).toBeGreaterThan(0.8);
    expect(spread![j]! / deviation).toBeLessThan(2);
    expect(Math.abs(estimate[j]! - share)).toBeLessThan(0.03 * deviation);
    expect(interval95!.low[j]).toBeLessThan(share);
    expect(interval95!.high[j]).toBeGreaterThan(share);
    expect(interval95!.high[j]).toBeLessThan(share + 0.5 * deviation);
  }
});

it('states no interval for a column whose end is not seen, and says why', async () => {
  const data = dataSource('no end');
  const rows = Array.from({ length: 40_000 }, () => Float64Array.of(
    data.normals(1)[0]!, data.below(100) < 2 ? (1 - data.uniform()) ** -2 : 0,
  ));
  const outcome = valueOf(await releaseOf(planOf('mean', {}, factsOf(2, 40_000)), 2, rows, 'end'));
  expect(outcome.findings).toContainEqual({ reason: 'end-unseen', columns: [1], amounts: [] });
  const { low, high } = outcome.interval95!;
  expect([low[1], high[1]]).toEqual([-Infinity, Infinity]);
  expect(high[0]! - low[0]!).toBeLessThan(Infinity);
  expect(outcome.spread![1]).toBeGreaterThan(0);
});

it('refuses a covariance with a column of one value, and names it', async () => {
  const plan = planOf('stable-covariance', {}, factsOf(2, 60_000));
  const outcome = await releaseOf(plan, 2, rowsOf('covariance', 60_000, 0), 'covariance');
  expect(outcome).toMatchObject({ kind: 'refused', reason: 'spread-not-found' });
  expect(outcome.kind === 'refused' && outcome.text).toContain('column 2 ');
});

const dimension = 9;
const options = {
  cohort: 'rows', dimension, rho: { value: 0.01, octaves: 0.01 }, delta: 1e-7,
} as const;
const events = atomEvents(options);
const both = [events.value, events.octaves];

/** Rows in which every column is `usual` but for a share of the rows. */
function block(seed: string, count: number, share: number, rare: () => number): RowBlock {
  const data = dataSource(seed);
  const values = Float64Array.from({ length: count * dimension }, () =>
    (data.below(1_000) < 1_000 * share ? rare() : 7));
  return { count, dimension, values };
}

function atomsOf(rows: RowBlock, asked: readonly number[], seed: string): readonly Atom[] {
  const mechanisms = createMechanisms(both, seededNoise(seed));
  return privateAtoms(mechanisms, Sensitive.of(rows), dimension, asked, events, 0.05).value;
}

describe('the atoms of columns', () => {
  it.each([[[0]], [[0, 3]], [[0, 1, 2, 3]], [[0, 1, 2, 3, 4, 5, 6, 7, 8]]])(
    'change within their sensitivities by one row, asked about %j', (asked) => {
      const rows = block('atoms', 4_000, 0.02, () => 9);
      // The first row differs in every column, and goes to other doublings in every column.
      rows.values.fill(9, 0, dimension);
      const changed = { ...rows, values: rows.values.slice().fill(1e6, 0, dimension) };
      const [left, right] = [rows, changed].map((one) => {
        const { mechanisms, recorded } = recordingMechanisms(both);
        privateAtoms(mechanisms, Sensitive.of(one), dimension, asked, events, 0.05);
        return recorded.map(({ content }) => content);
      }) as [unknown[], unknown[]];
      const [valuesLeft, valuesRight] =
        [left[0], right[0]] as unknown as ReadonlyMap<number, number>[][];
      valuesLeft!.forEach((bins, j) => {
        const keys = new Set([...bins.keys(), ...valuesRight![j]!.keys()]);
        const gaps = [...keys].map((key) =>
          Math.abs((bins.get(key) ?? 0) - (valuesRight![j]!.get(key) ?? 0)));
        expect(Math.max(0, ...gaps)).toBe(asked.includes(j) ? 1 : 0);
        expect(gaps.filter((gap) => gap > 0)).toHaveLength(asked.includes(j) ? 2 : 0);
      });
      const [before, after] = [left[1], right[1]] as Float64Array[];
      const moved = Math.hypot(...before!.map((entry, i) => entry - after![i]!));
      expect(moved).toBeGreaterThan(0);
      expect(moved).toBeLessThanOrEqual(events.octaves.sensitivity);
      // Weights go as far as the sensitivity allows.
      expect(moved).toBeGreaterThan(0.99 * events.octaves.sensitivity);
    });

  it('are the spread where the other rows are seen, and else the value', () => {
    const [found] = atomsOf(block('seen', 20_000, 0.05, () => 8), [0], 'seen');
    expect(found).toMatchObject({ kind: 'spread', isEndSeen: true });
    if (found!.kind !== 'spread') return;
    expect(found!.spread / Math.sqrt(0.05 * 0.95)).toBeGreaterThan(1.2);
    expect(found!.spread / Math.sqrt(0.05 * 0.95)).toBeLessThan(1.6);
    const hidden = atomsOf(block('hidden', 20_000, 0.002, () => 8), [0, 4], 'hidden');
    for (const atom of hidden) expect(atom).toMatchObject({ kind: 'one-value', value: 7 });
    const [one] = hidden;
    if (one!.kind !== 'one-value') return;
    expect(one!.unseenBelow).toBeGreaterThan(40);
    expect(one!.unseenBelow).toBeLessThan(500);
  });

  /** The middle one: noise beside the true doubling widens some. */
  function middleSpread(atoms: readonly Atom[]): number {
    const spreads = atoms.map((atom) => (atom.kind === 'spread' ? atom.spread : 0));
    return spreads.sort((left, right) => left - right)[Math.floor(spreads.length / 2)]!;
  }
  const all = Array.from({ length: dimension }, (_, j) => j);

  it('see a hundredth of the rows in each of nine columns', () => {
    // Noise has a standard deviation of 14 rows: 200 rows are 8.8 above the threshold.
    const atoms = atomsOf(block('rare', 20_000, 0.01, () => 8), all, 'rare');
    expect(atoms.map(({ kind }) => kind)).toEqual(all.map(() => 'spread'));
    const deviations = middleSpread(atoms) / Math.sqrt(0.01 * 0.99);
    expect(deviations).toBeGreaterThan(1.2);
    expect(deviations).toBeLessThan(1.6);
  });

  it('are smaller by the stated factor where the same rows differ in all columns', () => {
    const data = dataSource('same rows');
    const rows = block('same rows', 20_000, 0, () => 7);
    for (let i = 0; i < rows.count; i++) {
      if (data.below(100) < 4) rows.values.fill(8, i * dimension, (i + 1) * dimension);
    }
    const alone = middleSpread(all.map((column) => atomsOf(rows, [column], `${column}`)[0]!));
    const factor = middleSpread(atomsOf(rows, all, 'same rows')) / alone;
    expect(factor / (2 / dimension) ** 0.25).toBeGreaterThan(0.9);
    expect(factor / (2 / dimension) ** 0.25).toBeLessThan(1.1);
  });

  it('are the spread of rows that are few in every doubling', () => {
    const data = dataSource('doublings');
    // About 49 rows in each of 16 doublings. One alone is seen from 54 rows on.
    const rows = block('doublings', 20_000, 0.04, () => 7 + 2 ** (16 * data.uniform()));
    const [found] = atomsOf(rows, [0], 'doublings');
    expect(found!.kind).toBe('spread');
    // The deviation: 2 ** 16 sqrt(.04 / (2 * 16 * ln 2)).
    if (found!.kind !== 'spread') return;
    expect(Math.abs(Math.log2(found!.spread / 2_783))).toBeLessThan(1);
  });

  it('say that a tail without an end has none', () => {
    const data = dataSource('no end');
    const rows = block('no end', 20_000, 0.065, () => 7 + (1 - data.uniform()) ** -2);
    expect(atomsOf(rows, [0], 'no end')[0]).toMatchObject({ kind: 'spread', isEndSeen: false });
  });

  it('leave out a far cluster that hostile rows can be, behind an empty doubling', () => {
    const data = dataSource('crowd');
    const cluster = block('crowd', 20_000, 0.09, () => (data.below(2) === 0 ? 8 : 1e9));
    const [found] = atomsOf(cluster, [0], 'crowd');
    expect(found).toMatchObject({ kind: 'spread' });
    if (found!.kind === 'spread') expect(found!.spread).toBeLessThan(1);
  });

  it('are unknown where no value is common, and never show the value of one row', () => {
    const data = dataSource('spread');
    const rows = block('spread', 4_000, 1, () => data.normals(1)[0]!);
    expect(atomsOf(rows, [0], 'spread')).toEqual([{ kind: 'unknown' }]);
  });

  it('count every octave, also the first and the last', () => {
    const { mechanisms, recorded } = recordingMechanisms(both);
    const rows = block('ends', 6_000, 0, () => 0);
    rows.values.set([7, 7 + 2 ** -40, 1e300, -1e300, Infinity, Number.NaN, 6, 9, 7]);
    privateAtoms(mechanisms, Sensitive.of(rows), dimension, all, events, 0.05);
    const counts = recorded[1]!.content as Float64Array;
    const bins = all.map((j) => {
      const place = counts.subarray(j * doublings, (j + 1) * doublings).findIndex((own) => own > 0);
      return place < 0 ? null : place + zeroBin;
    });
    expect(bins).toEqual([null, -40, 200, 200, 200, null, 0, 1, null]);
  });
});

// Hostile or honest: some rows are in the open last bin of the histogram of distances.
it.each([['mean', { spread: 1 }], ['prime-heavy', { spread: 1 }], ['robust-mean', {
  spread: 1, corruption: 0.01,
}]])('%s says why it has no interval for rows that are too far out to be placed', async (
  name, parameters,
) => {
  const data = dataSource('too far');
  const rows = Array.from({ length: 20_000 }, (_, i) =>
    Float64Array.of(data.normal(), i % 10 === 0 ? 1e9 * data.normal() : data.normal()));
  const outcome = valueOf(await releaseOf(planOf(name, parameters, factsOf(2, 20_000)), 2, rows,
    `too far ${name}`));
  expect(outcome.interval95!.high).toEqual([Infinity, Infinity]);
  expect(outcome.findings).toContainEqual({ reason: 'end-unseen', columns: [0, 1], amounts: [] });
});
