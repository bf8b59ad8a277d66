import type { Estimator } from '../../contract/estimator.js';
import { filterClaim, filterParameters, planFilter, type FilterKind } from './plan.js';
import { directionsOf } from '../filters/weights.js';

/** How `prime` chooses where to look. */
export const primeKind: FilterKind = { directions: directionsOf, paper: 'multiplicative' };

/**
 * PRIME: a private mean that stays put when a share of the rows is hostile in whatever direction. It looks at the
 * second moments of the rows through noise; where they are wider than honest rows can be, it weighs the directions
 * (matrix multiplicative weights), finds a threshold in a noisy histogram of how far out rows are along them, and
 * removes those beyond it; then it looks again. What is left is averaged.
 *
 * Claim and proof: `planFilter`. Its weights are a function of released looks.
 *
 * Robust: hostile rows far enough out to matter widen the rows more than `spreadMax`, and go. What stays moves the mean
 * by at most about sqrt(corruption spreadMax). With few contributors spreadMax is large and the answer comes down to
 * the clipped mean; the plan says so by its expected error.
 *
 * Source: X. Liu, W. Kong, S. Kakade, S. Oh, Robust and differentially private mean estimation (2021), Algorithms 9 to
 * 13, with one fused release per look, noise for the Frobenius sensitivity of symmetric matrices, and the noisy mean
 * taken back into the ball, which the printed constants leave out. The threshold is where the rows above it account for
 * the excess, instead of a random part of one that accounts for a third of it: then no honest rows go for nothing.
 */
export const prime: Estimator = {
  name: 'prime',
  title: 'Private robust mean by filtering in all directions',
  citations: [{
    key: 'LKKO21',
    text: 'X. Liu, W. Kong, S. Kakade, S. Oh. Robust and differentially private mean estimation. NeurIPS 2021.',
    place: 'Algorithms 9 to 13',
  }],
  parameters: filterParameters,
  shelf: 'research',
  assumption: 'Honest rows have light tails and are about one scale wide in every direction.',
  claim: filterClaim,
  plan: (values, facts) => planFilter(primeKind, values, facts),
};
