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
  /** Of the plan's contributors: the events' cohort. */
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
const testShares = [0.15, 0.22, 0.3, 0.4, 0.55] as const;

interface Candidate {
  readonly groups: number;
  readonly thresholds: Thresholds;
  readonly radius: number;
  readonly testShare: number;
  readonly samples: number;
}

/**
 * How far the weighted average of group matrices moves, as l: e^-l Y <= Y' <= e^l Y.
 *
 * Claim: holds for data sets in which agreement is at least the thresholds' and one contributor is
 * replaced by anything.
 * Why: one group's matrix changes. The argument of `stabilityConstant` uses only the triangle
 * inequality of distances. By it the two weightings of the matrices have total variation distance
 * t <= c / k, and all matrices with weight in either are within e^2r of each other. Write Y = C + P
 * and Y' = C + P' with C the common part and t the weight of P and of P'. Let a be `none` and Q the
 * agreement.
 * 1. The weights add up to at least k (Q - a) / (1 - a), because the ramp is nowhere below
 *    (q - a) / (1 - a).
 * 2. Let M have weight in either data set. It agrees with more than a k - 1 of the groups that both
 *    have. So in either data set fewer than (1 - a) k + 1 groups are not among these, and each
 *    weighs at most 1.
 * 3. By 1 and 2 at least a share s = 1 - (1 - a + 1 / k) (1 - a) / (Q - a) of the weight is with
 *    matrices that are at least e^-r M. The rest are at least e^-2r M. So Y and Y' are at least
 *    f M, with f = s e^-r + (1 - s) e^-2r, or e^-2r where s is negative.
 * 4. P and P' are t times averages of such M. So they are at most t Y / f, and at least t e^-2r Y.
 *    Hence Y' - Y = P' - P lies within +- t (1 / f - e^-2r) Y. Also P' <= e^2r P and P <= e^2r P',
 *    so it lies within +- t e^2r (e^2r - 1) Y.
 * The smaller factor g gives Y' <= (1 + g) Y, and Y <= (1 + g) Y' by exchanging the two:
 * l = log(1 + g). Distances are decided in doubles, so r is increased by `distanceError`.
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
  for (const testShare of testShares) {
    const rhoTest = (facts.divergence * testShare) / order;
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
        const left = facts.divergence * (1 - testShare) * (1 - 2 ** -30);
        const samples = Math.floor(
          left / drawDivergence(dimension, order, averageLogDistance(groups, thresholds, radius)),
        );
        if (samples >= 1) yield { groups, thresholds, radius, testShare, samples };
      }
    }
  }
}

function withEvents(facts: MaskFacts, chosen: Candidate): MaskDesign {
  const { name: cohort, dimension, order, delta, divergence } = facts;
  const { groups, thresholds, radius, testShare } = chosen;
  const stability = stabilityConstant(groups, thresholds);
  const logDistance = averageLogDistance(groups, thresholds, radius);
  const test = gaussianThresholdEvent({
    name: 'agreement', cohort, sensitivity: groups - 1, rho: shareOf(divergence / order, testShare),
    delta,
    floor: pairsFloor(groups, thresholds.agreement), grid: 1,
  });
  const left = divergence * (1 - testShare) * (1 - 2 ** -30);
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
