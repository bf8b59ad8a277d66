import { describe, expect, it } from 'vitest';
import { heavyTailed } from '../../../../src/estimators/mean/heavy-tailed/heavy-tailed.js';
import { tournamentScores } from '../../../../src/estimators/mean/heavy-tailed/tournament.js';
import type { PooledRows } from '../../../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../../../src/estimators/contract/parameters.js';
import { dataSource } from '../../../support/data.js';
import { factsOf } from '../../../support/offline.js';

interface Row { readonly tag: bigint; readonly values: Float64Array }

function pool(rows: readonly Row[]): PooledRows {
  return {
    count: rows.length, dimension: 2, tags: BigUint64Array.from(rows, ({ tag }) => tag),
    values: Float64Array.from(rows.flatMap(({ values }) => [...values])),
  };
}

describe('tournament', () => {
  it('has scores that one row more, less or changed moves by at most 1, and by 1 now and '
    + 'then', { tags: ['long'] }, () => {
    let largest = 0;
    for (let round = 0; round < 40; round++) {
      const data = dataSource(`tournament ${round}`);
      const candidates = Float64Array.from({ length: 2 * 9 }, () => 2 * data.normal());
      const rows = Array.from({ length: 12 + data.below(10) }, (_, i): Row => ({
        tag: BigInt(i), values: data.normals(2),
      }));
      const tournament = {
        candidates, dimension: 2, clip: 3, apart: round % 2, groups: 1 + 2 * (round % 3), cap: 40,
      };
      const scoresOf = (list: readonly Row[]): Float64Array =>
        tournamentScores(pool(list), Float64Array.of(1, 1), tournament);
      const before = scoresOf(rows);
      const far = (sign: number): Row =>
        ({ tag: rows[0]!.tag, values: Float64Array.of(1e9 * sign, 1e9 * data.normal()) });
      for (const other of [
        [far(1), ...rows.slice(1)], [far(-1), ...rows.slice(1)], rows.slice(1),
        [...rows, { ...far(1), tag: 99n }],
      ]) {
        scoresOf(other).forEach((score, p) => {
          largest = Math.max(largest, Math.abs(score - before[p]!));
          expect(Math.abs(score - before[p]!)).toBeLessThanOrEqual(1);
        });
      }
    }
    expect(largest).toBe(1);
  });

  it('finds a mean far from the middle of the candidates', () => {
    const data = dataSource('tournament off the middle');
    const rows = Array.from({ length: 4_000 }, (_, i): Row =>
      ({ tag: BigInt(i), values: data.normals(2).map((entry, j) => entry + (j === 0 ? 0.7 : 0)) }));
    const candidates = Float64Array.from(
      Array.from({ length: 21 }, (_, i) => [(i - 10) / 10, 0]).flat(),
    );
    for (const groups of [1, 3]) {
      const tournament = { candidates, dimension: 2, clip: 5, apart: 1, groups, cap: 4_000 };
      const scores = tournamentScores(pool(rows), Float64Array.of(1, 1), tournament);
      expect(scores.indexOf(Math.max(...scores))).toBe(17);
      expect(scores[11]).toBeLessThan(scores[17]! / 4);
    }
  });

  it('gives the candidate at the mean the highest score, and refuses a fourth column', () => {
    const data = dataSource('tournament mean');
    const rows =
      Array.from({ length: 600 }, (_, i): Row => ({ tag: BigInt(i), values: data.normals(2) }));
    const candidates = Float64Array.from([-1, 0, -0.5, 0, 0, 0, 0.5, 0, 1, 0]);
    const tournament = { candidates, dimension: 2, clip: 4, apart: 0.9, groups: 3, cap: 600 };
    const scores = tournamentScores(pool(rows), Float64Array.of(1, 1), tournament);
    expect(scores.indexOf(Math.max(...scores))).toBe(2);
    const set = { spread: 1, radius: 10, variant: 'candidates' };
    const raw = parseParameters(heavyTailed.parameters, set, { dimension: 4 });
    expect(heavyTailed.plan(raw, factsOf(4, 1e6))).toMatchObject({
      kind: 'infeasible', remedy: 'fewer columns, or (epsilon, delta) with delta > 0',
    });
  });
});
