import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clearRobustMean } from '../../bench/sealed/clear.js';
import { openSealed, releasedByMechanism } from '../../src/base/wrappers.js';
import { quantilesOfRunning } from '../../src/base/running-counts.js';
import * as outcomes from '../../src/estimators/contract/outcomes.js';
import * as beyond from '../../src/estimators/contract/outside.js';
import * as weights from '../../src/estimators/mean/filters/weights.js';
import * as filterRounds from '../../src/estimators/mean/robust-mean/filter-rounds.js';
import * as reallocation from '../../src/estimators/mean/robust-mean/reallocation.js';
import * as foundColumns from '../../src/estimators/pooled/found-columns.js';
import * as histogram from '../../src/estimators/pooled/projected-histogram.js';
import * as chiSquare from '../../src/numerics/chi-square.js';
import type { SealedEvent } from '../../src/privacy/accounting/sealed-cost.js';
import type { SealedMechanisms } from '../../src/privacy/mechanisms/sealed-noise.js';
import { sealedHistogram } from '../../src/sealed/programs/counts.js';
import { sealedMean } from '../../src/sealed/programs/mean.js';
import { sealedRobustDesign } from '../../src/sealed/programs/robust-design.js';
import { sealedRobustMean } from '../../src/sealed/programs/robust-mean.js';
import { beyondGrid } from '../../src/sealed/programs/centre.js';
import { columnGrid, valueOfStep, type ColumnGrid } from '../../src/sealed/shares/column-grid.js';
import type { Party } from '../../src/sealed/steps/party.js';
import { signedAt } from '../../src/sealed/steps/words.js';
import { dataSource } from '../support/data.js';
import { rowShares, sealedFacts } from '../support/sealed-rows.js';
import { openedSum, runThree } from '../support/sealed-run.js';

/** Public post-processing, which both sides of the comparison use. */
const publicCode = {
  ...outcomes, ...weights, ...filterRounds, ...reallocation, ...foundColumns, ...histogram,
  ...chiSquare, ...beyond, beyondGrid, quantilesOfRunning, valueOfStep,
};

/** Opens without noise, and keeps what was opened. */
function exactMechanisms(
  party: Party, opened: Map<string, number[]>, events: readonly SealedEvent[],
): SealedMechanisms {
  return {
    prepare: () => 0,
    open: async (event, sums, unit) => {
      const { own } = openSealed(sums);
      const words = await openedSum(party, own);
      const values = Array.from({ length: words.length / 2 }, (_, i) => Number(signedAt(words, i)));
      opened.set(event, values);
      return releasedByMechanism(shapedAs(events, event, values, unit));
    },
  };
}

/** The entries of an event: of a symmetric matrix all, from those with i <= j. */
function shapedAs(
  events: readonly SealedEvent[], name: string, values: ArrayLike<number>, unit: number,
): Float64Array {
  const { kind, dimension } = events.find((event) => event.name === name)!;
  if (kind === 'gaussian') return Float64Array.from(values, (value) => value * unit);
  const matrix = new Float64Array(dimension ** 2);
  let at = 0;
  for (let i = 0; i < dimension; i++) {
    for (let j = i; j < dimension; j++) {
      matrix[i * dimension + j] = matrix[j * dimension + i] = values[at++]! * unit;
    }
  }
  return matrix;
}

const countsIn = (bins: readonly number[]): number[] =>
  Array.from({ length: 64 }, (_, bin) => bins.filter((one) => one === bin).length);

/** What the mean opens, in the clear. */
function clearMean(
  rows: readonly Uint32Array[], { bits, spreadBits, lows }: ColumnGrid, radiusSteps: number,
): ReadonlyMap<string, number[]> {
  const columns = Array.from(lows, (_, j) => rows.map((row) => row[j]!));
  const coarse = columns.map((column) =>
    countsIn(column.map((entry) => Math.floor(entry / 2 ** (bits - 6)))));
  const width = 2 ** (spreadBits - 2);
  const fullest = coarse.map((counts) => {
    const end = [0, 63].find((bin) => 2 * counts[bin]! > rows.length);
    return end ?? 1 + counts.slice(1, 63).indexOf(Math.max(...counts.slice(1, 63)));
  });
  const starts = fullest.map((bin) => (bin + 0.5) * 2 ** (bits - 6) - 32 * width);
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

describe('what is opened, less its noise', () => {
  it('equals the clear counts, whatever contributors send', { tags: ['long'] }, async () => {
    const study = fc.record({
      count: fc.integer({ min: 2, max: 70 }), sent: fc.array(fc.nat(2 ** 7 - 1), {
        minLength: 1, maxLength: 300,
      }),
    });
    await fc.assert(fc.asyncProperty(study, async ({ count, sent }) => {
      const edges = Array.from({ length: count - 1 }, (_, i) => i);
      const program = sealedHistogram(sealedFacts(1, 1), { column: 0, edges });
      // Any bits can be sent; numbers past the last bin count in it.
      const bins = sent.map((bin) => bin % 2 ** program.form.bits);
      const shares = rowShares(bins.map((bin) => Uint32Array.of(bin)), program.form, 'counts');
      const opened = [0, 1, 2].map(() => new Map<string, number[]>());
      await runThree((party) => program.run({
        party, mechanisms: exactMechanisms(party, opened[party.server]!, program.events),
        rows: shares[party.server]!,
      }));
      const clear = Array.from({ length: count }, (_, bin) =>
        bins.filter((one) => Math.min(one, count - 1) === bin).length);
      for (const each of opened) expect(each).toEqual(new Map([['bins', clear]]));
    }), { numRuns: 20, seed: 22 });
  });

  it('equals the clear mean, whatever contributors send', { tags: ['long'] }, async () => {
    // Any values below 2^bits can be sent: near a crowd, at the ends of the range, or anywhere.
    const study = fc.record({
      bits: fc.constantFrom(8, 13, 16, 20), dimension: fc.integer({ min: 1, max: 3 }),
      inSpreads: fc.constantFrom(2, 4, 7.5), radius: fc.constantFrom(0.5, 3, 6),
      people: fc.integer({ min: 1, max: 70 }), seed: fc.nat(),
    });
    await fc.assert(fc.asyncProperty(study, async (asked) => {
      const { bits, dimension, inSpreads, radius, people, seed } = asked;
      const grid = columnGrid(
        Array.from({ length: dimension }, () => [0, inSpreads] as const),
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
        party, mechanisms: exactMechanisms(party, opened[party.server]!, program.events),
        rows: shares[party.server]!,
      }));
      const clear = clearMean(rows, grid, Math.floor(radius * 2 ** grid.spreadBits));
      for (const each of opened) expect(new Map([...each].sort())).toEqual(clear);
    }), { numRuns: 12, seed: 22 });
  });

  it('equals the clear robust mean, whatever contributors send', {
    tags: ['long'],
  }, async () => {
    const study = fc.record({
      bits: fc.constantFrom(8, 13, 16, 20), dimension: fc.integer({ min: 1, max: 4 }),
      inSpreads: fc.constantFrom(6, 7, 7.5), radius: fc.constantFrom(2, 3.5, 4),
      people: fc.integer({ min: 60, max: 700 }), seed: fc.nat(),
    });
    const seen = new Set<string>();
    await fc.assert(fc.asyncProperty(study, async (asked) => {
      const { bits, dimension, inSpreads, radius, people, seed } = asked;
      const grid = columnGrid(
        Array.from({ length: dimension }, () => [0, inSpreads] as const),
        new Array<number>(dimension).fill(1), bits,
      );
      const options = { grid, radius, corruption: 0.2 };
      const facts = sealedFacts(dimension, people, 100);
      const program = sealedRobustMean(facts, options);
      const design = sealedRobustDesign(facts, options);
      const data = dataSource(`${seed}`);
      const top = 2 ** bits - 1;
      // Most are normal, some stand together, and the others send anything: the ends, or whatever.
      const rows = Array.from({ length: people }, (_, i) => (i % 19 === 3
        ? Uint32Array.from({ length: dimension }, (__, j) =>
          [0, top, Math.floor(data.uniform() * top), top >> 1][(i + j) % 4]!)
        : program.valuesOf(Array.from(data.normals(dimension), (entry) =>
          inSpreads / 2 + (i % 7 === 5 ? 3 / Math.sqrt(dimension) : 0.7 * entry)))));
      const exact = new Map<string, number[]>();
      const outcome = await clearRobustMean(publicCode, design, {
        values: rows.flatMap((row) => [...row]), count: people,
      }, async (event, values, unit) => {
        exact.set(event, Array.from(values));
        return shapedAs(design.events, event, values, unit);
      });
      const shares = rowShares(rows, program.form, 'equality');
      const opened = [0, 1, 2].map(() => new Map<string, number[]>());
      const answers = await runThree((party) => program.run({
        party, mechanisms: exactMechanisms(party, opened[party.server]!, program.events),
        rows: shares[party.server]!,
      }));
      for (const each of opened) expect(each).toEqual(exact);
      for (const { value } of answers) expect(value).toEqual(outcome);
      for (const [event, values] of exact) {
        // A histogram of all rows that are left, or sums that it carries in its place.
        const total = values.reduce((sum, value) => sum + value, 0);
        const isHistogram = /axis|distance/.test(event) && values.every((value) => value >= 0);
        if (isHistogram && total < people) seen.add(`${event} of some`);
        seen.add(event);
      }
      const [before, after] = ['look-1/count', 'look-2/count'].map((name) => exact.get(name));
      if (after !== undefined && after[0]! < before![0]!) seen.add('a removal');
      if (outcome.kind === 'value') seen.add('value');
    }), { numRuns: 12, seed: 22 });
    expect([...seen]).toEqual(expect.arrayContaining([
      'value', 'look-1/distance of some', 'look-1/axis-1 of some', 'a removal',
    ]));
  });
});
