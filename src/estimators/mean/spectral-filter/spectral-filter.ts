import type { Estimator } from '../../contract/estimator.js';
import { filterClaim, filterParameters, planFilter, type FilterKind } from '../prime/plan.js';
import { topDirectionOf } from '../filters/weights.js';

/** How `spectral-filter` chooses where to look. */
export const spectralKind: FilterKind = {
  directions: (round) => topDirectionOf(round.at(-1)!), paper: 'one-direction',
};

/**
 * The filter of one direction at a time: every look removes rows that are far out along the direction in which the rows
 * are widest. Simpler than `prime` and as good where hostile rows stand together; against several groups on different
 * sides it needs a look for each.
 *
 * Claim and proof: `planFilter`. The direction is a function of the released look.
 *
 * Source: X. Liu, W. Kong, S. Kakade, S. Oh, Robust and differentially private mean estimation (2021), Algorithms 1 and
 * 6 to 8, with the corrections that `prime` names.
 */
export const spectralFilter: Estimator = {
  name: 'spectral-filter',
  title: 'Private robust mean by filtering one direction at a time',
  citations: [{
    key: 'LKKO21',
    text: 'X. Liu, W. Kong, S. Kakade, S. Oh. Robust and differentially private mean estimation. NeurIPS 2021.',
    place: 'Algorithms 1 and 6 to 8',
  }],
  parameters: filterParameters,
  shelf: 'research',
  assumption: 'Honest rows have light tails and are about one scale wide in every direction.',
  claim: filterClaim,
  plan: (values, facts) => planFilter(spectralKind, values, facts),
};
