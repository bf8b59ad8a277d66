import type { Estimator } from '../contract.js';
import { parameters } from './parameters.js';
import { planGaussian } from './plan.js';

/**
 * A whole normal distribution: covariance and mean, close to the truth in total variation, which no linear map of the
 * data changes.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by none, or added. Cost: (rho, delta),
 * delta-approximate zCDP.
 * 1. The covariance costs what its events say for every data set (covariance/bounded: pairs, a private map, second
 *    moments), without delta. It is made of released numbers, and so is the map that makes it the unit matrix.
 * 2. The mean is a private centre and a clipped mean (privacy/centre, privacy/clipped-mean) of the rows after that map:
 *    one contributor remains one row, and the two cost the same for every map, hence for a released one. That is
 *    adaptive composition.
 * 3. `cohorts: shared`: all contributors serve both, the costs add up. `cohorts: split`: the ticket of a contributor
 *    says which of the two it serves, whatever it sends, so a neighbour changes one stage: the cost is the larger.
 *
 * Source: Ashtiani and Liaw (2022), section 5.1, the learner of Gaussians, with the bounded preconditioner in place of
 * Algorithm 3 and the centre and clipped mean of this library in place of the estimator that the section cites.
 */
export const gaussian: Estimator = {
  name: 'gaussian',
  title: 'A whole Gaussian: mean and covariance, close in total variation',
  citations: [{
    key: 'AL22',
    text: 'H. Ashtiani, C. Liaw. Private and polynomial time algorithms for learning Gaussians and beyond. COLT 2022.',
    place: 'section 5.1',
  }, {
    key: 'KLSU19',
    text: 'G. Kamath, J. Li, V. Singhal, J. Ullman. Privately learning high-dimensional distributions. COLT 2019.',
    place: 'section 3',
  }],
  parameters,
  status: 'stable',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate zCDP, rho split '
    + 'between covariance and mean, or whole for each on contributors of its own.',
  plan: planGaussian,
  outputLabels: (_, columns) => [
    ...columns.map((column) => `mean ${column}`),
    ...columns.flatMap((row) => columns.map((column) => `${row}, ${column}`)),
  ],
};
