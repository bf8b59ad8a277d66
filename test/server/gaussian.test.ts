import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { partsByName } from '../../src/base/parts.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { decodeReleaseBody } from '../../src/wire/index.js';
import { Bench, batchOf, define, everyMs } from '../support/hub-bench.js';
import { dataSource } from '../support/data.js';

const people = 2_500;

describe('gaussian over a server', () => {
  let bench: Bench;
  beforeEach(() => { bench = new Bench(); });
  afterEach(() => bench.close());

  it.each([
    ['rows', { 'variance-low': 1, 'variance-high': 4_000 }],
    ['a line of whole numbers', { 'variance-low': 1, 'variance-high': 4_000, subspace: 'affine' }],
  ])('publishes mean and covariance of %s by name', async (label, given) => {
    const parameters =
      parseParameters(findEstimator('gaussian').parameters, given, { dimension: 2 });
    const hub = await bench.start([define({
      estimator: 'gaussian', parameters, cohort: people, privacy: { epsilon: 8, delta: 1e-6 },
      contribution: { reduce: 'one', rowsMax: 1 },
    })]);
    const { studyId } = hub.studies()[0]!;
    const data = dataSource(`live ${label}`);
    const isLine = label !== 'rows';
    await Promise.all(Array.from({ length: people }, (_, i) => {
      const [x, y] = [Math.round(20 * data.normal()), 10 * data.normal()];
      return hub.submit(
        batchOf(studyId, i, 1n, { values: Float64Array.of(100 + x, isLine ? 50 + 2 * x : 50 + y) }),
      );
    }));
    await bench.clock.advance(everyMs);
    await hub.settled();
    const { outcome } = decodeReleaseBody(bench.record.published(studyId)[0]!.body).answers[0]!;
    if (outcome.kind !== 'value') throw new Error(JSON.stringify(outcome));
    const { mean, covariance } = partsByName(outcome) as { mean: number[]; covariance: number[][] };
    expect(Math.abs(mean[0]! - 100) / 20).toBeLessThan(0.25);
    expect(covariance[0]![0]! / 400).toBeGreaterThan(0.6);
    expect(covariance[0]![0]! / 400).toBeLessThan(1.5);
    expect(covariance[0]![1]).toBe(covariance[1]![0]);
    // On the line the second column is twice the first, plus its offset, exactly but for the last
    // digits.
    if (isLine) {
      expect(covariance[1]![1]! / covariance[0]![0]!).toBeCloseTo(4, 9);
      expect(mean[1]! - 2 * mean[0]!).toBeCloseTo(50 - 200, 6);
    }
    await hub.close();
  });
});
