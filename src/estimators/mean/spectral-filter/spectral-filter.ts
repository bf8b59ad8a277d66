import type { Estimator } from '../../contract/estimator.js';
import { lkko21 } from '../../contract/papers.js';
import { topDirectionOf } from '../filters/weights.js';
import { filterEstimator, type FilterKind } from '../prime/plan.js';

/** How `spectral-filter` chooses directions. */
export const spectralKind: FilterKind = {
  directions: (phase) => topDirectionOf(phase.at(-1)!), reference: 'one-direction',
};

/**
 * The filter of one direction at a time: every round removes rows that are far out along the
 * direction in which the rows are widest. It is simpler than `prime` and as good where hostile rows
 * stand together. Against several groups on different sides it needs a round for each.
 *
 * Claim, neighbours, cost and why: `filterEstimator`. The direction is a function of the released
 * moments.
 * Assumption. As for `prime`.
 * Source. X. Liu, W. Kong, S. Kakade, S. Oh, Robust and differentially private mean estimation
 * (2021), Algorithms 1 and 6 to 8, with the corrections that `prime` names.
 */
export const spectralFilter: Estimator = filterEstimator({
  name: 'spectral-filter',
  title: 'Private robust mean by filtering one direction at a time',
  citations: [lkko21('Algorithms 1 and 6 to 8')],
}, spectralKind);
