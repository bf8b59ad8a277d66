import { describe, expect, it } from 'vitest';
import {
  featureCount, featureRadius, fourthFeatures, rankOneFeature, symmetricOf,
} from '../../../../src/estimators/covariance/moments/features.js';
import { quarticAxes } from '../../../../src/estimators/covariance/moments/quartic.js';
import {
  imagesOf, standardisedRows,
} from '../../../../src/estimators/covariance/moments/standardised.js';
import { dataSource } from '../../../support/data.js';

const data = dataSource('fourth');

/** A symmetric matrix as a vector of the same norm. */
function featureOf(matrix: Float64Array, dimension: number): Float64Array {
  const feature = Array.from(matrix).flatMap((entry, at) => {
    const [i, j] = [Math.floor(at / dimension), at % dimension];
    return i > j ? [] : [entry * (i === j ? 1 : Math.SQRT2)];
  });
  return Float64Array.from(feature);
}

describe('features of symmetric matrices', () => {
  it('keep the norm and go back', () => {
    const matrix = Float64Array.of(1, 2, 3, 2, 4, 5, 3, 5, 6);
    const feature = featureOf(matrix, 3);
    expect(Math.hypot(...feature)).toBeCloseTo(Math.hypot(...matrix), 12);
    expect(Array.from(symmetricOf(feature, 3), (entry) => Number(entry.toFixed(12))))
      .toEqual([...matrix]);
    const vector = Float64Array.of(1, -2, 0.5);
    expect([...rankOneFeature(vector)].map((entry) => entry.toFixed(9)))
      .toEqual([
        ...featureOf(Float64Array.from([0, 1, 2].flatMap((i) =>
          [0, 1, 2].map((j) => vector[i]! * vector[j]!))), 3),
      ]
        .map((entry) => entry.toFixed(9)));
  });

  it('of rows in a ball are (z z^T - I) / sqrt 2, within their radius, and 0 for rows that are '
    + 'gone', () => {
    const [count, dimension, radius] = [500, 3, 2];
    const steps = Float64Array.from({ length: count * dimension }, () => 2 * data.normal());
    const alive = Uint8Array.from({ length: count }, (_, i) => (i % 7 === 0 ? 0 : 1));
    const features = fourthFeatures({ count, dimension, steps, alive }, radius);
    const size = featureCount(dimension);
    for (let i = 0; i < count; i++) {
      const own = features.subarray(i * size, (i + 1) * size);
      if (i % 7 === 0) {
        expect([...own]).toEqual(Array.from({ length: size }, () => 0));
        continue;
      }
      const row = steps.subarray(i * dimension, (i + 1) * dimension);
      const shrink = Math.min(1, radius / Math.hypot(...row));
      const right = featureOf(Float64Array.from({ length: 9 }, (_, at) =>
        (row[Math.floor(at / 3)]! * row[at % 3]! * shrink ** 2
          - (at % 4 === 0 ? 1 : 0)) / Math.SQRT2), dimension);
      right.forEach((entry, j) => { expect(own[j]).toBeCloseTo(entry, 10); });
      expect(Math.hypot(...own))
        .toBeLessThanOrEqual(featureRadius(dimension, radius) * (1 + 1e-12));
    }
  });
});

describe('axes of large fourth moments', () => {
  it('are found where single directions stand out, largest first, among noise', () => {
    const dimension = 6;
    const size = featureCount(dimension);
    const axes = [0, 1].map((k) => {
      const vector =
        Float64Array.from({ length: dimension }, (_, j) => (j % 2 === k ? 1 : 0.1 * (j - 2)));
      const length = Math.hypot(...vector);
      return vector.map((entry) => entry / length);
    });
    const fourth = new Float64Array(size ** 2);
    for (let i = 0; i < size; i++) {
      for (let j = i;
          j < size; j++) fourth[i * size + j] = fourth[j * size + i] = 0.03 * data.normal();
    }
    axes.forEach((axis, k) => {
      const feature = rankOneFeature(axis);
      for (let i = 0; i < size; i++) {
        for (let j = 0;
            j < size; j++) fourth[i * size + j]! += (1 - 0.3 * k) * feature[i]! * feature[j]!;
      }
    });
    const found = quarticAxes(fourth, dimension, 3);
    const cosine = (left: Float64Array, right: Float64Array): number =>
      Math.abs(left.reduce((sum, entry, j) => sum + entry * right[j]!, 0));
    expect(cosine(found[0]!, axes[0]!)).toBeGreaterThan(0.98);
    expect(cosine(found[1]!, axes[1]!)).toBeGreaterThan(0.95);
    expect(quarticAxes(fourth, dimension, 3)).toEqual(found);
    expect(quarticAxes(Float64Array.of(2), 1, 3)).toEqual([Float64Array.of(1)]);
  });
});

describe('standardised rows', () => {
  it('leave out whole rows that are out of reach or not finite, and are functions of their own '
    + 'row', () => {
    const rows = [[10, 20], [12, 26], [15.1, 20], [Number.NaN, 20], [4, 1e300], [10.5, 21]];
    const pool = {
      count: rows.length, dimension: 2, values: Float64Array.from(rows.flat()),
      tags: new BigUint64Array(rows.length),
    };
    const [centre, spread] = [Float64Array.of(10, 20), Float64Array.of(1, 2)];
    const all = standardisedRows(pool, centre, spread, 100, 5);
    expect([...all.present]).toEqual([1, 1, 0, 0, 0, 1]);
    expect([...all.values.subarray(0, 6)]).toEqual([0, 0, 2, 3, 0, 0]);
    expect(standardisedRows(pool, centre, spread, 2, 5).count).toBe(2);
    const map = Float64Array.of(1, 2, 0, 3);
    const images = imagesOf(all, map);
    expect([...images.steps.subarray(2, 4), ...images.steps.subarray(10)])
      .toEqual([8, 9, 1.5, 1.5]);
    const alone = imagesOf(standardisedRows(
      { ...pool, count: 1, values: Float64Array.of(10.5, 21) }, centre, spread, 100, 5), map);
    expect([...alone.steps]).toEqual([...images.steps.subarray(10)]);
  });
});
