import { normalQuantile, normalUpperQuantile } from '../../../numerics/normal.js';
import { gaussianThresholdEvent } from '../../../privacy/accounting/calibration.js';
import type {
  AffineMaskEvent, GaussianThresholdEvent, WishartMaskEvent,
} from '../../../privacy/accounting/events.js';
import { affineDivergence, drawDivergence } from '../../../privacy/accounting/masking.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { pairsFloor, testDeviation } from '../../mean/populous-mean/design.js';
import {
  groupsMax, stabilityConstant, thresholdChoices, type Thresholds,
} from '../../mean/populous-mean/stability.js';
import { distanceError } from './agreement.js';
import { distanceQuantile, rootLaw } from './deviation.js';

/** The public numbers that a mask of group covariances is planned from. */
export interface MaskFacts {
  /** The name that the events give to this cohort of the plan's contributors. */
  readonly name: string;
  readonly dimension: number;
  /** Contributors of this cohort. */
  readonly cohort: number;
  readonly order: number;
  /** Divergence at that order for test and mask together. */
  readonly divergence: number;
  /** Charged by the test. */
  readonly delta: number;
  readonly kind: 'wishart' | 'affine';
  /** Degrees of freedom per row of a group. */
  readonly efficiency: number;
  /** Added to the radius for what hostile rows do to a group. */
  readonly slack: number;
  /** Fixed by the user; chosen when absent. */
  readonly groups?: number;
}

/** The public constants of a mask. */
export interface MaskDesign {
  readonly facts: MaskFacts;
  readonly groups: number;
  readonly groupSize: number;
  readonly thresholds: Thresholds;
  /** c_k of the thresholds. */
  readonly stability: number;
  /** Groups agree within this logarithm. */
  readonly radius: number;
  /** l of the mask's event. */
  readonly logDistance: number;
  /** Draws of a wishart-mask that have the error of the mask. */
  readonly samples: number;
  readonly test: GaussianThresholdEvent;
  readonly mask: WishartMaskEvent | AffineMaskEvent;
}

/** Fewer degrees of freedom leave groups near singular. */
const rowsPerColumn = 4;
const groupsStep = 1.16;
const groupsLeast = 100;
/** The test is planned to pass this often, for rows a sixth wider than Gaussian ones. */
const passWanted = 0.99;
const radiusSafety = 1.08;
const agreements = [0.8, 0.87, 0.92, 0.96, 0.985, 0.993] as const;
/** Mean agreements that the test may ask for. High ones let one group move the average less. */
const wantedAgreements = [0.95, 0.925, 0.9, 0.875, 0.85, 0.825, 0.8, 0.775, 0.75, 0.7] as const;
const testParts = [0.15, 0.22, 0.3, 0.4, 0.55] as const;

interface Candidate {
  readonly groups: number;
  readonly thresholds: Thresholds;
  readonly radius: number;
  readonly testPart: number;
  readonly samples: number;
}

/**
 * How far the weighted average of group matrices moves when one contributor changes, as l:
 * e^-l Y <= Y' <= e^l Y. For symmetric matrices A <= B means that B - A is positive semidefinite.
 *
 * Claim: holds for data sets in which agreement is at least the thresholds' and one contributor is
 * replaced by anything.
 *
 * Given. There are k groups. One group's matrix changes. Y and Y' are the averages before
 * and after. Groups agree within r, `none` is a, and the agreement is Q. The argument of
 * `stabilityConstant` uses only the triangle inequality of distances, so it holds here too:
 * - The two weightings have a total variation distance t of at most c / k.
 * - Matrices with weight in either data set are within e^2r of each other.
 * So Y = C + P and Y' = C + P'. C is the common part. P and P' each have weight t.
 *
 * Why, in five steps.
 * 1. The weights of a data set add up to at least k (Q - a) / (1 - a). The ramp is nowhere below
 *    (q - a) / (1 - a), and the mean of q is at least Q.
 * 2. Let M be a matrix with weight in either data set. M agrees with more than a k - 1 of the
 *    groups that both data sets have. So each data set has fewer than (1 - a) k + 1 other groups.
 *    Each of them weighs at most 1.
 * 3. Let s = 1 - (1 - a + 1 / k) (1 - a) / (Q - a), or 0 where that is negative. By 1 and 2 at
 *    least a share s of the weight is with groups that agree with M. Their matrices are at least
 *    e^-r M. All other matrices with weight are at least e^-2r M. So Y and Y' are at least f M,
 *    with f = s e^-r + (1 - s) e^-2r.
 * 4. P and P' are t times averages of such matrices M. By 3 they are at most (t / f) Y. Every M is
 *    at least e^-2r Y, so they are at least t e^-2r Y.
 * 5. The change is Y' - Y = P' - P. There are two bounds g on it, with Y' - Y <= g Y:
 *    - The most that P' is, less the least that P is: g = t (1 / f - e^-2r), by 4.
 *    - P' <= e^2r P, so P' - P <= (e^2r - 1) P. P is at most t e^2r Y. So g = t e^2r (e^2r - 1).
 *
 * The smaller of the two gives Y' <= (1 + g) Y. The same steps with the data sets exchanged give
 * Y <= (1 + g) Y'. So l = log(1 + g). Distances are decided in doubles, so r is increased by
 * `distanceError`.
 */
export function averageLogDistance(
  groups: number, thresholds: Thresholds, radius: number,
): number {
  const { agreement, none } = thresholds;
  const near = Math.exp(-radius - distanceError);
  const near2 = near * near;
  const share =
    Math.max(0, 1 - ((1 - none + 1 / groups) * (1 - none)) / (agreement - none)) * (1 - 2 ** -40);
  const least = share * near + (1 - share) * near2;
  const factor = Math.min(1 / least - near2, (1 / near2) * (1 / near2 - 1));
  const stability = stabilityConstant(groups, thresholds);
  return Math.log1p((stability / groups) * factor) * (1 + 2 ** -30);
}

/** The design that masks least; null when none leaves `samplesLeast` draws. */
export function maskDesign(facts: MaskFacts, samplesLeast: number): MaskDesign | null {
  let best: Candidate | null = null;
  for (const groups of candidateGroups(facts)) {
    for (const candidate of candidatesOf(facts, groups)) {
      if (candidate.samples >= samplesLeast && candidate.samples > (best?.samples ?? 0)) {
        best = candidate;
      }
    }
  }
  const design = best === null ? null : withEvents(facts, best);
  return design !== null && design.samples >= samplesLeast ? design : null;
}

function candidateGroups({ cohort, dimension, groups }: MaskFacts): readonly number[] {
  if (groups !== undefined) return [groups];
  const list: number[] = [];
  const most = Math.min(groupsMax, cohort / (rowsPerColumn * dimension + 10));
  for (let next = groupsLeast; next <= most; next = Math.ceil(next * groupsStep)) list.push(next);
  return list;
}

function* candidatesOf(facts: MaskFacts, groups: number): Generator<Candidate> {
  const { dimension, order, delta } = facts;
  const size = facts.cohort / groups;
  // Sizes of hashed groups are Poisson. The mean takes one degree of freedom of each.
  const freedom = facts.efficiency * (size - 1 - 0.5 * Math.sqrt(size));
  if (freedom < Math.max(2, dimension)) return;
  const law = rootLaw(dimension, freedom);
  const pairs = (groups * (groups - 1)) / 2;
  const choices = thresholdChoices(groups, wantedAgreements);
  for (const testPart of testParts) {
    const rhoTest = (facts.divergence * testPart) / order;
    const deviation = testDeviation(groups, rhoTest);
    const margin = groups + deviation * normalUpperQuantile(delta);
    for (const agreement of agreements) {
      // The standard deviation of the share of agreeing pairs is twice that of the groups' own
      // shares, over the root of their number.
      const sampling = (2 * pairs * Math.sqrt(agreement * (1 - agreement))) / Math.sqrt(groups);
      const sure = pairs * agreement - normalQuantile(passWanted) * Math.hypot(deviation, sampling)
        - margin;
      const radius = radiusSafety * distanceQuantile(law, agreement) + facts.slack;
      for (const thresholds of choices) {
        if (sure < pairsFloor(groups, thresholds.agreement)) continue;
        const left = facts.divergence * (1 - testPart) * (1 - 2 ** -30);
        const samples = Math.floor(
          left / drawDivergence(dimension, order, averageLogDistance(groups, thresholds, radius)),
        );
        if (samples >= 1) yield { groups, thresholds, radius, testPart, samples };
      }
    }
  }
}

function withEvents(facts: MaskFacts, chosen: Candidate): MaskDesign {
  const { name: cohort, dimension, order, delta, divergence } = facts;
  const { groups, thresholds, radius, testPart } = chosen;
  const stability = stabilityConstant(groups, thresholds);
  const logDistance = averageLogDistance(groups, thresholds, radius);
  const test = gaussianThresholdEvent({
    name: 'agreement', cohort, sensitivity: groups - 1, rho: shareOf(divergence / order, testPart),
    delta,
    floor: pairsFloor(groups, thresholds.agreement), grid: 1,
  });
  const left = divergence * (1 - testPart) * (1 - 2 ** -30);
  const common = { name: 'mask', cohort, dimension, logDistance, order } as const;
  const mask: WishartMaskEvent | AffineMaskEvent = facts.kind === 'wishart'
    ? { ...common, kind: 'wishart-mask', samples: chosen.samples }
    : { ...common, kind: 'affine-mask', spread: affineScale(dimension, order, logDistance, left) };
  // An affine mask of small spread h errs in every entry as a wishart-mask of 1 / (2 h^2) draws
  // does.
  const samples = mask.kind === 'wishart-mask' ? chosen.samples : 1 / (2 * mask.spread ** 2);
  return {
    facts, groups, groupSize: facts.cohort / groups, thresholds, stability, radius, logDistance,
    samples, test, mask,
  };
}

/** The smallest spread whose divergence is within what is left. */
function affineScale(dimension: number, order: number, logDistance: number, left: number): number {
  let [low, high] = [1e-6, 1e6];
  for (let step = 0; step < 100; step++) {
    const between = Math.sqrt(low * high);
    if (affineDivergence(dimension, order, logDistance, between) <= left) high = between;
    else low = between;
  }
  return high;
}
