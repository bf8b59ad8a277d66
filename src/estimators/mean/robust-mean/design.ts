import { normalUpperQuantile } from '../../../numerics/normal.js';
import { countGrid, gaussianEvent, symmetricGaussianEvent } from '../../../privacy/accounting/calibration.js';
import { centreEvents } from '../../../privacy/stages/centre.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { GaussianEvent, MechanismEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import { powerOfTwoBelow } from '../../../privacy/accounting/grid.js';
import { keepingCount } from '../../../privacy/mechanisms/bounds.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { ExpectedError, StudyFacts } from '../../contract/estimator.js';
import { isBlind } from '../filters/design.js';
import { histogramBins } from '../../pooled/projected-histogram.js';

/**
 * The noise of a robust mean, worked out from public numbers.
 *
 * Claim. Neighbours: one contributor's row replaced by any other, or by none, or added: at any time at most one row of
 * those left is in one and not in the other, and one the other way round (robust-mean). With ||z|| <= R:
 * - their number changes by at most 1;
 * - their sum by ||z - z'|| <= 2 R;
 * - their sum of z z^T, in Frobenius norm, by sqrt(||z||^4 + ||z'||^4 - 2 (z . z')^2) <= sqrt 2 R^2;
 * - their histogram along an axis, or of their distance, one bin each, by sqrt 2 in L2.
 * Rows are whole steps of a grid, so all of these are exact and lie on the grids of their events.
 */
export interface LookEvents {
  readonly count: GaussianEvent;
  readonly sum: GaussianEvent;
  readonly square: SymmetricGaussianEvent;
  /** Of the distance from the mean; null with one column, where it says nothing new. */
  readonly distance: GaussianEvent | null;
  /** Along the widest axes. */
  readonly profiles: readonly GaussianEvent[];
}

export interface RobustDesign {
  /** What is left to spend after the scale; the cohort is the study's. */
  readonly facts: StudyFacts;
  readonly ball: ClipBall;
  readonly rowsMax: number;
  /** None where they could see nothing. */
  readonly looks: readonly LookEvents[];
  /** Of the first look, planned. */
  readonly gate: number;
  readonly sum: GaussianEvent;
  readonly count: GaussianEvent;
  readonly events: readonly MechanismEvent[];
  /** Rows that find the centre nearly surely. */
  readonly cohortForCentre: number;
}

export interface RobustAsked {
  readonly cohort: string;
  readonly facts: StudyFacts;
  readonly corruption: number;
  /** In scales. */
  readonly radius: number;
  readonly looks: number;
  /** Profiles of a look. */
  readonly axes: number;
  readonly centreShare: number;
  readonly finalShare: number;
}

/** Parts of a look's cost: it finds axes by the second moments, and sees along them by profiles. */
const parts = { count: 0.02, sum: 0.08, square: 0.5, profiles: 0.4 } as const;
/** How many times the nominal cohort is counted exactly; further rows are left out by their tags. */
const surplus = 4;
/** Share of honest rows that the fullest bin, four scales wide, holds in the worst position of the bins. */
const fullestBin = 0.38;
/** Sums that a histogram's event carries fill its sensitivity to one part in so many. */
const leastTimes = 16;
const sqrt2 = Math.SQRT2 * (1 + 2 ** -50);

/** Splits rho: the centre, the looks, the final mean. */
export function robustDesign(asked: RobustAsked): RobustDesign {
  const { cohort, facts, corruption, looks: count, centreShare, finalShare } = asked;
  const { dimension, target } = facts;
  const rowsMax = surplus * facts.cohort;
  const ball = clipBall(asked.radius, { products: true, rowsMax });
  const [bins, median] = centreEvents({
    cohort, dimension, rho: shareOf(target.rho, centreShare), delta: target.delta,
  });
  const rhoLook = shareOf(target.rho, (1 - centreShare - finalShare) / count);
  const planned = Array.from({ length: count }, (_, t) => lookEvents(asked, `look-${t + 1}`, rhoLook, ball));
  const gate = gateOf(planned[0]!, facts.cohort);
  const looks = isBlind(gate, corruption, ball) ? [] : planned;
  const rhoFinal = shareOf(target.rho, looks.length === 0 ? 1 - centreShare : finalShare);
  const sum = sumEvent('mean/sum', asked, ball, shareOf(rhoFinal, 0.95));
  const present = countEvent('mean/count', cohort, shareOf(rhoFinal, 0.05));
  const wanted = keepingCount(bins) + bins.sigma * normalUpperQuantile(0.01 / dimension);
  return {
    facts, ball, rowsMax, looks, gate, sum, count: present,
    events: [bins, median, ...looks.flatMap(eventsOf), sum, present],
    cohortForCentre: Math.ceil(wanted / (fullestBin * (1 - corruption))),
  };
}

function eventsOf({ count, sum, square, distance, profiles }: LookEvents): MechanismEvent[] {
  return [count, sum, square, ...(distance === null ? [] : [distance]), ...profiles];
}

function lookEvents(asked: RobustAsked, name: string, rho: number, ball: ClipBall): LookEvents {
  const { cohort, facts: { dimension } } = asked;
  const axes = Math.min(asked.axes, dimension);
  const rhoProfile = shareOf(rho, parts.profiles / (axes + (dimension > 1 ? 1 : 0)));
  const profile = (part: string): GaussianEvent => gaussianEvent({
    name: `${name}/${part}`, cohort, dimension: histogramBins, sensitivity: sqrt2, rho: rhoProfile,
    // Fine enough for sums as well (spare).
    grid: Math.min(countGrid(1 / Math.sqrt(rhoProfile)), powerOfTwoBelow(Math.SQRT1_2 / (ball.steps * leastTimes))),
  });
  return {
    count: countEvent(`${name}/count`, cohort, shareOf(rho, parts.count)),
    sum: sumEvent(`${name}/sum`, asked, ball, shareOf(rho, parts.sum)),
    square: symmetricGaussianEvent({
      name: `${name}/square`, cohort, dimension, sensitivity: sqrt2 * ball.radius ** 2 * (1 + 2 ** -50),
      rho: shareOf(rho, parts.square), grid: ball.grid ** 2,
    }),
    distance: dimension > 1 ? profile('distance') : null,
    profiles: Array.from({ length: axes }, (_, k) => profile(`axis-${k + 1}`)),
  };
}

function sumEvent(
  name: string, { cohort, facts: { dimension } }: RobustAsked, ball: ClipBall, rho: number,
): GaussianEvent {
  return gaussianEvent({ name, cohort, dimension, sensitivity: 2 * ball.radius, rho, grid: ball.grid });
}

function countEvent(name: string, cohort: string, rho: number): GaussianEvent {
  return gaussianEvent({ name, cohort, dimension: 1, sensitivity: 1, rho, grid: countGrid(1 / Math.sqrt(2 * rho)) });
}

/**
 * The spread beyond 1 that an axis may show without being looked along: the second moments' noise, whose norm is about
 * sigma sqrt(2 d), and sampling, whose norm is about 2 sqrt(d / n).
 * @param count - rows, released or planned.
 */
export function gateOf({ square }: LookEvents, count: number): number {
  return (square.sigma * Math.sqrt(2 * square.dimension)) / count + 2 * Math.sqrt(square.dimension / count);
}

/**
 * Of a share c of hostile rows, what does not widen any axis beyond the gate moves the mean by at most sqrt(c gate).
 * Along an axis that is looked along, rows that a normal shape cannot explain go, and the rest move its median by about
 * sqrt(pi / 2) c. Neither can move it further than the ball.
 */
export function robustErrorOf(
  { facts, ball, sum, gate }: RobustDesign, corruption: number, promise: number,
): ExpectedError {
  const { dimension, cohort } = facts;
  const sampling = Math.sqrt(dimension / cohort);
  const noise = (sum.sigma * Math.sqrt(dimension)) / cohort;
  if (!(corruption >= 0 && corruption <= promise)) return { total: Infinity, sampling, noise, bias: Infinity };
  const hidden = Math.sqrt(corruption * gate);
  const explained = (Math.sqrt(Math.PI / 2) * corruption) / (1 - 2 * corruption);
  const bias = Math.min(corruption * ball.radius, Math.hypot(hidden, explained));
  return { total: Math.hypot(sampling, noise, bias), sampling, noise, bias };
}
