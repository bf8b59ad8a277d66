import { assert } from '../../base/assert.js';
import { chooseByLoss, type Losses, type ScoreRuns } from '../../random/samplers/choice.js';
import type { Rational } from '../../random/samplers/discrete-laplace.js';
import { ratioOfDouble } from '../accounting/amount.js';
import type { ExponentialEvent } from '../accounting/events.js';
import type { Scores } from './contract.js';
import type { Draw } from './draw.js';

/**
 * The exponential mechanism: it returns index i with probability proportional to exp(epsilon u_i /
 * (2 sensitivity)). Candidates come one by one, as a list of scores, or in runs of equal score.
 *
 * Claim: if no score changes by more than `sensitivity` between neighbours, one call costs pure
 * epsilon, and epsilon^2 / 8 zCDP.
 * Source: McSherry and Talwar 2007; the zCDP cost by bounded range, Cesar and Rogers 2021.
 * Why the code meets it: between neighbours the log-odds of two candidates change by at most
 * epsilon. The choice is exact: the code computes the loss epsilon (max u - u_i) / (2 sensitivity)
 * as a rational number from the doubles, and `chooseByLoss` has the law exp(-loss) exactly. Runs
 * are only another way to write the list: their ends may differ between neighbours, as long as the
 * score of every single candidate changes by at most `sensitivity`. The scores count as given:
 * their sensitivity must include the rounding in their own computation.
 * Cost: see `chooseByLoss`; a list of scores is a list of runs of one candidate each.
 * @param draw - fresh uniform numbers, which can be drawn ahead: one, seldom more.
 */
export function drawExponential(
  draw: Draw, event: ExponentialEvent, scores: Scores,
): number {
  const runs = runsOf(scores);
  let best = -Infinity;
  let candidates = 0;
  runs.scores.forEach((score, i) => {
    const length = runs.lengths[i]!;
    candidates += length;
    if (length > 0 && score > best) best = score;
  });
  assert(candidates === event.candidates, 'runs have the number of candidates that was charged');
  return chooseByLoss(() => BigInt(draw()), runs, lossesOf(event, best));
}

/** A list of scores as runs of one candidate each. */
export function runsOf(scores: Scores): ScoreRuns {
  return scores instanceof Float64Array
    ? { lengths: new Float64Array(scores.length).fill(1), scores } : scores;
}

function lossesOf({ epsilon, sensitivity }: ExponentialEvent, best: number): Losses {
  const rate = ratioOfDouble(epsilon);
  const width = ratioOfDouble(sensitivity);
  const numerator = rate.numerator * width.denominator;
  const denominator = 2n * rate.denominator * width.numerator;
  return {
    of: (score) => {
      const gap = exactDifference(best, score);
      return { numerator: gap.numerator * numerator, denominator: gap.denominator * denominator };
    },
    near: (score) => (best - score) / sensitivity * epsilon / 2,
  };
}

/** larger - smaller, exactly. */
function exactDifference(larger: number, smaller: number): Rational {
  const difference = larger - smaller;
  if (Number.isSafeInteger(larger) && Number.isSafeInteger(smaller)
      && Number.isSafeInteger(difference)) {
    return { numerator: BigInt(difference), denominator: 1n };
  }
  const left = signedRatio(larger);
  const right = signedRatio(smaller);
  return {
    numerator: left.numerator * right.denominator - right.numerator * left.denominator,
    denominator: left.denominator * right.denominator,
  };
}

function signedRatio(value: number): Rational {
  const { numerator, denominator } = ratioOfDouble(Math.abs(value));
  return { numerator: value < 0 ? -numerator : numerator, denominator };
}
