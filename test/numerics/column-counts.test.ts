import { describe, expect, it } from 'vitest';
import {
  countColumnBins, countColumnCells, countDistances, countPairBins, zeroBin,
} from '../../src/numerics/kernels/column-counts.js';
import { seededRandom } from '../../src/random/work.js';
import { utf8 } from '../../src/base/bytes.js';
import { countingMath } from '../support/counted-work.js';

const dimensions = Array.from({ length: 40 }, (_, i) => i + 1);
const cells = 13;

/** Mostly near the origin, some far off, some on edges, some that are no numbers. */
function entriesOf(length: number, name: string): Float64Array {
  const random = seededRandom(utf8(name));
  const odd = [Number.NaN, Infinity, -Infinity, -0, 1, -1, 2, 1e300, -1e300, 1e6];
  return Float64Array.from({ length }, () => {
    const kind = random.uniform();
    return kind < 0.1 ? odd[Math.floor(random.uniform() * odd.length)]!
      : kind < 0.9 ? 6 * random.uniform() - 3 : 4_000 * random.uniform();
  });
}

const inOrder = (bins: ReadonlyMap<number, number>): (readonly [number, number])[] =>
  [...bins].sort(([left], [right]) => left - right);

function counted(list: readonly number[]): (readonly [number, number])[] {
  const bins = new Map<number, number>();
  for (const bin of list) bins.set(bin, (bins.get(bin) ?? 0) + 1);
  return inOrder(bins);
}

describe.each([0, 1, 2, 203, 5_001])('counts of the columns of %d rows', (count) => {
  // The larger ones take several blocks, the last of them not full.
  const some = count > 1_000 ? [1, 39] : dimensions;

  it('count every entry in its bin', () => {
    for (const d of some) {
      const values = entriesOf(count * d, `bins ${d}`);
      const widths = Float64Array.from({ length: d }, (_, j) => 0.01 + j / 3);
      const found = countColumnBins(values, d, count, widths);
      const wanted = Array.from({ length: d }, (_, j) =>
        counted(Array.from({ length: count }, (_entry, i) =>
          Math.floor(values[i * d + j]! / widths[j]!) + 0)
          .filter((bin) => Math.abs(bin) <= 2 ** 52)));
      expect(found.map(inOrder)).toEqual(wanted);
    }
  });

  it('count every entry in its cell, even in cells that are too narrow', () => {
    for (const d of some) {
      const values = entriesOf(count * d, `cells ${d}`);
      const lows = Float64Array.from({ length: d }, (_, j) => -1 - j / 40);
      const rates = Float64Array.from({ length: d }, (_, j) => (j % 5 === 4 ? 1e300 : 4 + j / 7));
      const wanted = new Float64Array((cells + 2) * d);
      values.forEach((entry, at) => {
        const j = at % d;
        const place = Math.floor((entry - lows[j]!) * rates[j]!) + 1;
        if (Number.isFinite(entry)) {
          wanted[j * (cells + 2) + Math.max(0, Math.min(cells + 1, place))]! += 1;
        }
      });
      expect(countColumnCells(values, d, count, { lows, rates, cells })).toEqual(wanted);
    }
  });

  it('count every row by its distance, added up column by column', () => {
    for (const d of some) {
      // Few odd entries, so that most rows are finite.
      const values = entriesOf(count * d, `distances ${d}`).map((entry, at) =>
        (at % 7 === 0 || Math.abs(entry) < 4 ? entry : 0.5));
      const centre = Float64Array.from({ length: d }, (_, j) => j / 9 - 1);
      const unit = Float64Array.from({ length: d }, (_, j) => 0.3 + j / 5);
      const squares = Array.from({ length: count }, (_row, i) =>
        centre.reduce((sum, middle, j) =>
          sum + ((values[i * d + j]! - middle) / unit[j]!) ** 2, 0));
      // Some edges are squares themselves: these rows are not below them.
      const edges = Float64Array.from(
        [0.1, ...squares.filter(Number.isFinite).slice(0, 20), 1e9, Infinity],
      ).sort();
      const wanted = new Float64Array(edges.length + 1);
      squares.forEach((square, i) => {
        if (!values.subarray(i * d, (i + 1) * d).every(Number.isFinite)) return;
        wanted[edges.filter((edge) => square >= edge).length]! += 1;
      });
      expect(countDistances(values, d, count, { centre, unit, edges })).toEqual(wanted);
    }
  });

  it('count every pair in its bin', () => {
    for (const d of some) {
      const values = entriesOf(count * d, `pairs ${d}`);
      const pairs = Uint32Array.from({ length: count & ~1 }, (_, i) => (i * 5) % count);
      const wanted = Array.from({ length: d }, (_, j) =>
        counted(Array.from({ length: pairs.length / 2 }, (_pair, i) =>
          Math.abs(values[pairs[2 * i]! * d + j]! - values[pairs[2 * i + 1]! * d + j]!))
          .filter((difference) => difference >= 0)
          .map((difference) => (difference === 0
            ? zeroBin : Math.min(200, Math.floor(Math.log2(difference)))))));
      expect(countPairBins(values, d, pairs).map(inOrder)).toEqual(wanted);
    }
  });
});

it('counts most rows the fast way, wherever a single row is', async () => {
  const [count, dimension] = [4_000, 2];
  const random = seededRandom(utf8('near bins'));
  const values = Float64Array.from({ length: count * dimension }, () => 6 * random.uniform() - 3);
  const callsWith = async (first: number): Promise<number> => {
    values.fill(first, 0, dimension);
    const { calls } =
      await countingMath(() => countColumnBins(values, dimension, count, Float64Array.of(1, 1)));
    return calls['floor']!;
  };
  const usual = await callsWith(0);
  for (const far of [1e6, -1e9, 1e300]) {
    expect(Math.abs(await callsWith(far) - usual)).toBeLessThanOrEqual(dimension);
  }
});
