import { describe, expect, it } from 'vitest';
import { InvalidParameterError } from '../../src/base/errors.js';
import type { ParameterValues } from '../../src/base/facts.js';
import type { Outcome } from '../../src/base/outcome.js';
import { cellEdges, quantilesOfRunning } from '../../src/base/running-counts.js';
import { seededRandom } from '../../src/random/work.js';
import type { SealedProgram } from '../../src/sealed/programs/contract.js';
import {
  sealedCount, sealedCounts, sealedHistogram, sealedQuantile,
} from '../../src/sealed/programs/counts.js';
import { sealedMean } from '../../src/sealed/programs/mean.js';
import { sealedProgramOf } from '../../src/sealed/programs/table.js';
import { sharePlanOf, type SharedQuestion } from '../../src/sealed/shares/share-plan.js';
import type { SealedRobustMeanOptions } from '../../src/sealed/programs/robust-design.js';
import { sealedRobustMean } from '../../src/sealed/programs/robust-mean.js';
import { columnGrid, valueOfStep } from '../../src/sealed/shares/column-grid.js';
import { sealedAnswers, sealedFacts } from '../support/sealed-rows.js';

/** The one answer that all servers have. */
async function answerOf(
  program: SealedProgram, values: readonly Uint32Array[],
): Promise<Extract<Outcome, { kind: 'value' }>> {
  const [first, ...others] = await sealedAnswers(program, values);
  for (const other of others) expect(other).toEqual(first);
  if (first!.kind !== 'value') throw new Error(first!.text);
  return first as never;
}

const people = 333;
const gridOfTwo = columnGrid([[0, 512], [0, 256]], [5, 8], 16);
const random = seededRandom(Uint8Array.of(22));
const normal = (): number => Math.sqrt(-2 * Math.log(1 - random.uniform()))
  * Math.cos(2 * Math.PI * random.uniform());
const rows = Array.from({ length: people }, () => [30 + 5 * normal(), 100 + 8 * normal()]);

describe('sealed programs', () => {
  it('count', async () => {
    const program = sealedCount(sealedFacts(2, people), (row) => row[0]! >= 30);
    const { estimate } = await answerOf(program, rows.map(program.valuesOf));
    expect(estimate[0]).toBeCloseTo(rows.filter(([first]) => first! >= 30).length, 2);
  });

  it('make a histogram, in which numbers past the last bin count in it', async () => {
    const program = sealedHistogram(sealedFacts(2, people), { column: 0, edges: [25, 30, 35, 40] });
    const values = [...rows.map(program.valuesOf), Uint32Array.of(7), Uint32Array.of(5)];
    const { estimate } = await answerOf(program, values);
    const bins = rows.map(([first]) => [25, 30, 35, 40].filter((edge) => edge <= first!).length);
    expect(estimate.map((count) => Math.round(count))).toEqual([0, 1, 2, 3, 4].map((bin) =>
      bins.filter((one) => one === bin).length + (bin === 4 ? 2 : 0)));
  });

  it('leave out who has no row: it is in no bin, and a number past the bins is, too', async () => {
    const facts = sealedFacts(2, people);
    const bins = { column: 0, edges: [25, 30, 35] };
    const program = sealedHistogram(facts, { ...bins, isPartial: true });
    const some = rows.map((row, i) => (i % 3 === 0 ? null : row));
    const values = [...some.map(program.valuesOf), Uint32Array.of(7), Uint32Array.of(5)];
    const { estimate } = await answerOf(program, values);
    const others = some.filter((row) => row !== null);
    const whole = await answerOf(sealedHistogram(facts, bins), others.map(program.valuesOf));
    expect(estimate.map((count) => Math.round(count)))
      .toEqual(whole.estimate.map((count) => Math.round(count)));
  });

  it('count for each key, each contributor for one at most', async () => {
    const program = sealedCounts(sealedFacts(1, people), 3, (row) => row[0]!);
    const keys = rows.map((_, i) => (i % 4 === 3 ? null : [i % 4]));
    const { estimate } = await answerOf(program, keys.map(program.valuesOf));
    expect(estimate.map((count) => Math.round(count))).toEqual([0, 1, 2].map((key) =>
      keys.filter((row) => row?.[0] === key).length));
  });

  it.each<[string, (isPartial: boolean) => SealedProgram]>([
    ['mean', (isPartial) => sealedMean(sealedFacts(2, people), { grid: gridOfTwo, isPartial })],
    ['robust-mean', (isPartial) => sealedRobustMean(
      sealedFacts(2, people, 1e5), { grid: gridOfTwo, corruption: 0.1, isPartial })],
  ])('take the %s of those who have a row, whatever the others share', async (_, programOf) => {
    const program = programOf(true);
    const some = rows.map((row, i) => (i % 3 === 0 ? null : row));
    // A liar's values without the bit that says that they are a row.
    const hidden = program.valuesOf([500, 250]).with(2, 2 ** 15 - 1);
    const values = some.map((row) => (row === null ? hidden : program.valuesOf(row)));
    const { estimate, findings } = await answerOf(program, values);
    const others = some.filter((row) => row !== null);
    const whole = programOf(false);
    const clear = await answerOf(whole, others.map(whole.valuesOf));
    estimate.forEach((value, i) => expect(value).toBeCloseTo(clear.estimate[i]!, 1));
    expect(findings).toEqual(clear.findings);
  });

  it('need at least one row', async () => {
    const program = sealedCount(sealedFacts(2, people));
    await expect(sealedAnswers(program, [])).rejects.toThrow(InvalidParameterError);
  });

  it('find quantiles as clear counts do', async () => {
    const range = { low: 0, high: 64, cells: 64 };
    const program = sealedQuantile(
      sealedFacts(2, people), { column: 0, probabilities: [0.25, 0.5], ...range },
    );
    const { estimate, findings } = await answerOf(program, rows.map(program.valuesOf));
    expect(findings).toBeUndefined();
    const far = await answerOf(program, rows.map(() => program.valuesOf([1e9, 0])));
    expect(far.findings).toEqual([{ reason: 'values-clipped', columns: [0], amounts: [] }]);
    expect(far.interval95!.high).toEqual([Infinity, Infinity]);
    const below = cellEdges({ range: [0, 64], cells: 64 })!.map((edge) =>
      rows.filter(([first]) => Math.max(0, first!) < edge).length);
    const clear =
      quantilesOfRunning([...below, people], cellEdges({ range: [0, 64], cells: 64 })!,
        [0.25, 0.5]);
    estimate.forEach((value, i) => expect(value).toBeCloseTo(clear[i]!, 1));
  });

  it('find the mean of rows, and leave out those beyond the ball', { tags: ['long'] }, async () => {
    const grid = columnGrid([[0, 128], [0, 200]], [5, 8], 16);
    const program = sealedMean(sealedFacts(2, people), { grid });
    const liars = [Uint32Array.of(65535, 0), Uint32Array.of(0, 65535), Uint32Array.of(0, 0)];
    const honest = rows.map(program.valuesOf);
    const { estimate } = await answerOf(program, [...honest, ...liars]);
    [0, 1].forEach((j) => {
      const mean = honest.reduce((sum, row) => sum + row[j]!, 0) / people;
      expect(estimate[j]).toBeCloseTo(valueOfStep(mean, j, grid), 2);
    });
  });

  it('leave out liars who stand together, and say so', { tags: ['long'] }, async () => {
    const grid = columnGrid([[0, 128], [0, 200]], [5, 8], 16);
    const crowd = 2_000;
    const facts = sealedFacts(2, crowd, 5);
    const honest =
      Array.from({ length: 0.9 * crowd }, () => [30 + 5 * normal(), 100 + 8 * normal()]);
    const liars = Array.from({ length: 0.1 * crowd }, () => [30 + 5 * 2.5, 100 + 8 * 2.5]);
    const program = sealedRobustMean(facts, { grid, corruption: 0.1 });
    const values = [...honest, ...liars].map(program.valuesOf);
    const answer = await answerOf(program, values);
    const plain = await answerOf(sealedMean(facts, { grid }), values);
    const errorOf = ({ estimate }: { readonly estimate: readonly number[] }): number =>
      Math.hypot((estimate[0]! - 30) / 5, (estimate[1]! - 100) / 8);
    // The liars move a mean by .35 spreads. Sampling is .03 spreads, noise .01.
    expect(errorOf(plain)).toBeGreaterThan(0.25);
    expect(errorOf(answer)).toBeLessThan(0.1);
    expect(answer.findings?.map(({ reason }) => reason)).toContain('cluster-apart');
    expect(answer.intervalIfFalse95!.low[0]).toBeLessThan(30);
    expect(answer.intervalIfFalse95!.high[0]).toBeGreaterThan(30);
  });

  it('refuse a mean of far fewer people than were planned for', async () => {
    const grid = columnGrid([[0, 128], [0, 200]], [5, 8], 16);
    const program = sealedRobustMean(sealedFacts(2, 100 * people, 5), { grid });
    const answers = await sealedAnswers(program, rows.map(program.valuesOf));
    for (const answer of answers) {
      expect(answer).toMatchObject({ kind: 'refused', reason: 'participation-below-plan' });
    }
  });

  it.each<[string, Partial<SealedRobustMeanOptions>, number]>([
    ['a share of liars that cannot be promised', { corruption: 0.3 }, 1],
    ['no round', { rounds: 0 }, 1],
    ['a radius of no step', { radius: 1e-6 }, 1],
    ['a radius whose squares leave the numbers', { radius: 2 ** 12 }, 1],
    ['a budget whose noise is below a step', {}, 1e12],
  ])('refuse %s', (_, options, rho) => {
    const grid = columnGrid([[0, 128], [0, 200]], [5, 8], 16);
    expect(() => sealedRobustMean(sealedFacts(2, people, rho), { grid, ...options }))
      .toThrow(InvalidParameterError);
  });

  it.each<[string, (rho: number) => SealedProgram]>([
    ['count', (rho) => sealedCount(sealedFacts(2, people, rho))],
    ['mean', (rho) => sealedMean(sealedFacts(2, people, rho), { grid: gridOfTwo })],
  ])('refuse a budget whose noise is so small that sums could leave the numbers: %s', (
    _, programOf,
  ) => {
    expect(programOf(1e9).events.length).toBeGreaterThan(0);
    expect(() => programOf(1e22)).toThrow('could be 2^60 steps');
  });

  const asked = (parameters: ParameterValues): SharedQuestion => ({
    estimator: 'robust-mean', parameters: { spread: [5, 8], corruption: 0.1, ...parameters },
    columns: 2, sealed: { bits: 16, range: [[0, 128], [0, 200]] },
  });

  it('of a study file: the robust mean has the parameters that are asked for', () => {
    const facts = sealedFacts(2, people, 5);
    const grid = columnGrid([[0, 128], [0, 200]], [5, 8], 16);
    const question = asked({ shape: 'light', rounds: 3, axes: 1, radius: 5 });
    const wanted = { grid, corruption: 0.1, rounds: 3, axes: 1, radius: 5 };
    expect(sealedProgramOf(facts, question).events).toEqual(sealedRobustMean(facts, wanted).events);
    expect(sharePlanOf(question).form).toEqual(sealedRobustMean(facts, wanted).form);
    expect(sealedProgramOf(facts, asked({ shape: 'light' })).events)
      .toEqual(sealedRobustMean(facts, { grid, corruption: 0.1 }).events);
  });

  it.each<[ParameterValues, string]>([
    [{ shape: 'any' }, 'parameters.shape'],
    [{ shape: 'light', 'centre-part': 0.3 }, 'parameters.centre-part'],
    [{ shape: 'light', spread: 'auto' }, 'parameters.spread'],
  ])('of a study file: the robust mean refuses %o', (parameters, path) => {
    expect(() => sealedProgramOf(sealedFacts(2, people, 5), asked(parameters))).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ path }) as unknown }) as Error,
    );
  });
});
