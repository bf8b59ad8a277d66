import { cite } from '../../contract/citations.js';
import type { Estimator } from '../../contract/estimator.js';
import { describeGaussian } from './describe.js';
import { parameters } from './parameters.js';
import { planGaussian } from './plan.js';

/**
 * A whole normal distribution: covariance and mean, close to the truth in total variation. No
 * linear map of the data changes that distance.
 *
 * By default every row serves both (all-rows, which has its claim), if the plan expects a smaller
 * error so. The fact `madeFrom` names what was chosen. `local: robust`, `subspace: affine` and
 * `arms: split` work in stages, and so does a plan from pairs; what follows is about these.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by none, or added.
 * Cost: (rho, delta), delta-approximate zCDP.
 * Why:
 * 1. `subspace: affine` finds the affine subspace of rows of whole numbers by a test that one label
 *    leads among groups (frame). It is released first. Rows are then read in its coordinates, each
 *    a function of its own row.
 * 2. The covariance costs what its events say for every data set. `local: empirical` takes pairs of
 *    rows, a private map and second moments (covariance/bounded). `local: robust` does the same
 *    with the matrices of groups (groups), and one noisy number tells whether rows look normal
 *    (normality). No delta. The covariance is made of released numbers, and so is the map that
 *    makes it the unit matrix. Without bounds on the variance, spreads are found first (units), for
 *    a tenth of the rho of this stage and of delta.
 * 3. The mean is a private centre and a clipped mean (privacy/stages/centre, clipped-mean) of the
 *    rows, or of the means of groups, after that map. One contributor remains one row, and the two
 *    stages cost the same for every map, hence for a released one. This is adaptive composition.
 *    The offset of the subspace was released with it, exactly.
 * 4. `arms: one`: all contributors serve all stages, and the costs add up. `arms: split`: a
 *    contributor's assignment hash says which stage it serves, whatever it sends, so a neighbour
 *    changes one stage and the cost is the largest one.
 * Events are planned for all columns. In a subspace of fewer, rows are extended by zeros, so they
 * are still rows inside the same balls. The noise of those columns is not read.
 *
 * Source: Ashtiani and Liaw (2022), section 5.1, the learner of Gaussians. The bounded
 * preconditioner is in place of Algorithm 3. The centre and clipped mean of this library are in
 * place of the estimator that the section cites. Subspace and offset are found in one test. Robust
 * groups follow its Corollary 7.5, whose groups are averaged here where they are alike.
 */
export const gaussian: Estimator = {
  name: 'gaussian',
  title: 'A whole Gaussian: mean and covariance, close in total variation',
  citations: [cite('AL22', 'section 5.1, Corollary 7.5'), cite('KLSU19', 'section 3')],
  parameters,
  maturity: 'research',
  describe: describeGaussian,
  assumption: 'Rows are normal, and nobody sends false ones unless local: robust resists the '
    + 'stated corruption.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate '
    + 'zCDP, rho split between spread, centre, the rounds of a map and the moments of all rows; or '
    + 'between subspace, covariance and mean, or whole for each on contributors of its own.',
  plan: planGaussian,
};
