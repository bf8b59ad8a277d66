import { describe, expect, it } from 'vitest';
import type { ValueOutcome } from '../../src/base/outcome.js';
import type { SealedProgram } from '../../src/sealed/programs/contract.js';
import { sealedMean } from '../../src/sealed/programs/mean.js';
import { sealedRobustMean } from '../../src/sealed/programs/robust-mean.js';
import {
  columnGrid, gridRange, stepsOfRow, valueOfStep,
} from '../../src/sealed/shares/column-grid.js';
import { sealedAnswers, sealedFacts } from '../support/sealed-rows.js';

const people = 1_500;
const facts = sealedFacts(2, people, 1);
/** The second column has room above its range, the first one has next to none. */
const grid = columnGrid([[0, 1], [-2, 3]], [0.25, 2], 16);

async function answerOf(
  program: SealedProgram, rows: readonly (readonly number[])[],
): Promise<ValueOutcome> {
  const [first, ...others] = await sealedAnswers(program, rows.map(program.valuesOf));
  for (const other of others) expect(other).toEqual(first);
  if (first!.kind === 'refused') throw new Error(first!.text);
  return first!;
}

/** A hundredth to .99 and -1 to 1, with every tenth person at `far` in the first column. */
const rowsWith = (far: number): number[][] => Array.from({ length: people }, (_, i) =>
  [i % 10 === 0 ? far : (1 + (i % 99)) / 100, (i % 41) / 20 - 1]);

const programs = [
  ['mean', sealedMean(facts, { grid })],
  ['robust-mean', sealedRobustMean(facts, { grid, corruption: 0.1 })],
] as const;

describe.each(programs)('a sealed %s', (_, program) => {
  it.each([
    ['above', 50, 'high', 'low', 0.6], ['below', -50, 'low', 'high', 0.4],
  ] as const)('says how many people are %s its range, and knows no end there', {
    tags: ['long'],
  }, async (_side, far, open, closed, within) => {
    const { findings, interval95, ...value } = await answerOf(program, rowsWith(far));
    expect(findings).toMatchObject([{ reason: 'values-clipped', columns: [0] }]);
    // Noise of deviation 4: this fails by chance less than once in a million runs.
    expect(Math.abs(findings![0]!.amounts[0]! - 150)).toBeLessThan(22);
    expect(interval95![open][0]).toBe(far * Infinity);
    expect(Math.abs(interval95![closed][0]! - within)).toBeLessThan(0.2);
    expect(value.intervalIfFalse95?.[open][0] ?? far * Infinity).toBe(far * Infinity);
    expect(value.radiusIfFalse95).toBeUndefined();
    // The other column has both ends.
    expect(interval95!.low[1]).toBeGreaterThan(-1);
    expect(interval95!.high[1]).toBeLessThan(1);
  });

  it.each([0, 1])('says nothing of a tenth at its end %d', { tags: ['long'] }, async (end) => {
    const { findings = [], interval95 } = await answerOf(program, rowsWith(end));
    expect(findings.filter(({ reason }) => reason === 'values-clipped')).toEqual([]);
    expect([...interval95!.low, ...interval95!.high].every(Number.isFinite)).toBe(true);
  });

  it('finds the people within its range, where more are outside than anywhere in it', {
    tags: ['long'],
  }, async () => {
    const rows = Array.from({ length: people }, (__, i) =>
      [i % 5 < 2 ? 9 : 0.1 + (i % 31) / 100, (i % 41) / 20 - 1]);
    const { findings, interval95 } = await answerOf(program, rows);
    expect(findings![0]).toMatchObject({ reason: 'values-clipped', columns: [0] });
    expect(interval95!.high[0]).toBe(Infinity);
    expect(interval95!.low[0]).toBeGreaterThan(0.1);
    expect(interval95!.low[0]).toBeLessThan(0.7);
  });

  it('answers where everybody is outside', { tags: ['long'] }, async () => {
    const everybody = Array.from({ length: people }, (__, i) => [11, (i % 41) / 20 - 1]);
    const { estimate, findings, interval95 } = await answerOf(program, everybody);
    expect(estimate[0]).toBeCloseTo(program.outside!.range[0]![1], 1);
    expect(interval95!.high[0]).toBe(Infinity);
    expect(findings![0]).toMatchObject({ reason: 'values-clipped', columns: [0] });
  });
});

describe('a sealed mean of rows that its ball leaves out', () => {
  const wide = columnGrid([[0, 100], [-2, 3]], [1, 2], 16);
  const program = sealedMean(facts, { grid: wide });
  const rows = (far: number): number[][] => Array.from({ length: people }, (_, i) =>
    [i % 4 === 0 ? far : 10 + (i % 99) / 100, (i % 41) / 20 - 1]);

  it('says so and has no interval', { tags: ['long'] }, async () => {
    const { findings, interval95 } = await answerOf(program, rows(90));
    expect(findings).toEqual([{ reason: 'rows-trimmed', columns: [], amounts: [] }]);
    expect(interval95).toBeUndefined();
  });

  it('says nothing where all are near', { tags: ['long'] }, async () => {
    const { findings, interval95 } = await answerOf(program, rows(11));
    expect(findings).toBeUndefined();
    expect(interval95!.high[0]).toBeLessThan(11.5);
  });
});

describe('the grid of a sealed column', () => {
  it.each([
    [[0, 1], 0.25], [[-2, 3], 2], [[0.1, 0.3], 0.01], [[-7, 24], 1], [[0, 496], 1.0001],
  ] as const)('holds the range %j with a spread of %f', (range, spread) => {
    const own = columnGrid([range], [spread], 16);
    const bin = (value: number): number => stepsOfRow([value], own)[0]! >>> 10;
    for (const inside of [...range, (range[0] + range[1]) / 2, ...gridRange(own)[0]!.slice(0, 1)]) {
      expect(bin(inside)).toBeGreaterThan(0);
      expect(bin(inside)).toBeLessThan(63);
    }
    const [[low, high]] = gridRange(own) as [[number, number]];
    expect(low).toBe(range[0]);
    expect(high).toBeGreaterThan(range[1]);
    expect([bin(low - 1e-6), bin(-Infinity), bin(high + 1e-6), bin(Infinity)])
      .toEqual([0, 0, 63, 63]);
    // Whoever is outside counts within a step of the grid's end.
    for (const [value, end] of [[-1e9, low], [1e9, high]] as const) {
      expect(Math.abs(valueOfStep(stepsOfRow([value], own)[0]!, 0, own) - end))
        .toBeLessThan(own.steps[0]!);
    }
  });
});
