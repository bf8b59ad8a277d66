// @module-tag long
import { expect, it } from 'vitest';
import { halfSphere } from '../../../../src/estimators/mean/depth/directions.js';
import { trimmedViews } from '../../../../src/estimators/mean/resilience/trimming.js';
import { dataSource } from '../../../support/data.js';

/** Processor time of the pass of `resilience` over so many rows: the least of three, in us. */
function costOf(rows: number): number {
  const offsets = Float64Array.from(dataSource('linear').normals(2 * rows));
  const directions = halfSphere(2);
  const costs = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    trimmedViews(offsets, 2, directions, { trimmed: Math.floor(rows / 10), limit: 2 ** 18 });
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.min(...costs);
}

// Sixteen times the rows cost about as many times the time, less what is fixed, more where the rows
// leave the caches: 11.3 was measured. Work that grows as n^1.25 would cost 32 times.
it('costs resilience time in proportion to the rows', () => {
  const few = costOf(20_000);
  const many = costOf(320_000);
  expect(many / few).toBeLessThan(32);
});
