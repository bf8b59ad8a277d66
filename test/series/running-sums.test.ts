import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/base/outcome.js';
import { factorStep, rootColumn } from '../../src/base/root-factor.js';
import { RunningTotals, SeriesReader } from '../../src/base/running-totals.js';
import { RunningSeries } from '../../src/series/running-sums.js';
import { releaseOf } from '../support/wire-samples.js';

const separation = 3;
const sigma = 7;
const refused: Outcome = { kind: 'refused', reason: 'interrupted', text: 'the server stopped' };

/** The answers of one series, without noise, for these values of its epochs. */
function seriesOf(values: readonly (readonly number[])[]): readonly Outcome[] {
  const column = rootColumn(separation);
  const reader = new SeriesReader(separation, values[0]!.length);
  return values.map((own, position): Outcome => {
    const released = own.map((_, i) => Array.from(column).reduce(
      (sum, entry, k) => sum + (k > position ? 0 : entry * values[position - k]![i]!), 0,
    ) * factorStep);
    const { totals, deviation } = reader.take(released);
    return {
      kind: 'value', estimate: Array.from(totals), shape: [own.length],
      groups: own.map((_, i) => [`key ${i}`]), running: { position, released },
      uncertainty: { kind: 'gaussian', standardDeviation: own.map(() => sigma * deviation) },
    };
  });
}

const read = (outcomes: readonly Outcome[]): RunningSeries => {
  const series = new RunningSeries();
  outcomes.forEach((outcome, i) => {
    series.take(releaseOf(outcome, { epoch: BigInt(i + 1) }), separation);
  });
  return series;
};
const first = [[10, 1], [20, 2], [30, 3], [40, 4], [50, 5]];
const second = [[100, 10], [200, 20]];

/** Of the noise in the values of one series from `from` up to and without `to`. */
function deviationOf(positions: number, from: number, to: number): number {
  const totals = new RunningTotals(separation);
  for (let i = 0; i < positions; i++) totals.take(0);
  return sigma * totals.between(from, to).deviation;
}

describe('running totals of a log', () => {
  it('add up all epochs of a series, and any of the newest', () => {
    const [sums] = read(seriesOf(first)).questions;
    expect(sums).toMatchObject({ question: 'answer', entries: 2, keys: [['key 0'], ['key 1']] });
    expect(sums!.total(0)).toMatchObject({ answered: 5, missing: 0 });
    expect(sums!.total(0).value).toBeCloseTo(150, 6);
    expect(sums!.total(0).deviation).toBeCloseTo(deviationOf(5, 0, 5), 9);
    expect(sums!.total(1, 2).value).toBeCloseTo(9, 6);
    expect(sums!.total(1, 2).deviation).toBeCloseTo(deviationOf(5, 3, 5), 9);
  });

  it('add up several series, whose noise is independent; refused epochs are missing', () => {
    const [sums] = read([...seriesOf(first), refused, ...seriesOf(second)]).questions;
    expect(sums!.total(0)).toMatchObject({ answered: 7, missing: 1 });
    expect(sums!.total(0).value).toBeCloseTo(450, 6);
    expect(sums!.total(0).deviation)
      .toBeCloseTo(Math.hypot(deviationOf(5, 0, 5), deviationOf(2, 0, 2)), 9);
    // The newest of the first series, the gap, and the second series.
    expect(sums!.total(0, 4)).toMatchObject({ answered: 3, missing: 1 });
    expect(sums!.total(0, 4).value).toBeCloseTo(350, 6);
    expect(sums!.total(0, 4).deviation)
      .toBeCloseTo(Math.hypot(deviationOf(5, 4, 5), deviationOf(2, 0, 2)), 9);
  });

  it('leave out a series of which the beginning is not there', () => {
    const [sums] = read([...seriesOf(first).slice(2), ...seriesOf(second)]).questions;
    expect(sums!.total(0)).toMatchObject({ answered: 2, missing: 3 });
    expect(sums!.total(0).value).toBeCloseTo(300, 6);
  });

  it('are none in a study without them', () => {
    const series = new RunningSeries();
    series.take(releaseOf(refused), undefined);
    expect(series.questions).toEqual([]);
    expect(read([refused]).questions).toEqual([]);
  });
});
