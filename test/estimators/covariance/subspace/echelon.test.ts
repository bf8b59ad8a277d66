import { describe, expect, it } from 'vitest';
import { basisOfLabel, Echelon } from '../../../../src/estimators/covariance/subspace/echelon.js';
import { projectorOf } from '../../../../src/estimators/covariance/subspace/projector.js';
import { dataSource, shuffled, type DataSource } from '../../../support/data.js';

function spanOf(rows: readonly (readonly number[])[]): Echelon {
  const echelon = new Echelon(rows[0]!.length);
  for (const row of rows) echelon.add(row.map((entry) => BigInt(entry)));
  return echelon;
}

/** Whole combinations of `rank` random rows. */
function rowsOfRank(
  data: DataSource, rank: number, dimension: number, count: number, size: number,
): number[][] {
  const random = (): number => data.below(2 * size + 1) - size;
  const generators = Array.from({ length: rank }, () => Array.from({ length: dimension }, random));
  return Array.from({ length: count }, () => {
    const factors = generators.map(random);
    return Array.from({ length: dimension }, (_, j) =>
      generators.reduce((sum, row, i) => sum + factors[i]! * row[j]!, 0));
  });
}

/** Elimination modulo a large prime: another road to the rank. */
function rankModulo(rows: readonly (readonly number[])[], prime = (1n << 61n) - 1n): number {
  const left = rows.map((row) => row.map((entry) => ((BigInt(entry) % prime) + prime) % prime));
  const power = (base: bigint, exponent: bigint): bigint => {
    let [result, square] = [1n, base];
    for (let rest = exponent; rest > 0n; rest >>= 1n) {
      if ((rest & 1n) === 1n) result = (result * square) % prime;
      square = (square * square) % prime;
    }
    return result;
  };
  let rank = 0;
  for (let column = 0; column < rows[0]!.length; column++) {
    const pivot = left.findIndex((row, i) => i >= rank && row[column] !== 0n);
    if (pivot < 0) continue;
    [left[rank], left[pivot]] = [left[pivot]!, left[rank]!];
    const inverse = power(left[rank]![column]!, prime - 2n);
    for (let i = rank + 1; i < left.length; i++) {
      const factor = (left[i]![column]! * inverse) % prime;
      left[i] =
        left[i]!.map((entry, j) => (((entry - factor * left[rank]![j]!) % prime) + prime) % prime);
    }
    rank += 1;
  }
  return rank;
}

describe('Echelon', () => {
  it('has one label for a subspace, whatever rows of it came and in which order', () => {
    const data = dataSource('one label');
    for (let round = 0; round < 40; round++) {
      const dimension = 2 + data.below(7);
      const rank = 1 + data.below(dimension);
      const rows = rowsOfRank(data, rank, dimension, 2 * dimension, 30);
      const whole = spanOf(rows);
      expect(whole.rank).toBe(rankModulo(rows));
      expect(spanOf(shuffled(rows, data)).label()).toBe(whole.label());
      // Sums of rows with rows span the same, as do multiples.
      const mixed =
        rows.map((row, i) => row.map((entry, j) => 7 * entry + (i === 0 ? 0 : rows[i - 1]![j]!)));
      expect(spanOf([...mixed, ...rows]).label()).toBe(whole.label());
      expect(spanOf(basisOfLabel(whole.label()).map((row) => row.map(Number))).label())
        .toBe(whole.label());
    }
  });

  it('tells subspaces apart that differ by one part in 10^12', () => {
    const million = 1_000_000;
    expect(spanOf([[million, million]]).label()).toBe(spanOf([[1, 1]]).label());
    expect(spanOf([[million, million + 1]]).label()).not.toBe(spanOf([[1, 1]]).label());
    const huge = 2 ** 40;
    const close = [[huge, huge - 1, 1], [huge - 1, huge - 2, 1]];
    expect(spanOf(close).rank).toBe(2);
    // The third is the difference of the others; one more in its last entry is not.
    expect(spanOf([...close, [1, 1, 0]]).rank).toBe(2);
    expect(spanOf([...close, [1, 1, 1]]).rank).toBe(3);
  });

  it('knows the echelon form by hand', () => {
    expect(spanOf([[2, 4, 1, 0], [1, 2, 0, 3]]).label()).toBe('1 2 0 3;0 0 1 -6');
    expect(spanOf([[0, 0, 5], [0, -3, 0]]).label()).toBe('0 1 0;0 0 1');
    expect(spanOf([[0, 0]]).label()).toBe('');
    expect(basisOfLabel('')).toEqual([]);
    expect(basisOfLabel('1 -zz')).toEqual([[1n, -1295n]]);
  });

  it('stays exact with long integers: 12 rows of 53 bits', () => {
    const data = dataSource('long');
    const rows =
      Array.from({ length: 12 }, () => Array.from({ length: 16 }, () => data.below(2 ** 53)));
    const whole = spanOf(rows);
    expect(whole.rank).toBe(12);
    expect(spanOf([...rows].reverse()).label()).toBe(whole.label());
    whole.add(rows[0]!.map((entry, j) => BigInt(entry) - 3n * BigInt(rows[1]![j]!)));
    expect(whole.rank).toBe(12);
    whole.add(rows[0]!.map((entry, j) => BigInt(entry) + (j === 15 ? 1n : 0n)));
    expect(whole.rank).toBe(13);
  });
});

describe('projectorOf', () => {
  it('is symmetric, idempotent, keeps the rows and has the rank for its trace', () => {
    const data = dataSource('projector');
    for (let round = 0; round < 20; round++) {
      const dimension = 1 + data.below(7);
      const rows = rowsOfRank(data, 1 + data.below(dimension), dimension, dimension + 2, 1_000);
      const span = spanOf(rows);
      const projector = projectorOf(basisOfLabel(span.label()), dimension);
      const at = (i: number, j: number): number => projector[i * dimension + j]!;
      let trace = 0;
      for (let i = 0; i < dimension; i++) {
        trace += at(i, i);
        for (let j = 0; j < dimension; j++) {
          expect(at(i, j)).toBe(at(j, i));
          let square = 0;
          for (let k = 0; k < dimension; k++) square += at(i, k) * at(k, j);
          expect(square).toBeCloseTo(at(i, j), 13);
        }
      }
      expect(trace).toBeCloseTo(span.rank, 12);
      for (const row of rows) {
        const size = Math.max(1, ...row.map(Math.abs));
        row.forEach((entry, i) => {
          const image = row.reduce((sum, other, j) => sum + at(i, j) * other, 0);
          expect(Math.abs(image - entry) / size).toBeLessThan(1e-13);
        });
      }
    }
  });

  it('is right to the last digit where a projector in doubles has none left', () => {
    const huge = 2 ** 40;
    const projector =
      projectorOf(basisOfLabel(spanOf([[huge, huge - 1, 0], [huge - 1, huge - 2, 0]]).label()), 3);
    expect([...projector]).toEqual([1, 0, 0, 0, 1, 0, 0, 0, 0]);
    expect([...projectorOf([[1n, 1n, 1n]], 3)]).toEqual(new Array<number>(9).fill(1 / 3));
    expect([...projectorOf([], 2)]).toEqual([0, 0, 0, 0]);
  });
});
