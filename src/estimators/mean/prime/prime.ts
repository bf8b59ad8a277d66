import type { Estimator } from '../../contract/estimator.js';
import { lkko21 } from '../../contract/papers.js';
import { choiceOf } from '../../contract/values.js';
import { directionsOf, topDirectionOf } from '../filters/weights.js';
import { filterEstimator, type FilterKind } from './plan.js';

/** The filters, by their `directions`. */
export const filterKinds = {
  all: { directions: directionsOf, reference: 'multiplicative' },
  one: { directions: (phase) => topDirectionOf(phase.at(-1)!), reference: 'one-direction' },
} as const satisfies Readonly<Record<string, FilterKind>>;

/**
 * PRIME: a private mean that a share of hostile rows cannot move far, in whatever direction. Each
 * round releases the second moments of the rows. Where they are wider than honest rows can be, it
 * weighs the directions (matrix multiplicative weights), finds a threshold in a noisy histogram of
 * how far out rows are along them, and removes the rows beyond it. What is left is averaged.
 * `directions: one` is simpler: each round removes rows along the direction in which the rows are
 * widest. It is as good where hostile rows stand together. Against several groups on different
 * sides it needs a round for each.
 *
 * Claim, neighbours, cost and why: `filterEstimator`. The weights, or the one direction, are a
 * function of released moments.
 * Assumption. Honest rows have light tails and are about one spread wide in every direction.
 * Hostile rows far enough out to matter widen the rows beyond the detection threshold, and are
 * removed. The hostile rows that stay move the mean by at most about sqrt(corruption excessMax).
 * With few contributors the threshold is large and the answer comes down to the clipped mean; the
 * plan says so by its expected error.
 * Source. X. Liu, W. Kong, S. Kakade, S. Oh, Robust and differentially private mean estimation
 * (2021), Algorithms 9 to 13; `directions: one` is Algorithms 1 and 6 to 8. A round has one fused
 * release, noise for the Frobenius sensitivity of symmetric matrices, and a noisy mean that is
 * taken back into the ball, which the printed constants leave out. The threshold is where the rows
 * above it account for the excess and no bin below is crowded, instead of a random part of one that
 * accounts for a third of it: that removes no honest rows for nothing.
 */
export const prime: Estimator = filterEstimator({
  name: 'prime',
  title: 'Private robust mean by filtering in all directions',
  citations: [lkko21('Algorithms 9 to 13, and with directions: one 1 and 6 to 8')],
}, (values) => filterKinds[choiceOf(values, 'directions') as keyof typeof filterKinds]);
