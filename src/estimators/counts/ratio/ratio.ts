import { InvalidParameterError } from '../../../base/errors.js';
import type { Interval95, Outcome } from '../../../base/outcome.js';
import { cite } from '../../contract/citations.js';
import type {
  Estimator, Infeasible, ParameterValues, Plan, PrivacyTarget, StudyFacts,
} from '../../contract/estimator.js';
import { columnsOf } from '../../contract/given.js';
import { errorUpTo, makePlan, needsCohort } from '../../contract/planning.js';
import { numbersOf, valueBounds } from '../../contract/values.js';
import {
  answerOfQuotients, deviationsCovering, deviationsNeeded, quotientOf,
} from '../quotients/fieller.js';
import { boundsOf, stepsPerUnit, type Bounds } from '../sum/bounds.js';
import { planDiscoveredTotals } from '../sum/discovered-totals.js';
import { noiseOfTotals, planGivenBounds } from '../sum/given-bounds.js';
import type { DiscoveredFacts } from '../discovered/places.js';
import { stepsPerHalf } from '../tables/half-ranges.js';
import { keyPlacesOf } from '../tables/key-places.js';
import { corruptionMax } from '../tables/noisy-counts.js';
import { describeRatio } from './describe.js';

/**
 * The total of the first column over the total of the second, each value clipped to 0..cap.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added.
 * Cost: rho zCDP, no delta, for all data; or pure epsilon, where the budget asks for it.
 * Why: it is the quotient of two totals that sum/given-bounds publishes, and nothing else is drawn.
 *
 * It is answered where the noisy total of the second column is 3 standard deviations of its noise
 * or more. The interval is Fieller's (quotients/fieller), for the quotient of the totals of clipped
 * values of the people who took part. Where the number of values beyond a cap stands out, it is
 * open as far as this may move the ratio (`unclipped`).
 * Hostile: let a and b be the honest totals, in caps. L contributors raise the ratio, in first cap
 * / second cap, by at most L / b, and lower it by at most (a / b) L / (b + L).
 * Source: Fieller (1954); the discrete Gaussian of Canonne, Kamath and Steinke (2020).
 */
export const ratio: Estimator = {
  name: 'ratio',
  title: 'Total of one column over the total of another, each value clipped to a cap',
  citations: [cite('CKS20', 'theorem 14, for whole multiples of 2^-20 of the cap')],
  parameters: [{
    name: 'cap', type: 'positive', minimum: 1e-150, maximum: valueBounds.maximum,
    unit: 'data units',
    description: 'the most that one contributor counts for in each of the two columns, one number '
      + 'or one per column; values are clipped to 0..cap',
  }],
  keyed: ['public', 'discovered'],
  maturity: 'recommended',
  describe: describeRatio,
  assumption: 'You know a cap for nearly all values of both columns.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP, no delta; '
    + 'pure epsilon under such a budget.',
  liars: 'Each person who lies adds at most one cap above the line, and at most one below it',
  plan: planRatio,
};

/** @throws InvalidParameterError unless there are two columns. */
function planRatio(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  if (columnsOf(facts) !== 2) {
    throw new InvalidParameterError(
      `a ratio needs 2 columns, and there are ${columnsOf(facts)}: give the column above the line, `
      + 'then the one below it',
      { path: 'columns' },
    );
  }
  const { cohort, keys, target } = facts;
  const bounds = numbersOf(values, 'cap').map((cap) => boundsOf(0, cap));
  if (keys?.list === 'discovered') return planDiscoveredRatio(bounds, { ...facts, keys });
  const { standardDeviation } = noiseOfTotals(bounds, facts).totals;
  const cohortNeeded = Math.ceil(2 * deviationsNeeded * standardDeviation);
  if (cohort < cohortNeeded) {
    return needsCohort(
      `with ${cohort} contributors, noise may hide the total below the line`, cohortNeeded,
      'or a larger epsilon',
    );
  }
  const sums = planGivenBounds(bounds, facts);
  const { count, groupsMax } = keyPlacesOf(facts);
  return ratioPlan(sums, { count, groupsMax, cohort }, {
    bounds, standardDeviation, rounding: cohort / (2 * stepsPerUnit), byKey: keys !== undefined,
    target, correlation: 0,
  }, keys === undefined ? {} : { keys: count, groupsMax });
}

/**
 * The ratio for each of the keys that are found among those that people send.
 * Claim, neighbours and cost: those of sum/discovered-totals. The noise of the two totals of a key
 * is not independent, because both have that of its count: Fieller's interval allows for it.
 */
function planDiscoveredRatio(bounds: readonly Bounds[], facts: DiscoveredFacts): Plan | Infeasible {
  const totals = planDiscoveredTotals(bounds, facts);
  if ('kind' in totals) return totals;
  const { plan, deviations, correlation } = totals;
  const { cohort, target, keys: { groupsMax, top } } = facts;
  const { keysShownFromCount: from } = plan.facts;
  const count = Math.max(1, Math.min(top, Math.floor(cohort / Number(from))));
  const found = ratioPlan(plan, { count, groupsMax, cohort }, {
    bounds, standardDeviation: deviations[0]!, correlation: correlation(0, 1), byKey: true, target,
    rounding: cohort / (4 * stepsPerHalf),
  }, plan.facts);
  return { ...found, outputShape: [top] };
}

/** How many keys there are, and for how many one contributor counts. */
interface RatioSize {
  readonly count: number;
  readonly groupsMax: number;
  readonly cohort: number;
}

/** @param sums - the plan of the two totals of each key, whose noise is in `reading`. */
function ratioPlan(
  sums: Plan, { count, groupsMax, cohort }: RatioSize, reading: Reading, facts: Plan['facts'],
): Plan {
  const { standardDeviation } = reading;
  const deviation = (Math.SQRT2 * standardDeviation * count * Math.sqrt(count)) / cohort;
  return makePlan({
    ...sums,
    guarantee: {
      ...sums.guarantee,
      assumptions: ['for the ratio of unclipped totals: all values are within the caps'],
    },
    outputShape: [count],
    noise: [],
    facts: {
      ...facts,
      errorsAreIn: 'first cap / second cap, over all groups, if everybody is at both caps',
      noiseInCaps: standardDeviation,
      answeredFromNoisyTotalInCaps: deviationsNeeded * standardDeviation,
    },
    expectedError: errorUpTo(
      corruptionMax, { sampling: 0, noise: deviation },
      (share) => 2 * share * count * Math.sqrt(Math.min(groupsMax, count)),
    ),
    release: async (...given) => {
      const released = await sums.release(...given);
      return released.map((totals) => ratioOf(totals, reading));
    },
  });
}

/** Public numbers with which ratios are read from noisy totals. */
interface Reading {
  readonly bounds: readonly Bounds[];
  /** Standard deviation of a total's noise, in caps. */
  readonly standardDeviation: number;
  /** Correlation between the noise of the two totals of a key. */
  readonly correlation: number;
  /** How far rounding may move a total, in caps. */
  readonly rounding: number;
  readonly byKey: boolean;
  readonly target: PrivacyTarget;
}

/** The sides on which the intervals of two totals are open: many values are beyond the caps. */
interface OpenSides {
  readonly isFirstBelow: boolean;
  readonly isFirstAbove: boolean;
  readonly isSecondBelow: boolean;
  readonly isSecondAbove: boolean;
}

function openSides({ low, high }: Interval95, at: number): OpenSides {
  return {
    isFirstBelow: low[at] === -Infinity, isFirstAbove: high[at] === Infinity,
    isSecondBelow: low[at + 1] === -Infinity, isSecondAbove: high[at + 1] === Infinity,
  };
}

/**
 * The interval of the ratio of unclipped totals, from that of clipped ones. A clipped total above
 * the line says nothing about the side to which values were cut. Below the line, a total that is
 * larger in truth brings the ratio nearer to 0. One that is smaller may be near 0 itself or below,
 * so that the ratio may be anything.
 */
function unclipped(
  low: number, high: number,
  { isFirstBelow, isFirstAbove, isSecondBelow, isSecondAbove }: OpenSides,
): { readonly low: number; readonly high: number } {
  const [least, most] = isSecondAbove ? [Math.min(low, 0), Math.max(high, 0)] : [low, high];
  return {
    low: isFirstBelow || isSecondBelow ? -Infinity : least,
    high: isFirstAbove || isSecondBelow ? Infinity : most,
  };
}

/** Post-processing of the totals by key, first and second column in turn. */
function ratioOf(
  totals: Outcome, { bounds, standardDeviation, correlation, rounding, byKey, target }: Reading,
): Outcome {
  if (totals.kind === 'refused') return totals;
  const [first, second] = bounds.map(({ unit }) => unit);
  const unit = first! / second!;
  const z = deviationsCovering(target);
  const keys = totals.estimate.length / 2;
  const quotients = Array.from({ length: keys }, (_, key) => {
    const found = quotientOf({
      numerator: totals.estimate[2 * key]! / first!,
      denominator: totals.estimate[2 * key + 1]! / second!,
      numeratorNoise: standardDeviation, denominatorNoise: standardDeviation, correlation,
      rounding,
    }, z);
    if (found === null) return null;
    return {
      estimate: found.estimate * unit,
      standardDeviation: found.standardDeviation * unit,
      ...unclipped(found.low * unit, found.high * unit, openSides(totals.interval95!, 2 * key)),
    };
  });
  const answer = answerOfQuotients({
    quotients, shape: [keys], byKey, isPure: target.isPure === true,
    divisor: 'the noisy total of the second column',
  });
  if (answer.kind === 'refused') return answer;
  const { findings, groups: found } = totals;
  return {
    ...answer,
    ...(findings !== undefined && { findings }),
    ...(found !== undefined && { groups: found }),
  };
}
