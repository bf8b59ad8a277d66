import { InvalidParameterError } from '../../../base/errors.js';
import { describeMeans } from '../../contract/describe.js';
import type { Estimator } from '../../contract/estimator.js';
import { kmv22 } from '../../contract/papers.js';
import { choiceOf, corruptionParameter } from '../../contract/values.js';
import { definePooledEstimator } from '../../pooled/estimator.js';
import { centrePartParameter, radiusParameter } from '../../pooled/parameters.js';
import { designDual, dualCentrePart } from './dual.js';
import { designReference, referenceCentrePart } from './reference.js';

/**
 * A private mean of weighted rows: the weights are the nearest to all ones under which the rows are
 * in no direction wider than a public bound. By default the dual of that problem is private
 * (`dual.ts`); with `variant: reference` the problem itself is solved, and the noise covers how
 * much its solution can change (`reference.ts`). Claim, neighbours, cost and proof of each are in
 * its file.
 */
export const stableMean: Estimator = definePooledEstimator({
  name: 'stable-mean',
  title: 'Private robust mean by stable weights',
  citations: [kmv22('the strongly convex program of its section 4')],
  maturity: 'research',
  assumption:
    'Honest rows have light tails and are at most about one spread wide in every direction.',
  parameters: [
    corruptionParameter(
      0.2, 'fraction of false rows that the error is promised for; the weights do not depend on it',
    ),
    {
      name: 'steps', type: 'integer', default: 6, minimum: 1, maximum: 50,
      description: 'variant: default: steps that the weights take in each of two stages; more '
        + 'steps go further, but each has more noise',
    },
    {
      name: 'bound', type: 'number', default: 1, minimum: 0.5, maximum: 4, unit: 'squared spreads',
      description: 'how wide the weighted rows may be in any direction; 1 leaves rows as wide as '
        + 'spread their weights, less resists better and pulls skewed rows off their mean',
    },
    centrePartParameter(
      `${dualCentrePart} when absent, ${referenceCentrePart} with variant: reference`, 0.8,
    ),
    radiusParameter(1e6, '. With variant: reference at most twice that, because the longest time '
      + 'that the weights may take grows with its square'),
    {
      name: 'variant', type: 'choice', default: 'default', choices: ['default', 'reference'],
      description: 'reference: the weights are found exactly and have no noise of their own, but '
        + 'the noise of the mean falls with the root of the contributors only',
    },
    {
      name: 'recentre', type: 'choice', optional: true, choices: ['auto', 'yes', 'no'],
      description: 'variant: reference: weigh twice, the second time about the first answer; auto, '
        + 'and none given, does when contributors are so many that the first answer beats the '
        + 'private centre',
    },
  ],
  describe: describeMeans,
  claim: 'One contributor’s row replaced by anything, including nothing: '
    + '(rho, delta)-approximate zCDP, rho split between the centre and stages of noisy steps '
    + 'and a weighted sum; with variant: reference between the centre, a count, and one or two '
    + 'weighted sums and their weights.',
}, {
  design: (request) => {
    if (choiceOf(request.values, 'variant') === 'reference') return designReference(request);
    if (request.values['recentre'] === undefined) return designDual(request);
    throw new InvalidParameterError(
      'parameters.recentre is for variant: reference: leave it out, since there are always two '
      + 'stages by default', { path: 'parameters.recentre' },
    );
  },
});
