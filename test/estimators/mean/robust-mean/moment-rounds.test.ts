import { describe, expect, it } from 'vitest';
import { isCorrelated } from '../../../../src/estimators/mean/robust-mean/moment-rounds.js';
import { knownColumns } from '../../../../src/estimators/pooled/estimator.js';
import { seededRandom } from '../../../../src/random/work.js';
import { utf8 } from '../../../../src/base/bytes.js';

const dimension = 10;
const columns = knownColumns(new Float64Array(dimension).fill(1));
const random = seededRandom(utf8('moment rounds'));

/** A covariance with noise of which the largest eigenvalue is about `noise`. */
function noisyCovariance(variance: number, correlation: number, noise: number): Float64Array {
  const covariance = new Float64Array(dimension ** 2);
  for (let i = 0; i < dimension; i++) {
    for (let j = 0; j <= i; j++) {
      const normal =
        Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(2 * Math.PI * random.uniform());
      const entry = i === j
        ? variance + (noise * normal) / Math.sqrt(2 * dimension)
        : variance * correlation + (noise * normal) / Math.sqrt(4 * dimension);
      covariance[i * dimension + j] = entry;
      covariance[j * dimension + i] = entry;
    }
  }
  return covariance;
}

/** How many of 50 noisy covariances are called correlated. */
const correlatedOf = (variance: number, correlation: number, noise: number): number =>
  Array.from({ length: 50 }, () =>
    isCorrelated(noisyCovariance(variance, correlation, noise), columns, noise))
    .filter(Boolean).length;

describe('columns are correlated', () => {
  // A spread that is found is about 1.26 deviations of normal rows: their variance is .63.
  it('not where noise alone makes a direction narrow', () => {
    expect(correlatedOf(0.63, 0, 0.46)).toBeLessThan(10);
    expect(correlatedOf(0.63, 0, 0.2)).toBe(0);
  });

  it('where they are, through the same noise', () => {
    expect(correlatedOf(0.63, 0.67, 0.46)).toBeGreaterThan(45);
    expect(correlatedOf(0.63, 0.67, 0.05)).toBe(50);
  });
});
