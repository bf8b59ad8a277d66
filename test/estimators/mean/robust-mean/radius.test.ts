import { describe, expect, it } from 'vitest';
import { utf8 } from '../../../../src/base/bytes.js';
import { normalQuantile } from '../../../../src/numerics/normal.js';
import { seededRandom } from '../../../../src/random/work.js';
import { findRadius, radiusApart } from '../../../../src/estimators/mean/robust-mean/radius.js';
import { usualRadius } from '../../../../src/estimators/pooled/parameters.js';
import { distanceBins, distanceEdge } from '../../../../src/estimators/pooled/radius.js';
import { factsOf, planOf } from '../../../support/offline.js';

const dimension = 6;

/** Rows near the centre, and a thin cloud: so many rows in each bin from 9 to 17. */
function cloud(each: number): Float64Array {
  const counts = new Float64Array(distanceBins);
  counts.set([44_000, 8_000, 3_600, 900]);
  counts.fill(each, 9, 18);
  return counts;
}

const request = {
  noise: 40, dimension, cohort: 60_000, corruption: 0.05, sigma: 12, radius: null,
};

describe('the radius of robust-mean', () => {
  it('reaches into a thin cloud, but not where a cluster was left out', () => {
    const [clean, beside] = [false, true].map((isApart) =>
      findRadius({ ...request, counts: cloud(110), isApart }));
    expect(clean!.radius).toBeGreaterThan(10);
    expect(beside!.radius).toBeLessThan(5);
    // The interval still knows of the cloud.
    expect(beside!.lost).toBeGreaterThan(0.1);
    expect(findRadius({ ...request, counts: cloud(250), isApart: true }).radius)
      .toBeGreaterThan(10);
  });

  it('does not follow rows behind a gap that no honest column of this spread has', () => {
    const [share, rows] = [0.004, 60_000];
    const far = (distance: number): Float64Array => {
      const counts = cloud(0);
      const bin = counts.findIndex((_, at) => distanceEdge(at + 1, dimension) > distance);
      counts[bin] = share * rows;
      return counts;
    };
    // An honest share may stand that far out, in every column.
    const farthest = Math.sqrt(dimension / share);
    const honest = findRadius({ ...request, counts: far(farthest), isApart: false });
    expect(honest).toMatchObject({ leavesFar: false });
    expect(honest.radius).toBeGreaterThan(10);
    // Rows in all columns at once may be hostile: they pull no more than those of one direction.
    for (const distance of [1, 1.4, 1.9].map((times) => times * farthest)) {
      const { radius, lost } = findRadius({ ...request, counts: far(distance), isApart: false });
      expect(share * radius).toBeLessThan(share * usualRadius(dimension) + Math.sqrt(share));
      expect(share * distance - share * radius).toBeLessThan(lost);
    }
    // Of one column, as rare as that, no row is cut off.
    const rare = Math.sqrt(1 / share);
    expect(findRadius({ ...request, counts: far(rare), isApart: false }).radius)
      .toBeGreaterThan(0.9 * rare);
    for (const distance of [3 * farthest, 1e3, 4e3]) {
      const { radius, leavesFar, lost } =
        findRadius({ ...request, counts: far(distance), isApart: false });
      expect([radius < 5, leavesFar]).toEqual([true, true]);
      // The interval still knows of them.
      expect(lost).toBeGreaterThan(0.2);
    }
  });

  it('cuts off no more of a long tail of few rows in one column than the interval has', () => {
    const random = seededRandom(utf8('few rows'));
    const [rows, noise] = [1_000, 17];
    // Lognormal rows in deviations, about their median.
    const distances = Array.from({ length: rows }, (_, i) =>
      Math.abs(Math.exp(normalQuantile((i + 0.5) / rows)) - 1) / 2.16);
    const exact = Float64Array.from({ length: distanceBins }, (_, bin) => {
      const end = bin + 1 === distanceBins ? Infinity : distanceEdge(bin + 1, 1);
      return distances.filter((far) => far >= distanceEdge(bin, 1) && far < end).length;
    });
    const shares = Array.from({ length: 100 }, () => {
      const counts = exact.map((count) => count + noise * normalQuantile(random.uniform()));
      const { radius, lost } = findRadius({
        counts, noise, dimension: 1, cohort: rows, corruption: 0.05, sigma: 13, radius: null,
        isApart: false,
      });
      const cut = distances.reduce((sum, far) => sum + Math.max(0, far - radius), 0) / rows;
      return { isHeld: cut <= lost + 1.96 / Math.sqrt(rows), cut };
    });
    expect(shares.filter(({ isHeld }) => isHeld).length).toBeGreaterThan(80);
    expect(shares.reduce((sum, { cut }) => sum + cut, 0) / 100).toBeLessThan(0.06);
  });

  it('allows for rows of a rare value at the far end of their bin', () => {
    const counts = new Float64Array(distanceBins);
    // As released: a rare value of a public table, in one bin.
    counts.set([67_775, 22_293, 6_241, -2, -11, -4, -9, 2, 9, -4, 17, 3_686, 21, 12, 7, -9, 40]);
    const table = { ...request, counts, noise: 19, dimension: 4, cohort: 100_000, isApart: false };
    const { radius, lost } = findRadius(table);
    expect(radius).toBeLessThan(distanceEdge(12, 4));
    expect(lost).toBeGreaterThan(0.03686 * (distanceEdge(12, 4) - radius));
  });

  it('does not follow far bins that noise makes stand out beside a short tail', () => {
    // The released counts, in deviations of their noise, of 10,000 exponential rows: the tail ends
    // at bin 12. The noise of the bins up to 20 is high together, so that they stand out.
    const released = [
      470.8, 11.2, 10.4, 8.7, 5.3, 7, 5, 2.9, 2.3, 1.1, 1.9, 0.3, 3.1, 0.5, -1, 0.3, 0.3, 1.7, -0.1,
      1.7, 1.7, -2, -1.3, 1.4, -0.2, 0.4, -2.4, 0.6, -1.6, 0.7, -1.3, -0.8, -1.7, 1, -0.8, 0.5, 0.9,
      0.7, 1.6, -0.6, -0.8, -0.7, -0.1, -0.1, -0.9,
    ];
    const one = { dimension: 1, cohort: 10_000, noise: 19.2, sigma: 13.5, isApart: false };
    const { radius, lost } = findRadius({
      ...request, ...one, counts: Float64Array.from(released, (count) => count * one.noise),
    });
    expect(radius).toBeLessThan(8);
    // Should they be rows after all, the interval has them.
    expect(lost).toBeGreaterThan(0.1);
  });

  it('is near normal rows where noise hides all but their mean, unless it is given', () => {
    const radiusOf = (cohort: number, given = {}): unknown => planOf(
      'robust-mean', { shape: 'light', spread: 1, range: '-10..10', ...given },
      factsOf(10, cohort, 1),
    ).facts['clipRadiusInSpreads'];
    expect(radiusOf(1_000)).toBeCloseTo(Math.sqrt(10) + 1.5, 3);
    expect(radiusOf(100_000)).toBeCloseTo(1.35 * Math.sqrt(10) + 3, 3);
    expect(radiusOf(1_000, { radius: 9 })).toBe(9);
  });

  it('holds the rows left out, and says what it cuts off where they are past the last bin', () => {
    const counts = new Float64Array(distanceBins);
    counts[20] = 3_000;
    const shown = { noise: 40, dimension, sigma: 40 };
    const held = radiusApart({ ...shown, counts }, 60_000);
    expect(held.radius).toBeGreaterThan(distanceEdge(20, dimension));
    expect(held.square).toBeCloseTo((distanceEdge(20.5, dimension) ** 2 * 3_000) / 60_000, 0);
    counts[distanceBins - 1] = 3_000;
    const far = radiusApart({ ...shown, counts }, 60_000);
    expect(Number.isFinite(far.radius) && Number.isFinite(far.lost)).toBe(true);
  });
});
