import type { Released } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { errorUpTo } from '../../contract/planning.js';
import type { Draws } from '../../pooled/centre.js';
import {
  pooledDesign, type CentredPool, type DesignRequest, type PooledDesign, type TooFew,
} from '../../pooled/estimator.js';
import { covarianceOutput, errorsOfCovariance } from '../moments/outcomes.js';
import { centredDesign, type CentredDesign } from './centred-design.js';
import {
  entryOfOneValue, outcomeOfMoments, privateMomentsOfAll, withFindings,
} from './centred-release.js';
import { assumedCondition } from './variance-bounds.js';

/**
 * A covariance from every row. Rows are put in spreads about a private centre. Rounds of noisy
 * moments then find a map after which all directions vary alike, and the mean more and more
 * closely. A noisy histogram of the distances from the mean says how far out rows stand, and so
 * how wide the last ball is. The moments in that ball, mapped back, are the answer.
 *
 * Claim. (rho, delta), delta-approximate zCDP; delta is for the spread and the centre alone.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the pipeline (pooled/estimator), of the number of rows, of the rounds and the last
 * moments (moments/centred-moments) and of the histogram of distances (sensitivity sqrt 2),
 * composed adaptively.
 * Why.
 * - At any time a row's image is a function of this row and of released numbers: centre, spread,
 *   map and mean. Neighbours are compared given the same releases, so they differ in one image at
 *   most. Where more rows come than are counted, one contributor more or less changes one row for
 *   another.
 * - After the map each image is rounded to the ball's grid and clipped there. So the sums change by
 *   at most 2 R and sqrt 2 R^2, whatever the map is, and are exact. The last ball is the plan's:
 *   rows are divided by how many times wider it is to be, so its sensitivity is public.
 * - The product of means that is taken off the second moments is made of the released sum, so it is
 *   post-processing. So are maps, means, the width of the ball, refusals and intervals.
 *
 * Accuracy. `interval95` is for the covariance of the population that the rows are a sample of. It
 * holds noise, sampling and what clipping may have taken off: what the histogram shows beyond the
 * ball, the tail as it goes on from there, and a cluster beside the ball that noise hides. It does
 * not hold a few rows much farther out. With 20,000
 * contributors, 5 columns and epsilon 1 it covered at least .97 of the entries of nine shapes from
 * uniform to lognormal; with 5,000 contributors .93 of lognormal rows. Where tails are long the
 * estimate is low: by a tenth for t3 and lognormal rows, with 30,000 contributors and 3 columns.
 * Not robust: a share a of hostile rows moves the answer by up to a R^2 along an axis of its
 * choice, relative to the variance there, and may widen the ball.
 *
 * Source: the recursive maps of Kamath, Li, Singhal and Ullman (2019) and of Biswas, Dong, Kamath
 * and Ullman (2020), about means that are found on the way.
 *
 * @param condition - how many times more rows vary in one direction than in another, in spreads.
 */
export function designCentred({ facts }: DesignRequest, condition: number): PooledDesign | TooFew {
  const design = centredDesign({ facts, condition });
  if (design === null) {
    return {
      kind: 'too-few',
      hidden: 'how wide the rows are in some direction',
      others: 'closer bounds variance-low and variance-high, fewer columns or a larger epsilon',
    };
  }
  const { dimension } = facts;
  return pooledDesign(design, {
    answersOneValue: true,
    plan: {
      guarantee: {
        theorem: 'noisy second moments of all rows after a private map; '
          + 'proofs in src/estimators/covariance/covariance and src/estimators/covariance/moments',
        assumptions: [assumedCondition(condition)],
        corruptionMax: 0,
      },
      ...covarianceOutput(dimension),
      facts: {
        errorsAreIn: errorsOfCovariance,
        madeFrom: 'all rows',
        rounds: design.rounds.length,
        rowsNeeded: design.rowsNeeded,
        rowsCountedAtMost: design.rowsMax,
        clipRadiusAfterTheMap: design.ball.radius,
      },
      expectedError: errorUpTo(0, design),
    },
    release: (draws, centred) => releaseCentred(design, draws, centred),
  });
}

async function releaseCentred(
  design: CentredDesign, draws: Draws, centred: CentredPool,
): Promise<Released<Outcome>> {
  const found = await privateMomentsOfAll(design, draws, centred);
  return found.map((answer) => {
    if (answer.kind === 'refused') return answer;
    const outcome = outcomeOfMoments(design, answer);
    return outcome.kind === 'refused' ? outcome
      : withFindings(outcome, answer, (at) => entryOfOneValue(answer, at));
  });
}
