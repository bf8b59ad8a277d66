import type { Estimator } from '../../contract/estimator.js';
import { parameters } from './parameters.js';
import { planGaussian } from './plan.js';

/**
 * A whole normal distribution: covariance and mean, close to the truth in total variation, which no linear map of the
 * data changes.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by none, or added. Cost: (rho, delta),
 * delta-approximate zCDP.
 * 1. `subspace: affine`: the affine subspace of rows of whole numbers, by a test that one label leads among groups
 *    (frame). It is released before all else; rows are then read in its coordinates, each a function of its own row.
 * 2. The covariance costs what its events say for every data set: `local: empirical`, pairs of rows, a private map and
 *    second moments (covariance/bounded); `local: robust`, the same of the matrices of groups (groups). No delta. It is
 *    made of released numbers, and so is the map that makes it the unit matrix.
 * 3. The mean is a private centre and a clipped mean (privacy/centre, privacy/clipped-mean) of the rows, or of the means
 *    of groups, after that map: one contributor remains one of them, and the two cost the same for every map, hence for
 *    a released one. That is adaptive composition. The offset of the subspace came with it, exactly.
 * 4. `cohorts: one`: all contributors serve all stages, the costs add up. `cohorts: split`: the ticket of a
 *    contributor says which one it serves, whatever it sends, so a neighbour changes one stage: the cost is the largest.
 * Events are planned for all columns. In a subspace of fewer, rows have zeros behind (still rows inside the same balls),
 * and what is drawn for those columns is not read.
 *
 * Source: Ashtiani and Liaw (2022), section 5.1, the learner of Gaussians, with the bounded preconditioner in place of
 * Algorithm 3, the centre and clipped mean of this library in place of the estimator that the section cites, and subspace
 * and offset in one test; robust groups after its Corollary 7.5, whose groups are averaged here where they are alike.
 */
export const gaussian: Estimator = {
  name: 'gaussian',
  title: 'A whole Gaussian: mean and covariance, close in total variation',
  citations: [{
    key: 'AL22',
    text: 'H. Ashtiani, C. Liaw. Private and polynomial time algorithms for learning Gaussians and beyond. COLT 2022.',
    place: 'section 5.1, Corollary 7.5',
  }, {
    key: 'KLSU19',
    text: 'G. Kamath, J. Li, V. Singhal, J. Ullman. Privately learning high-dimensional distributions. COLT 2019.',
    place: 'section 3',
  }],
  parameters,
  shelf: 'research',
  assumption: 'Rows are normal, and you know bounds on their variance.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate zCDP, rho split '
    + 'between subspace, covariance and mean, or whole for each on contributors of its own.',
  plan: planGaussian,
  outputLabels: (_, columns) => [
    ...columns.map((column) => `mean ${column}`),
    ...columns.flatMap((row) => columns.map((column) => `${row}, ${column}`)),
  ],
};
