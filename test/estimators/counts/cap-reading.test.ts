import { describe, expect, it } from 'vitest';
import { aboveAt, capsTried } from '../../../src/estimators/counts/sum/cap-ladder.js';
import {
  coreFrom, readCap, type CapReader, type CapReading,
} from '../../../src/estimators/counts/sum/cap-reading.js';
import { cellNoise } from '../../../src/estimators/counts/sum/cell-noise.js';
import { countNoise } from '../../../src/estimators/counts/tables/count-noise.js';
import { normalCells } from '../../../src/estimators/pooled/far-rows.js';
import { clusterSeenFrom } from '../../../src/estimators/pooled/far-side.js';
import { resolvePureTarget } from '../../../src/privacy/accounting/target.js';
import { dataSource } from '../../support/data.js';

const noise = normalCells(10);
const reader: CapReader = { noise, columns: 1, cohort: 10_000, totalHalf: 40, cellHalf: 19.6 };

/** Counts without noise: so many people in the cells from this one on. */
function read(
  from: number, people: readonly number[], far: readonly (readonly [number, number])[] = [],
): CapReading | null {
  const counts = new Float64Array(aboveAt + 1);
  people.forEach((count, i) => { counts[from + i] = count; });
  for (const [cell, count] of far) counts[cell]! += count;
  return readCap(counts, reader);
}
/** A tail that falls to a fourth by octave. */
const falling = [2_000, 1_500, 900, 450, 225, 112, 56, 28];

describe('the cells of a total', () => {
  it('have no cap where none of them stands out, and one at the end of one cell', () => {
    expect(read(20, [])).toBeNull();
    expect(read(20, [Math.floor(coreFrom(reader))])).toBeNull();
    expect(read(0, [9_000, 0, 0])).toBeNull();
    expect(read(20, [5_000])).toMatchObject({ cap: 20, excess: 0, weight: 0, windows: [] });
    expect(read(capsTried - 1, [5_000])).toMatchObject({ cap: capsTried - 1, more: 0 });
  });

  it('put the cap where noise and what is above it balance, and add what is above', () => {
    const { cap, excess, half, more } = read(20, falling)!;
    expect(cap).toBeGreaterThan(22);
    expect(cap).toBeLessThan(28);
    // In caps: rows above it at the middle of their cells.
    const seen = falling.reduce((sum, count, i) => {
      const [low, high] = [2 ** ((20 + i - cap - 1) / 2), 2 ** ((20 + i - cap) / 2)];
      return sum + (i <= 6 ? count * Math.max(0, (low + high) / 2 - 1) : 0);
    }, 0);
    expect(Math.abs(excess - seen)).toBeLessThan(40);
    expect(half).toBeGreaterThan(4);
    expect(more).toBeGreaterThan(28 * 2 ** ((27 - cap) / 2) - 28);
  });

  it('reach to capMax where the core may be noise, and less where it surely is none', () => {
    const least = coreFrom(reader);
    /** Up to which value in caps one person at least is allowed for. */
    const shareOfMost = (people: number): number =>
      read(20, [people])!.more / 2 ** ((capsTried - 1 - 20) / 2);
    // Real costs of which no cell has more than 17 people were once read so.
    expect(shareOfMost(least + 1)).toBeGreaterThan(noise.upper(0.05, 1));
    expect(shareOfMost(least + noise.upper(0.05, 2) - 1)).toBeGreaterThan(noise.upper(0.05, 1));
    expect(shareOfMost(5 * least)).toBeLessThan(1e-3);
  });

  it('count a group that stands apart for sure, and allow for one that is possible', () => {
    const plain = read(20, falling)!;
    const sure = read(20, falling, [[50, 90]])!;
    const unit = 2 ** ((50 - sure.cap) / 2);
    expect(sure.windows).toMatchObject([{ isSure: true, isApart: true, rows: 90 }]);
    expect(sure.excess).toBeGreaterThan(80 * (0.85 * unit - 1));
    expect(sure.more).toBeGreaterThan(plain.more);
    const possible = read(20, falling, [[50, 40]])!;
    expect(possible.windows).toMatchObject([{ isSure: false, isApart: true }]);
    expect({ ...possible, more: 0, windows: [] }).toEqual({ ...plain, more: 0, windows: [] });
    expect(possible.more - plain.more)
      .toBeGreaterThan(40 * (2 ** ((50 - possible.cap) / 2) - 1));
    // Beside either, an octave on each side may hold people of the group.
    const alone = (40 + noise.upper(0.05, 1)) * (2 ** ((50 - possible.cap) / 2) - 1);
    expect(possible.more - plain.more).toBeGreaterThan(1.5 * alone);
  });

  it('never count anybody for more than capMax', () => {
    const { cap, more } = read(56, falling)!;
    const most = 2 ** ((capsTried - 1 - cap) / 2);
    const people = falling.slice(-2).reduce((sum, count) => sum + count, 0) + 100;
    expect(more).toBeLessThan(people * (most - 1));
  });
});

describe('the noise of cells', () => {
  it('under Laplace noise is above its upper points as often as they say', () => {
    const epsilon = 1;
    const cells = countNoise({
      name: 'cells', counts: 1, l1: 2, l2: Math.SQRT2, share: 0.3,
      target: resolvePureTarget({ epsilon, delta: 0 }),
    });
    const laplaceNoise = cellNoise(cells);
    const upper = (chance: number, together: number): number =>
      laplaceNoise.upper(chance, together);
    const scale = 2 / (0.3 * epsilon);
    expect(upper(0.05, 1)).toBeCloseTo(scale * Math.log(10) + 1, 2);
    // The tail of two is (2 + x) exp(-x) / 4 scales.
    const two = (upper(1e-3, 2) - 2) / scale;
    expect((2 + two) * Math.exp(-two) / 4).toBeCloseTo(1e-3, 7);
    const data = dataSource('laplace sums');
    const laplace = (): number => (data.uniform() < 0.5 ? 1 : -1) * Math.log(1 - data.uniform());
    const runs = 200_000;
    for (const [together, chance] of [[1, 0.05], [2, 0.05], [4, 0.01], [5, 0.02]] as const) {
      const from = (upper(chance, together) - together) / scale;
      let above = 0;
      for (let run = 0; run < runs; run++) {
        let sum = 0;
        for (let i = 0; i < together; i++) sum += laplace();
        above += Number(sum > from);
      }
      // Five standard errors: false about once in a million.
      expect(Math.abs(above / runs - chance)).toBeLessThan(5 * Math.sqrt(chance / runs));
    }
  });

  it('says from how many people on a group is seen', () => {
    const cells = (epsilon: number) => cellNoise(countNoise({
      name: 'cells', counts: 1, l1: 2, l2: Math.SQRT2, share: 0.3,
      target: resolvePureTarget({ epsilon, delta: 0 }),
    }));
    expect(clusterSeenFrom(cells(1))).toBe(64);
    expect(clusterSeenFrom(cells(0.5))).toBe(125);
  });
});
