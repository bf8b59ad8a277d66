import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Released, Sealed } from '../../src/base/brands.js';
import { quantilesOfRunning } from '../../src/base/running-counts.js';
import type { SealedMechanisms } from '../../src/privacy/mechanisms/sealed-noise.js';
import { sealedMean } from '../../src/sealed/programs/mean.js';
import { columnGrid, type ColumnGrid } from '../../src/sealed/shares/column-grid.js';
import { openSum } from '../../src/sealed/steps/open.js';
import type { Party } from '../../src/sealed/steps/party.js';
import { signedAt } from '../../src/sealed/steps/words.js';
import { rowShares, sealedFacts } from '../support/sealed-rows.js';
import { runThree } from '../support/sealed-run.js';

/** Opens without noise, and keeps what was opened. */
function exactMechanisms(party: Party, opened: Map<string, number[]>): SealedMechanisms {
  return {
    prepare: () => 0,
    open: async (event, sums, unit) => {
      const { own } = Sealed.open(sums);
      const words = await openSum(party, own);
      const values = Array.from({ length: words.length / 2 }, (_, i) => Number(signedAt(words, i)));
      opened.set(event, values);
      return Released.fromMechanism(Float64Array.from(values, (value) => value * unit));
    },
  };
}

const countsIn = (bins: readonly number[]): number[] =>
  Array.from({ length: 64 }, (_, bin) => bins.filter((one) => one === bin).length);

/** What the mean opens, in the clear. */
function clearMean(
  rows: readonly Uint32Array[], { bits, scaleBits, lows }: ColumnGrid, radiusSteps: number,
): ReadonlyMap<string, number[]> {
  const columns = Array.from(lows, (_, j) => rows.map((row) => row[j]!));
  const coarse = columns.map((column) =>
    countsIn(column.map((entry) => Math.floor(entry / 2 ** (bits - 6)))));
  const width = 2 ** (scaleBits - 2);
  const starts = coarse.map((counts) =>
    (counts.indexOf(Math.max(...counts)) + 0.5) * 2 ** (bits - 6) - 32 * width);
  const fine = columns.map((column, j) => countsIn(column.map((entry) =>
    Math.min(63, Math.max(0, Math.floor((entry - starts[j]!) / width))))));
  const edges = Array.from({ length: 65 }, (_, i) => i * width);
  const centre = fine.map((counts, j) => {
    const below = counts.reduce((all, count) => [...all, all.at(-1)! + count], [0]);
    return starts[j]! + Math.round(
      quantilesOfRunning([...below, below.at(-1)!], edges, [0.5])[0]!,
    );
  });
  const about = rows.map((row) => Array.from(row, (entry, j) => entry - centre[j]!));
  const left = about.filter((row) =>
    row.reduce((sum, entry) => sum + entry * entry, 0) <= radiusSteps ** 2);
  return new Map([
    ['centre/coarse', coarse.flat()], ['centre/fine', fine.flat()], ['mean/count', [left.length]],
    ['mean/sum', Array.from(lows, (_, j) => left.reduce((sum, row) => sum + row[j]!, 0))],
  ]);
}

describe('what a sealed mean opens, less its noise', () => {
  it('equals the clear computation, whatever contributors send', { tags: ['long'] }, async () => {
    // Any values below 2^bits can be sent: near a crowd, at the ends of the range, or anywhere.
    const study = fc.record({
      bits: fc.constantFrom(8, 13, 16, 20), dimension: fc.integer({ min: 1, max: 3 }),
      inScales: fc.constantFrom(2, 4, 7.5), radius: fc.constantFrom(0.5, 3, 6),
      people: fc.integer({ min: 1, max: 70 }), seed: fc.nat(),
    });
    await fc.assert(fc.asyncProperty(study, async (asked) => {
      const { bits, dimension, inScales, radius, people, seed } = asked;
      const grid = columnGrid(
        Array.from({ length: dimension }, () => [0, inScales] as const),
        new Array<number>(dimension).fill(1), bits,
      );
      const top = 2 ** bits - 1;
      const rows = Array.from({ length: people }, (_, i) => Uint32Array.from(
        { length: dimension }, (__, j) => [
          Math.floor(0.4 * top) + ((i * 7 + j) % 19), 0, top, (i * 7919 + j * 104_729 + seed) % top,
        ][i % 5 === 4 ? (i + j) % 4 : 0]!,
      ));
      const program = sealedMean(sealedFacts(dimension, 1), { grid, radius });
      const shares = rowShares(rows, program.form, 'equality');
      const opened = [0, 1, 2].map(() => new Map<string, number[]>());
      await runThree((party) => program.run({
        party, mechanisms: exactMechanisms(party, opened[party.server]!),
        rows: shares[party.server]!,
      }));
      const clear = clearMean(rows, grid, Math.floor(radius * 2 ** grid.scaleBits));
      for (const each of opened) expect(new Map([...each].sort())).toEqual(clear);
    }), { numRuns: 12, seed: 22 });
  });
});
