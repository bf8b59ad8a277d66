import type { Outcome, ValueOutcome } from '../../base/outcome.js';
import { clippedMeanEvents, privateClippedMeanOn } from '../../privacy/stages/clipped-mean.js';
import { participationBelowPlan } from '../contract/outcomes.js';
import type {
  Infeasible, ParameterValues, PrivacyTarget,
} from '../contract/estimator.js';
import { errorUpTo, infeasible } from '../contract/planning.js';
import type { ColumnRange } from '../contract/values.js';
import { knownCentre } from './centre.js';
import { answerOf } from './centred-mean.js';
import type { DesignRequest, PooledDesign } from './estimator.js';
import { honestErrorOfMean } from './expected-error.js';
import { assumptions } from './plan.js';
import { rowsCohort } from './pool.js';

/**
 * The mean of rows with public bounds, and no spread besides, of which some may be hostile.
 *
 * Claim. rho zCDP, no delta.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the clipped mean (privacy/stages/clipped-mean), which gets all of rho that the
 * people beyond the bounds (outside) leave.
 * Why. Rows are moved into the bounds, which keeps each contributor one row. The spread is half the
 * width of the bounds and the centre their middle. Both are public, and nothing else is drawn. A
 * row is within one spread of the middle in every column, so a ball of radius sqrt(columns) holds
 * them all.
 * @param corruption - fraction of false rows that the answer is promised for.
 */
export function boundedDesign(
  { facts }: DesignRequest, range: ColumnRange, corruption: number,
): PooledDesign {
  const { dimension, cohort, target: { rho } } = facts;
  const { low, high } = range;
  const middle = low.map((end, j) => (end + high[j]!) / (high[j]! - end));
  const radius = Math.sqrt(dimension);
  const clipped = clippedMeanEvents({
    cohort: rowsCohort, dimension, radius, rho, sumShare: sumShareOf(dimension),
  });
  const { sum, count } = clipped;
  return {
    kind: 'design',
    centre: knownCentre(middle),
    plan: {
      events: [sum, count],
      guarantee: {
        theorem: 'noisy mean of rows moved into public bounds; '
          + 'proof in src/privacy/stages/clipped-mean',
        assumptions: [assumptions.corruption],
        corruptionMax: corruption,
      },
      outputShape: [dimension],
      facts: {
        clipRadiusInSpreads: radius,
        noisePerCoordinateInSpreads: sum.sigma / cohort,
        noiseOfCount: count.sigma,
        movedByCorruptionInSpreads: radius,
      },
      expectedError: errorUpTo(
        corruption, honestErrorOfMean(dimension, cohort, sum.sigma),
        (share) => share * radius,
      ),
    },
    noise: { sigma: sum.sigma, rows: cohort },
    // Whole steps are added up, exactly, as they stay below 2^53: any order gives the same sum.
    unsorted: { upTo: Infinity, tagged: false },
    inSpreads: true,
    release: async ({ mechanisms, compute }, { pool, centre, spread }) => {
      const drawn = await privateClippedMeanOn(
        compute, mechanisms, pool, { centre, ball: clipped.ball, cohort },
      );
      return drawn.map((answer): Outcome => {
        if (answer.kind === 'participation-below-plan') return participationBelowPlan(facts);
        const outcome = answerOf(clipped, {
          centre: centre.map((entry, j) => entry * spread[j]!),
          spread,
          moved: answer.mean.map((entry, j) => entry - centre[j]!),
          present: answer.present,
        });
        return outcome.kind === 'refused'
          ? outcome : withHostile(outcome, { range, spread, corruption });
      });
    },
  };
}

/**
 * The answer with what holds even if a share c of the rows is hostile. All rows are inside the
 * bounds, so the mean m of all is (1 - c) times the honest mean, plus at most c times an end of the
 * bounds. Solved for the honest mean, and kept inside the bounds. Post-processing.
 */
function withHostile(
  answer: ValueOutcome, { range: { low, high }, spread, corruption }: {
    readonly range: ColumnRange; readonly spread: Float64Array; readonly corruption: number;
  },
): ValueOutcome {
  const inside = (value: number, j: number): number =>
    Math.max(low[j]!, Math.min(high[j]!, value));
  const honest = (mean: number, end: number): number =>
    (mean - corruption * end) / (1 - corruption);
  const { estimate, interval95 } = answer;
  const lows = interval95!.low.map((end, j) =>
    Math.min(estimate[j]!, inside(honest(end, high[j]!), j)));
  const highs = interval95!.high.map((end, j) =>
    Math.max(estimate[j]!, inside(honest(end, low[j]!), j)));
  const reach = estimate.map((entry, j) =>
    Math.max(entry - lows[j]!, highs[j]! - entry) / spread[j]!);
  return {
    ...answer,
    intervalIfFalse95: { low: lows, high: highs },
    radiusIfFalse95: Math.hypot(...reach),
    spread: Array.from(spread),
  };
}

/** The demands of a mean with a range. Without a spread, nothing else has to be found. */
export function demandBounded(values: ParameterValues, target: PrivacyTarget): Infeasible | null {
  return withoutRho(target) ?? (values['spread'] === 'auto' ? unusedBesideRange(values) : null);
}

export function withoutRho({ rho }: PrivacyTarget): Infeasible | null {
  return rho > 0 ? null
    : infeasible('the mean needs a positive rho', 'ask for (epsilon, delta) with delta > 0');
}

/** Null unless a parameter is given that a mean with a range alone has no use for. */
export function unusedBesideRange(values: ParameterValues): Infeasible | null {
  const unused = unusedBeside.find((name) => values[name] !== undefined);
  return unused === undefined ? null : infeasible(
    `range and ${unused} are both given, and a mean with a range alone does not use ${unused}`,
    `leave out ${unused}, or give spread as well`,
  );
}

/** Parameters without a default that are of no use with a range alone. */
const unusedBeside = ['radius', 'rounds', 'axes', 'final-part'];

/**
 * The mean may be at a corner of the bounds, sqrt(d) from the middle, so the noise of the count
 * moves it as well. With a share s of rho for the sum, the squared errors are 2 d^2 / s and
 * (d / 2) / (1 - s), in the same unit. Their sum is least here.
 */
function sumShareOf(dimension: number): number {
  return 1 / (1 + 0.5 / Math.sqrt(dimension));
}
