import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/brands.js';
import { inlineCompute } from '../../src/estimators/contract/compute.js';
import { amountOf } from '../../src/privacy/accounting/amount.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import {
  fullestCells, privateCentreInRange, rangeCells, rangeCentreEvents, widestRange,
} from '../../src/privacy/stages/range-centre.js';
import type { RowBlock } from '../../src/privacy/stages/rows.js';
import { seededNoise } from '../../src/random/insecure.js';
import { dataSource } from '../support/data.js';
import { recordingMechanisms } from '../support/recording-mechanisms.js';

const compute = inlineCompute();
const rho = 0.01;
const range = { low: Float64Array.of(-30, 100), high: Float64Array.of(50, 900) };
const spread = Float64Array.of(1, 10);
const cells = rangeCells(range, spread);
const drawn = rangeCentreEvents({ cohort: 'rows', rho, cells });
const events = [drawn.counts!, drawn.median];

function block(rows: readonly (readonly number[])[]): RowBlock {
  return { count: rows.length, dimension: 2, values: Float64Array.from(rows.flat()) };
}

async function centreOf(rows: RowBlock, seed: string): Promise<Float64Array> {
  const found = await privateCentreInRange(
    compute, createMechanisms(events, seededNoise(seed)), Sensitive.of(rows), spread, cells,
    drawn,
  );
  if (found.value.kind === 'failed') throw new Error('no centre');
  return found.value.centre;
}

describe('a private centre inside public bounds', () => {
  it('costs what it was given, and no delta', () => {
    const cost = costOfEvents(events, { disjoint: [] });
    expect(cost.rho <= amountOf(rho)).toBe(true);
    expect(Number(cost.rho) / 2 ** 64).toBeGreaterThan(rho * (1 - 1e-5));
    expect(cost.delta).toBe(0n);
  });

  it('has four spreads in a cell, and the same number of cells in each column', () => {
    expect(cells.cells).toBe(20);
    expect(drawn.counts!.dimension).toBe(40);
    expect(widestRange(2)).toBe(2 ** 18);
  });

  it.each([[0, 500], [-29.5, 101], [49, 899], [6, 340]])('finds rows about %d and %d', async (
    first, second,
  ) => {
    const data = dataSource(`inside ${first}`);
    const rows = Array.from({ length: 800 }, () => {
      const [x, y] = data.normals(2);
      return [first + x!, second + 10 * y!];
    });
    const centre = await centreOf(block(rows), 'about');
    expect(Math.abs(centre[0]! - first)).toBeLessThan(0.7);
    expect(Math.abs(centre[1]! - second)).toBeLessThan(7);
  });

  it('draws the median alone where one cell holds the range', () => {
    const one = rangeCells({ low: Float64Array.of(0), high: Float64Array.of(4) },
      Float64Array.of(1));
    const { counts, median } = rangeCentreEvents({ cohort: 'rows', rho, cells: one });
    expect(counts).toBeNull();
    const { rho: cost } = costOfEvents([median], { disjoint: [] });
    expect(Number(cost) / 2 ** 64).toBeGreaterThan(rho * (1 - 1e-5));
  });

  it('changes its counts by no more than was charged when one row changes', {
    tags: ['slow'],
  }, async () => {
    const data = dataSource('one row');
    const entry = (): number =>
      [-30, 50, 900, 100, NaN, 1e300, -Infinity, 80 * data.normals(1)[0]!][data.below(8)]!;
    const base = Array.from({ length: 300 }, () => [data.normals(1)[0]!, 500 + data.below(90)]);
    let largest = 0;
    for (let time = 0; time < 300; time++) {
      const next = data.below(4) === 0 ? [] : [[entry(), entry()]];
      const both: (readonly { readonly event: string; readonly content: unknown }[])[] = [];
      for (const rows of [[...base, [entry(), entry()]], [...base, ...next]]) {
        const { mechanisms, recorded } = recordingMechanisms(events);
        await privateCentreInRange(
          compute, mechanisms, Sensitive.of(block(rows)), spread, cells, drawn,
        );
        both.push(recorded);
      }
      const [left, right] = both.map(([first]) => first!.content as Float64Array);
      largest = Math.max(largest, Math.hypot(...left!.map((count, k) => count - right![k]!)));
      both[0]!.slice(1).forEach(({ content }, j) => {
        const other = both[1]![1 + j]!.content as Float64Array;
        (content as Float64Array).forEach((score, cell) =>
          expect(Math.abs(score - other[cell]!)).toBeLessThanOrEqual(1));
      });
    }
    expect(largest).toBeLessThanOrEqual(drawn.counts!.sensitivity);
    expect(largest).toBeGreaterThan(0.99 * drawn.counts!.sensitivity);
  });

  it('takes the fuller of the two neighbours that hold most', () => {
    const counts = [0, 9, 0, 0, 6, 7, 0, 0, /* next column */ 8, 1, 0, 0, 0, 0, 0, 7];
    expect([...fullestCells(Float64Array.from(counts), 8)]).toEqual([5, 0]);
  });
});
