import { ratioOfDouble } from '../accounting/amount.js';
import type { RandomBits } from '../../random/bits.js';
import { truncatedDiscreteLaplace, type Rational } from '../../random/samplers/discrete-laplace.js';
import type { TruncatedLaplaceEvent } from '../accounting/events.js';
import { truncationSteps } from './bounds.js';
import type { Draw } from './draw.js';
import { addSteps, nearestSteps, valueOfSteps } from '../accounting/grid.js';

/**
 * P3, truncated discrete Laplace noise: P(z) proportional to exp(-|z| epsilon / D) on |z| <= A, zero outside.
 *
 * Claim: values that differ by at most D in L1 (whole vector, after rounding) are (epsilon, delta)-DP with A of
 * `truncationSteps`; hence delta-approximate (epsilon^2 / 2)-zCDP.
 * Source: Geng, Ding, Guo, Kumar 2018 for one continuous coordinate.
 * Why, for a vector on the grid: where both outputs are possible the odds differ by at most e^epsilon, as for
 * Laplace. Outputs that are possible on one side only: with q = exp(-grid epsilon / D) and a shift of s steps in one
 * coordinate their mass is q^A (q^-s - 1) / ((1 + q) / q - 2 q^A), no more than (q^-s - 1) / (2 (q^-A - 1)) because
 * (1 + q) / q >= 2. The function q^-s - 1 is superadditive in s, so the sum over coordinates is largest when one
 * coordinate takes the whole shift D: (e^epsilon - 1) / (2 (e^(A epsilon / D) - 1)) = delta for the continuous A, and
 * less for A rounded up.
 */
export function drawTruncatedLaplace(
  draw: Draw,
  event: TruncatedLaplaceEvent,
  value: Float64Array,
): Float64Array {
  return value.map((entry) => valueOfSteps(addSteps(nearestSteps(entry, event.grid), draw()), event.grid));
}

type Truncated = Pick<TruncatedLaplaceEvent, 'sensitivity' | 'epsilon' | 'delta' | 'grid'>;

/** Draws of the noise in grid steps. */
export function truncatedLaplaceSampler(event: Truncated): (bits: RandomBits) => bigint {
  const scale = scaleInSteps(event);
  const bound = BigInt(truncationSteps(event));
  return (bits) => truncatedDiscreteLaplace(bits, scale, bound);
}

/** D / (epsilon grid), exactly. */
function scaleInSteps({ sensitivity, epsilon, grid }: Truncated): Rational {
  const over = ratioOfDouble(sensitivity);
  const rate = ratioOfDouble(epsilon);
  const step = ratioOfDouble(grid);
  return {
    numerator: over.numerator * rate.denominator * step.denominator,
    denominator: over.denominator * rate.numerator * step.numerator,
  };
}
