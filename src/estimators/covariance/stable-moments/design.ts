import { normalUpperQuantile } from '../../../numerics/normal.js';
import { countGrid, gaussianEvent } from '../../../privacy/accounting/calibration.js';
import { centreEvents } from '../../../privacy/stages/centre.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { GaussianEvent, MechanismEvent } from '../../../privacy/accounting/events.js';
import { keepingCount } from '../../../privacy/mechanisms/bounds.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { ExpectedError, StudyFacts } from '../../contract/estimator.js';
import { preconditionerDesign, type PreconditionerDesign } from '../moments/preconditioner.js';
import type { NamedPart } from '../../../base/parts.js';
import { tensorSpace, type TensorSpace } from './tensors.js';
import { smallestCohort } from '../../contract/planning.js';

/**
 * The noise of moments of orders 1 to 4, worked out from public numbers.
 *
 * Claim. Neighbours: one contributor's row replaced by any other, or by none, or added. Rows z in a ball of radius R have
 * ||z x ... x z|| = ||z||^k <= R^k as vectors of their tensor space. Between neighbours sums over rows change
 * - for odd k by at most 2 R^k;
 * - for even k by sqrt(||z||^2k + ||z'||^2k - 2 (z . z')^k) <= sqrt 2 R^k, since (z . z')^k >= 0;
 * - and their number by 1.
 * Vectors are rounded toward zero to whole steps of a grid, at most 2^-21 of the radius: that leaves their norm within
 * R^k, and makes the inner product of two at least -2^-15 R^2k, which the sensitivity of even orders is raised for. Sums of
 * whole steps are exact and on their events' grids.
 */
export interface OrderEvents {
  readonly space: TensorSpace;
  readonly ball: ClipBall;
  readonly sum: GaussianEvent;
}

export interface MomentsDesign {
  /** What is left to spend after the scale; the cohort is the study's. */
  readonly facts: StudyFacts;
  readonly rowsMax: number;
  /** Rows farther out in some column are left out; in scales. */
  readonly reach: number;
  readonly present: GaussianEvent;
  readonly preconditioner: PreconditionerDesign;
  /** Upper bound on the variance of honest rows in scales, in any direction. */
  readonly varianceHigh: number;
  /** Radius of rows after the map. */
  readonly radius: number;
  /** Orders 1, 2, 3 and perhaps 4. */
  readonly orders: readonly OrderEvents[];
  readonly events: readonly MechanismEvent[];
  /** Rows that find the centre nearly surely. */
  readonly cohortForCentre: number;
}

export interface MomentsAsked {
  readonly cohort: string;
  readonly facts: StudyFacts;
  readonly order: number;
  readonly condition: number;
  readonly reach: number;
  /** After the map. */
  readonly radius: number;
}

const shares = { centre: 0.1, present: 0.02, map: 0.18, orders: 0.7 } as const;
/** How an order's share compares with the others'. */
const orderWeights = [0.05, 0.15, 0.3, 0.5] as const;
const surplus = 4;
const fullestBin = 0.38;
const turnout = 0.8;
const scaleSlack = 4;
const roundingSlack = 1 + 2 ** -14;

/** Null when no number of rounds makes all directions alike. */
export function momentsDesign(asked: MomentsAsked): MomentsDesign | null {
  const { cohort, facts, condition, reach, radius } = asked;
  const { dimension, target: { rho, delta } } = facts;
  const rowsMax = surplus * facts.cohort;
  const [bins, median] = centreEvents({ cohort, dimension, rho: shareOf(rho, shares.centre), delta });
  const preconditioner = preconditionerDesign({
    cohort, dimension, range: Math.max(1, scaleSlack * dimension * condition), rho: shareOf(rho, shares.map),
    pairs: turnout * facts.cohort, pairsMax: rowsMax,
  });
  if (preconditioner === null) return null;
  const rhoPresent = shareOf(rho, shares.present);
  const present = gaussianEvent({
    name: 'present', cohort, dimension: 1, sensitivity: 1, rho: rhoPresent, grid: countGrid(1 / Math.sqrt(2 * rhoPresent)),
  });
  const orders = orderEvents(asked, shareOf(rho, shares.orders));
  const wanted = keepingCount(bins) + bins.sigma * normalUpperQuantile(0.01 / dimension);
  return {
    facts, rowsMax, reach, present, preconditioner, varianceHigh: scaleSlack * dimension, radius, orders,
    events: [bins, median, present, ...preconditioner.events, ...orders.map(({ sum }) => sum)],
    cohortForCentre: Math.ceil(wanted / fullestBin),
  };
}

function orderEvents({ cohort, facts: { dimension }, order, radius }: MomentsAsked, rho: number): readonly OrderEvents[] {
  const weights = orderWeights.slice(0, order);
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight, i) => {
    const k = i + 1;
    const space = tensorSpace(dimension, k);
    const ball = clipBall(radius ** k, { sums: true });
    const sensitivity = (k % 2 === 1 ? 2 : Math.SQRT2 * roundingSlack) * ball.radius;
    const sum = gaussianEvent({
      name: `order-${k}`, cohort, dimension: space.indices.length, sensitivity, rho: shareOf(rho, weight / all),
      grid: ball.grid,
    });
    return { space, ball, sum };
  });
}

/** The smallest cohort with a design, to a hundredth; Infinity when a thousand million are too few. */
export function momentsCohortNeeded(asked: MomentsAsked): number {
  const fits = (cohort: number): boolean => {
    const design = momentsDesign({ ...asked, facts: { ...asked.facts, cohort } });
    return design !== null && design.cohortForCentre <= cohort;
  };
  return smallestCohort(fits);
}

/**
 * Of all that is answered together, for Gaussian rows of covariance I: third and fourth moments have E ||H_k||^2 and
 * E ||z||^2k - ||E z x ...||^2 as sampling variances, and each column's skewness and excess add what theirs is. A share c
 * of rows within reach moves an average of z x z x z x z by c times the radius to the fourth power.
 */
export function momentsErrorOf(
  { facts: { dimension: d, cohort }, orders, radius }: MomentsDesign, corruption: number, promise: number,
): ExpectedError {
  const variances = [d * (d + 1) * (d + 2) + 6 * d];
  if (orders.length > 3) variances.push(d * (d + 2) * (d + 4) * (d + 6) - 3 * d * (d + 2) + 24 * d);
  const sampling = Math.sqrt(variances.reduce((sum, entry) => sum + entry, 0) / cohort);
  const noises = orders.slice(2).map(({ sum, space }) => (sum.sigma * Math.sqrt(space.indices.length + d)) / cohort);
  const noise = Math.hypot(...noises);
  if (!(corruption >= 0 && corruption <= promise)) return { total: Infinity, sampling, noise, bias: Infinity };
  const bias = corruption * radius ** orders.length * Math.sqrt(d);
  return { total: Math.hypot(sampling, noise, bias), sampling, noise, bias };
}

/** What the answer is made of. */
export function partsOf({ facts: { dimension }, orders }: MomentsDesign, directions: number): readonly NamedPart[] {
  const hasFourth = orders.length > 3;
  return [
    { name: 'third', shape: [dimension, dimension, dimension] },
    ...(hasFourth ? [{ name: 'fourth', shape: [dimension, dimension, dimension, dimension] }] : []),
    { name: 'skewness', shape: [directions] },
    ...(hasFourth ? [{ name: 'excessKurtosis', shape: [directions] }] : []),
  ];
}
