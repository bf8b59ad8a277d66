import { describe, expect, it } from 'vitest';
import {
  analyticGaussianDelta, analyticGaussianSigma,
} from '../../src/privacy/accounting/analytic-gaussian.js';
import { ComposedLoss } from '../../src/privacy/accounting/loss-distribution/composition.js';
import { deltaByInversion } from '../../src/privacy/accounting/loss-distribution/inversion.js';
import { lossOfPiece } from '../../src/privacy/accounting/loss-distribution/loss.js';
import { varianceOf, type Repeated }
  from '../../src/privacy/accounting/loss-distribution/pieces.js';

const gaussian = (square: number, shift = 0, delta = 0): Repeated =>
  ({ piece: { kind: 'gaussian', square, shift, delta }, times: 1 });
const bounded = (epsilon: number, times: number): Repeated =>
  ({ piece: { kind: 'bounded', epsilon }, times });
const laplace = (epsilon: number, times: number, shift = 0): Repeated =>
  ({ piece: { kind: 'laplace', epsilon, shift }, times });

/** The same by composition on a grid, never below the truth. */
function onGrid(pieces: readonly Repeated[], epsilon: number, cells: number): number {
  const copies = pieces.reduce((sum, { times }) => sum + times, 0);
  const variance = pieces.reduce((sum, { piece, times }) => sum + times * varianceOf(piece), 0);
  const step = Math.sqrt(variance / copies) / cells;
  return new ComposedLoss(
    pieces.map(({ piece, times }) => ({ loss: lossOfPiece(piece, step), times })),
  ).delta(epsilon);
}

describe('deltaByInversion', () => {
  it('is the exact curve of Gaussian noise, from above', () => {
    for (const epsilon of [1e-4, 0.01, 0.3, 1, 4, 20, 100]) {
      for (const delta of [0.3, 1e-3, 1e-6, 1e-12, 1e-20]) {
        const square = analyticGaussianSigma(epsilon, delta) ** -2;
        const exact = analyticGaussianDelta(epsilon, 1 / Math.sqrt(square));
        const ratio = deltaByInversion([gaussian(square)], epsilon)! / exact;
        expect(ratio, `${epsilon} ${delta}`).toBeGreaterThan(1 - 1e-9);
        expect(ratio, `${epsilon} ${delta}`).toBeLessThan(1 + 1e-6);
      }
    }
  });

  it('is what composition on finer and finer grids comes down to', () => {
    for (const [pieces, epsilon] of [
      [[gaussian(0.05, 1e-5, 1e-8), bounded(0.1, 1), laplace(0.1, 1, 1e-6)], 1],
      [[gaussian(0.05), bounded(0.05, 10), laplace(0.01, 3)], 1],
      [[gaussian(0.01), bounded(0.5, 1), laplace(0.2, 1)], 1],
      [[gaussian(0.3, 1e-3), bounded(0.5, 4)], 4],
      [[gaussian(0.05), laplace(0.7, 2)], 2],
      [[gaussian(0.05), bounded(1, 1)], 0],
      [[gaussian(1e-8), bounded(1e-4, 2), laplace(1e-4, 1)], 3e-4],
    ] as const) {
      const found = deltaByInversion(pieces, epsilon)!;
      const [coarse, fine] = [24, 96].map((cells) => onGrid(pieces, epsilon, cells) / found - 1);
      expect(fine, JSON.stringify(pieces)).toBeGreaterThan(0);
      expect(fine, JSON.stringify(pieces)).toBeLessThan(3e-3);
      expect(coarse! / fine!, JSON.stringify(pieces)).toBeGreaterThan(10);
    }
  });

  it('leaves losses with little or no Gaussian noise to the grid', () => {
    expect(deltaByInversion([bounded(0.5, 2), laplace(0.1, 1)], 1)).toBeNull();
    expect(deltaByInversion([gaussian(1e-12), bounded(1, 2)], 1)).toBeNull();
  });

  it('counts what reveals everything in full', () => {
    expect(deltaByInversion([gaussian(0.05, 0, 0.01)], 1)).toBeGreaterThan(0.01);
    expect(deltaByInversion([gaussian(1e-6, 0, 1e-7), bounded(1e-6, 1)], 1)).toBeCloseTo(1e-7, 14);
  });
});
