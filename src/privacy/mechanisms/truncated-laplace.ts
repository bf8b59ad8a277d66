import { ratioOfDouble } from '../accounting/amount.js';
import type { RandomBits } from '../../random/bits.js';
import { truncatedDiscreteLaplace, type Rational } from '../../random/samplers/discrete-laplace.js';
import type { TruncatedLaplaceEvent } from '../accounting/events.js';
import { truncationSteps } from './bounds.js';
import type { Draw } from './draw.js';
import { addSteps, nearestSteps, valueOfSteps } from '../accounting/grid.js';

/**
 * Truncated discrete Laplace noise: P(z) is proportional to exp(-|z| epsilon / D) for |z| <= A, and
 * zero outside.
 *
 * Claim: if the values of neighbours, rounded to the grid, differ by at most D in L1 over the whole
 * vector, the output is (epsilon, delta)-DP with the A of `truncationSteps`. So it is
 * delta-approximate (epsilon^2 / 2)-zCDP.
 * Source: Geng, Ding, Guo, Kumar 2018, for one continuous coordinate.
 * Why, for a vector on the grid: for an output that is possible on both sides, the odds differ by a
 * factor of at most e^epsilon, as for Laplace noise. Now take the outputs that are possible on one
 * side only. Let q = exp(-grid epsilon / D), and let one coordinate shift by s steps. Their mass is
 * q^A (q^-s - 1) / ((1 + q) / q - 2 q^A). Because (1 + q) / q >= 2, it is at most (q^-s - 1) / (2
 * (q^-A - 1)). The function q^-s - 1 is superadditive in s, so the sum over coordinates is largest
 * when one coordinate takes the whole shift D. That gives (e^epsilon - 1) / (2 (e^(A epsilon / D) -
 * 1)), which is delta for the continuous A and less for A rounded up.
 */
export function drawTruncatedLaplace(
  draw: Draw,
  event: TruncatedLaplaceEvent,
  value: Float64Array,
): Float64Array {
  return value.map((entry) =>
    valueOfSteps(addSteps(nearestSteps(entry, event.grid), draw()), event.grid));
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
