import { describe, expect, it } from 'vitest';
import { pow } from '../../../src/base/elementary.js';
import {
  farCells, farCounts, farRadius, farthest, intervalFrom, normalCells, readFarRows,
  type FarRows,
} from '../../../src/estimators/pooled/far-rows.js';
import { clusterSeenFrom } from '../../../src/estimators/pooled/far-side.js';

const sigma = 10;
const people = 10_000;
/** Noise of the sum for a radius of 1. */
const noise = 15;

/** Counts without noise: rows at these distances from the centre, which may be negative. */
function countsOf(rows: readonly (readonly [at: number, people: number])[]): Float64Array {
  const counts = new Float64Array(farCells);
  for (const [at, count] of rows) {
    farCounts({ count: 1, dimension: 1, values: Float64Array.of(at) }, 0)
      .forEach((one, cell) => { counts[cell]! += one * count; });
  }
  return counts;
}

const read = (
  rows: readonly (readonly [at: number, people: number])[], isLattice = false,
): FarRows => readFarRows({ counts: countsOf(rows), sigma, rows: people, isLattice });

/** About normal, out to 2.4 on both sides. */
const core = [
  [0.5, 3_400], [1.1, 700], [1.3, 560], [1.5, 400], [2.2, 140],
  [-0.5, 3_400], [-1.1, 700], [-1.3, 560], [-1.5, 400], [-2.2, 140],
] as const;

describe('the cells of one column', () => {
  it('have each row once, on its side of the centre, and rows that are not finite never', () => {
    const values = Float64Array.of(5.5, 4.5, 6, 1e9, -1e9, NaN, Infinity, 5);
    const counts = farCounts({ count: 8, dimension: 1, values }, 5);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(6);
    const half = farCells / 2;
    expect([counts[0], counts[half], counts[1], counts[half - 1], counts[farCells - 1]])
      .toEqual([2, 1, 1, 1, 1]);
  });

  it('begin at their edges, to the last bit', () => {
    // Quarters of an octave from 1 to 8, then halves to 16, then octaves: 27 cells on each side.
    const quarters = [
      ...Array.from({ length: 9 }, (_, quarter) => quarter), 10, 12, 14,
      ...Array.from({ length: 14 }, (_, octave) => 16 + 4 * octave),
    ];
    const edges = quarters.map((quarter) => pow(2, quarter / 4));
    expect(edges.length).toBe(farCells / 2 - 1);
    const bits = (value: number, step: bigint): number => {
      const view = new BigUint64Array(Float64Array.of(value).buffer);
      view[0]! += step;
      return new Float64Array(view.buffer)[0]!;
    };
    const places = edges.flatMap((edge) => [
      bits(edge, -1n), edge, bits(edge, 1n), edge * 1.1, edge * 1.3,
    ]);
    for (const place of [0, 1e-320, 1e-9, 0.5, 1e300, Number.MAX_VALUE, ...places]) {
      const cell = edges.filter((edge) => place >= edge).length;
      for (const side of [0, 1]) {
        const counts = farCounts(
          { count: 1, dimension: 1, values: Float64Array.of(side === 0 ? place : -place) }, 0,
        );
        const isBelow = side === 1 && place > 0;
        expect(counts.indexOf(1), `${place}`).toBe(cell + (isBelow ? farCells / 2 : 0));
      }
    }
  });

  it('move by at most one up and one down if a row is replaced, comes or goes', () => {
    const places = [-1e300, -farthest, -7, -1, 0, 0.3, 1, 2.5, 11, 1e5, 1e8, NaN];
    const countsAt = (values: readonly number[]): Float64Array => farCounts(
      { count: values.length, dimension: 1, values: Float64Array.from(values) }, 0.25,
    );
    for (const before of places) {
      for (const after of places) {
        const [one, two] = [countsAt([3, before]), countsAt([3, after])];
        const moves = one.map((count, cell) => two[cell]! - count);
        expect(Math.hypot(...moves)).toBeLessThanOrEqual(Math.SQRT2);
      }
    }
  });
});

describe('far rows', () => {
  it('are seen from the number of people that the noise cannot hide, times 150', () => {
    expect(clusterSeenFrom(normalCells(10.1))).toBe(50);
    expect(intervalFrom(10.1)).toBe(7_500);
  });

  it('are counted to the end of the tail, and apart from it only where they are sure', () => {
    const clean = read(core);
    expect([clean.above.tailEnd, clean.above.windows, clean.above.openFrom])
      .toEqual([Math.pow(2, 1.25), [], null]);
    const possible = read([...core, [100, 36]]);
    expect(possible.above.windows).toMatchObject([{ from: 64, to: 128, isSure: false }]);
    expect(possible.above.windows[0]!.rows).toBeCloseTo(36 + 16.4, 0);
    expect(possible.above.excess(4).sum).toBeCloseTo(clean.above.excess(4).sum, 9);
    const sure = read([...core, [100, 90]]);
    expect(sure.above.windows).toMatchObject([{ from: 64, to: 128, isSure: true, isApart: true }]);
    // The tail does not begin anew behind a gap.
    expect(sure.above.tailEnd).toBe(clean.above.tailEnd);
    expect(sure.above.excess(4).sum - clean.above.excess(4).sum).toBeCloseTo(90 * (96 - 4), 6);
  });

  it('widen the end of their own side alone', () => {
    for (const [side, other, sign] of [['above', 'below', 1], ['below', 'above', -1]] as const) {
      for (const count of [36, 90]) {
        const [clean, far] = [read(core), read([...core, [sign * 100, count]])];
        const more = (of: 'above' | 'below'): number =>
          far[of].allowance(4).more - clean[of].allowance(4).more;
        expect(more(side)).toBeGreaterThan(1_000);
        expect(more(other)).toBe(0);
        expect(far[other].excess(4)).toEqual(clean[other].excess(4));
      }
    }
  });

  it('have no say in the radius where noise may look like them', () => {
    const clean = farRadius(read(core), noise);
    expect(clean).toBeLessThan(4);
    for (const at of [10, 100, 8_192, 60_000]) {
      expect(farRadius(read([...core, [at, 36]]), noise)).toBe(clean);
    }
    expect(farRadius(read([...core, [10, 900]]), noise)).toBeGreaterThan(clean);
  });

  it('must stand out more the farther out they are', () => {
    const isSureAt = (at: number, count: number): boolean | undefined =>
      read([...core, [at, count]]).above.windows[0]?.isSure;
    expect([20, 1_000, 40_000].map((at) => isSureAt(at, 45))).toEqual([true, false, false]);
    expect([20, 1_000, 40_000].map((at) => isSureAt(at, 55))).toEqual([true, true, false]);
    expect([20, 1_000, 40_000].map((at) => isSureAt(at, 75))).toEqual([true, true, true]);
  });

  it('may have others beside them that do not stand out', () => {
    const alone = read([...core, [100, 90]]).above.allowance(4);
    const beside = read([...core, [100, 90], [200, 20]]).above.allowance(4);
    expect(beside.more - alone.more).toBeGreaterThan(20 * (256 - 4) - 1e-6);
    const none = read(core).above.allowance(4);
    expect(alone.more - none.more).toBeCloseTo(16.4485 * (60 + 252), 0);
    // The whole width of a group: all of its rows may stand at one edge.
    expect(alone.eitherWay - none.eitherWay).toBeCloseTo(90 * 32, 6);
  });

  it('may stand at one edge of a cell where a tail rises again, though no gap is before it', () => {
    const tail = [...core, [3, 300], [5, 250], [7, 200], [10, 180], [14, 120]] as const;
    const allowed = (people: number): number =>
      read([...tail, [18, people]]).above.allowance(8).eitherWay;
    const [falling, rising] = [allowed(250), allowed(500)];
    // The middle of 16 to 32 may be off by 8.
    expect(rising).toBeGreaterThan(500 * 8);
    expect(falling).toBeLessThan(250 * 8);
  });

  it('are seen from fewer people on where the other side has some apart', () => {
    expect(read([...core, [-100, 25]]).below.windows).toEqual([]);
    for (const side of [1, -1]) {
      const { above, below } = read([...core, [100 * side, 40], [-100 * side, 25]]);
      expect([above, below].map(({ windows }) => windows.length)).toEqual([1, 1]);
    }
  });

  it('open the end where they reach into the last cell', () => {
    expect(read([...core, [1e9, 30]]).above.openFrom).toBeNull();
    expect(read([...core, [1e9, 40]]).above.openFrom).toBe(farthest);
    expect(read([...core, [-1e9, 40]]).below.openFrom).toBe(farthest);
    expect(read([...core, [-1e9, 40]]).above.openFrom).toBeNull();
    // Fewer open an end where the other one is open: groups far out are often on both sides.
    for (const sign of [1, -1]) {
      const both = read([...core, [sign * 1e9, 40], [-sign * 1e9, 26]]);
      expect([both.above.openFrom, both.below.openFrom]).toEqual([farthest, farthest]);
    }
    expect(read([...core, [1e9, 40], [-1e9, 20]]).below.openFrom).toBeNull();
    // Half of a cluster in the cell before it, or all of it.
    expect(read([...core, [1e5, 30], [2e5, 30]]).above.openFrom).toBe(farthest / 2);
    expect(read([...core, [1e5, 200]]).above.openFrom).toBe(farthest / 2);
  });

  it('vary as rows that fill their cells do, and those of few values at most so', () => {
    expect(read([[0.5, people]]).square).toBeCloseTo(1 / 3, 12);
    expect(read([[0.5, people]], true).square).toBe(1);
    expect(read([[0.5, 9_000], [24, 1_000]]).square)
      .toBeCloseTo(0.3 + 0.1 * (16 ** 2 + 16 * 32 + 32 ** 2) / 3, 9);
  });

  it('past the end of a tail follow its fall, and are more where no fall is seen', () => {
    const steep = read([
      [0.5, 7_000], [1.1, 600], [1.3, 500], [1.5, 400], [1.9, 300], [2.2, 150], [2.6, 60],
      [3.1, 40],
    ]).above.allowance(2).forRadius;
    const slow = read([
      [0.5, 7_000], [1.1, 350], [1.3, 340], [1.5, 330], [1.9, 320], [2.2, 310], [2.6, 300],
      [3.1, 290],
    ]).above.allowance(2).forRadius;
    expect(slow).toBeGreaterThan(steep);
    expect(steep).toBeGreaterThan(0);
  });
});
