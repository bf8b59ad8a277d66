import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ValueOutcome } from '../../src/base/outcome.js';
import { decodeReleaseBody } from '../../src/wire/index.js';
import { Bench, batchOf, define, everyMs } from '../support/hub-bench.js';

/**
 * Every contributor sends two rows, whose mean is (i, 2 i): the i-th counts once however much it
 * sends.
 */
const valuesOf = (i: number): Float64Array => Float64Array.of(i - 1, 0, i + 1, 4 * i);

describe('live counting queries', () => {
  let bench: Bench;
  beforeEach(() => { bench = new Bench(); });
  afterEach(() => bench.close());

  it('count, histogram and quantile answer one epoch each, about contributors and not '
    + 'rows', async () => {
    const privacy = { epsilon: 4, delta: 1e-6 };
    const hub = await bench.start([
      define({
        study: 'count', estimator: 'count',
        parameters: { column: 0, threshold: 300, side: 'at-least' }, privacy,
      }),
      define({
        study: 'histogram', estimator: 'histogram',
        parameters: { column: 1, edges: [0, 200, 400], top: 10 }, privacy,
      }),
      define({
        study: 'open', estimator: 'histogram', parameters: { column: 1, width: 200, top: 5 },
        privacy,
      }),
      define({
        study: 'quantile', estimator: 'quantile', privacy,
        parameters: { column: 0, range: [0, 400, 0, 400], probabilities: [0.25, 0.5, 0.75] },
      }),
    ]);
    const studies = hub.studies();
    await Promise.all(studies.flatMap(({ studyId }) => Array.from({ length: 400 }, (_, i) =>
      hub.submit(batchOf(studyId, i, 1n, { values: valuesOf(i) })))));
    await bench.clock.advance(everyMs);
    await hub.settled();
    const [count, histogram, open, quantile] = studies.map(({ studyId }): ValueOutcome => {
      const [release] = bench.record.published(studyId);
      const { outcome } = decodeReleaseBody(release!.body).answers[0]!;
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      return outcome;
    });
    expect(Math.abs(count!.estimate[0]! - 100)).toBeLessThan(10);
    expect(histogram!.shape).toEqual([4]);
    [0, 100, 100, 200].forEach((truth, bin) =>
      expect(Math.abs(histogram!.estimate[bin]! - truth)).toBeLessThan(12));
    expect(open!.shape).toEqual([5, 2]);
    expect([...open!.estimate].filter((_, i) => i % 2 === 0).sort((a, b) => a - b))
      .toEqual([0, 0, 200, 400, 600]);
    quantile!.estimate.forEach((value, i) =>
      expect(Math.abs(value - 100 * (i + 1))).toBeLessThan(40));
    expect(quantile!.uncertainty).toEqual({ kind: 'none' });
    await hub.close();
  });

  it('adds up all rows of each contributor where the study says so', async () => {
    const study = (reduce: 'sum' | 'mean', name: string) => define({
      study: name, estimator: 'sum', parameters: { range: [0, 800, 0, 1_600] },
      privacy: { epsilon: 4, delta: 1e-6 }, contribution: { reduce, rowsMax: 4 },
    });
    const hub = await bench.start([study('sum', 'sums'), study('mean', 'means')]);
    const studies = hub.studies();
    // Two batches of two rows, of which the second completes the contribution.
    await Promise.all(studies.flatMap(({ studyId }) => Array.from({ length: 200 }, async (_, i) => {
      await hub.submit(batchOf(studyId, i, 1n, {
        values: valuesOf(i), sequence: 1n, last: false,
      }));
      await hub.submit(batchOf(studyId, i, 1n, { values: valuesOf(i), sequence: 2n }));
    })));
    await bench.clock.advance(everyMs);
    await hub.settled();
    const totals = studies.map(({ studyId }) => {
      const { outcome } = decodeReleaseBody(bench.record.published(studyId)[0]!.body).answers[0]!;
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      return outcome.estimate;
    });
    // The rows of i add up to (4 i, 8 i), and their mean is (i, 2 i). Both are within the range.
    [[79_600, 159_200], [19_900, 39_800]].forEach((truth, study) => truth.forEach((total, j) =>
      expect(Math.abs(totals[study]![j]! - total)).toBeLessThan([800, 1_600][j]! * 6)));
    await hub.close();
  });

  it('publishes a count of nobody, and refuses a quantile of too few', async () => {
    const hub = await bench.start([
      define({ study: 'count', estimator: 'count', parameters: { side: 'at-least' } }),
      define({
        study: 'quantile', estimator: 'quantile',
        parameters: { column: 0, range: [0, 400, 0, 400], probabilities: [0.5] },
      }),
    ]);
    const studies = hub.studies();
    await bench.clock.advance(everyMs);
    await hub.settled();
    const [count, quantile] = studies.map(({ studyId }) =>
      decodeReleaseBody(bench.record.published(studyId)[0]!.body).answers[0]!.outcome);
    expect(count).toMatchObject({ kind: 'value', shape: [1] });
    expect(quantile).toMatchObject({ kind: 'refused', reason: 'participation-below-plan' });
    await hub.close();
  });
});
