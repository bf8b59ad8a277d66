import type { Interval95, ValueOutcome } from '../../../base/outcome.js';
import { deviations95 } from '../../../numerics/normal.js';
import { widenedBy } from '../../contract/outcomes.js';
import { movedByShare } from '../../pooled/expected-error.js';
import type { RoundMoments } from '../filters/weights.js';
import type { RobustDesign, RobustRound } from './design.js';

/**
 * Bounds that hold even if the stated share c of the rows is false. Everything here is released or
 * public, so it is post-processing.
 *
 * The honest rows are a subset H of all rows, of share 1 - c at least. Along every unit vector v
 * the means of H and of all differ by at most sqrt(c / (1 - c)) of the deviation of all: with F the
 * mean of the others, mean all - mean H = c (F - mean H), and the variance of all is at least
 * c (1 - c) (F - mean H)^2. In a ball of radius R about the centre they differ by at most
 * c / (1 - c) (R + |mean all|), since |F| <= R. No law of the rows is assumed, so false rows that
 * look like honest ones make no difference.
 */
interface IfFalse {
  readonly interval: Interval95;
  /** About the estimate, in spreads. */
  readonly radius: number;
}

type FalseDesign = Pick<RobustDesign, 'corruption' | 'ball'> & {
  readonly rounds: readonly RobustRound[];
};

/**
 * The answer with `intervalIfFalse95` and `radiusIfFalse95`.
 * @param answer - with `interval95`.
 * @param first - moments of all rows, pulled into the ball; null: the answer is their mean.
 * @param found - where the rows of `first` are, and their unit in each column.
 */
export function withFalse(
  design: FalseDesign, answer: ValueOutcome, first: RoundMoments | null,
  found: { readonly centre: Float64Array; readonly spread: Float64Array },
): ValueOutcome {
  const { interval, radius } = first === null
    ? ofMean(design, answer, found) : ofMoments(design, answer, first, found);
  return { ...answer, intervalIfFalse95: interval, radiusIfFalse95: radius };
}

/** How far the mean of all rows in the ball may be from that of the honest ones, in spreads. */
function withinBall({ corruption, ball }: FalseDesign, mean: ArrayLike<number>): number {
  return (corruption / (1 - corruption)) * (ball.radius + Math.hypot(...Array.from(mean)));
}

function ofMean(
  design: FalseDesign, { estimate, interval95 }: ValueOutcome,
  { centre, spread }: Parameters<typeof withFalse>[3],
): IfFalse {
  const moved = withinBall(design, estimate.map((entry, j) => (entry - centre[j]!) / spread[j]!));
  const halves = estimate.map((entry, j) => (interval95!.high[j]! - entry) / spread[j]!);
  return {
    interval: widenedBy(interval95!, (j) => spread[j]! * moved),
    radius: moved + Math.hypot(...halves),
  };
}

function ofMoments(
  design: FalseDesign, { estimate, interval95 }: ValueOutcome, first: RoundMoments,
  { centre, spread }: Parameters<typeof withFalse>[3],
): IfFalse {
  const [look] = design.rounds;
  const rows = Math.max(1, first.count);
  const { length } = spread;
  const share = movedByShare(design.corruption);
  const most = withinBall(design, first.mean);
  // Two deviations of the noise of a variance: an entry on the diagonal has the deviation sigma.
  const unsure = (2 * look!.square.sigma) / rows;
  const deviations = Float64Array.from(spread, (_, j) =>
    Math.sqrt(Math.max(0, 1 + first.excess[j * (length + 1)]!) + unsure));
  const own = deviations.map((deviation, j) => deviations95 * Math.hypot(
    look!.sum.sigma / rows, (first.mean[j]! * look!.count.sigma) / rows,
    deviation / Math.sqrt(rows),
  ));
  const middle = first.mean.map((entry, j) => centre[j]! + spread[j]! * entry);
  const half = own.map((one, j) => spread[j]! * (one + Math.min(most, share * deviations[j]!)));
  const widest = share * Math.sqrt(
    Math.max(0, 1 + first.largestExcess) + unsure * Math.sqrt(2 * length),
  );
  return {
    interval: {
      low: interval95!.low.map((end, j) => Math.min(end, middle[j]! - half[j]!)),
      high: interval95!.high.map((end, j) => Math.max(end, middle[j]! + half[j]!)),
    },
    radius: Math.hypot(...own) + Math.min(most, widest)
      + Math.hypot(...estimate.map((entry, j) => (entry - middle[j]!) / spread[j]!)),
  };
}
