import { pow } from '../../../base/elementary.js';
import { normalCdf, normalQuantile, normalUpperQuantile } from '../../../numerics/normal.js';
import { closeRadius } from '../../pooled/parameters.js';
import { AgreementModel, type Agreement, type LocalEstimator } from './deviation.js';
import {
  groupsMax, groupsMin, stabilityConstant, thresholdChoices, type Thresholds,
} from './stability.js';

/** The public numbers that a design is chosen from. */
export interface DesignFacts {
  readonly cohort: number;
  readonly dimension: number;
  readonly rho: number;
  readonly delta: number;
  /** Corruption for which the groups must still agree. */
  readonly corruption: number;
  readonly local: LocalEstimator;
  /** Fixed by the user; chosen when absent. The radius is in units of spread. */
  readonly thresholds?: Thresholds;
  readonly radius?: number;
  readonly groups?: number;
  readonly testPart?: number;
}

/** The public constants of a release. */
export interface Design {
  readonly groups: number;
  readonly groupSize: number;
  readonly thresholds: Thresholds;
  /** c_k of the thresholds. */
  readonly stability: number;
  /** Share of rho that the agreement test takes. */
  readonly testPart: number;
  /** In units of spread. */
  readonly radius: number;
  /** About the average the points are clipped to a ball of this radius, in units of spread. */
  readonly clipRadius: number;
  /** Planned probability that the test passes with `corruption` hostile. */
  readonly passProbability: number;
  /** Planned share of groups without a usable point. */
  readonly spoiled: number;
}

/** Real rows are not exactly Gaussian: the radius is this much larger than the model asks. */
const radiusSafety = 1.05;
/**
 * The stress case: 1.5 times the stated corruption and two in a hundred more, and rows 1.15
 * times as wide.
 */
const stressed = { corruption: (stated: number) => 1.5 * stated + 0.02, spread: 1.15 } as const;
/** Part for the average of what the test leaves of rho. The clipped mean takes the rest. */
export const averageShare = 0.3;
/** Part of the clipped mean's rho for its sum, about. */
const sumShare = 0.95;
/** Room in the ball for groups of uneven size. */
const uneven = 1.15;
const groupsStep = 1.18;
const radiusSteps = 26;
const testParts = [
  0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8,
];

interface Candidate {
  readonly design: Omit<Design, 'passProbability'>;
  /** Planned error, in units of spread. */
  readonly error: number;
  /** The part of it that is noise. */
  readonly noise: number;
  /** Standard deviations between the expected agreement and what the test asks for. */
  readonly margin: number;
  /** The same under stress, no more than what is wanted. */
  readonly stressMargin: number;
}

/** Factor of noise that is accepted so that the test also passes in the stress case below. */
const stressPrice = 1.1;

/**
 * Chooses the number of groups, the thresholds, the radius and the test's share of rho. First come
 * the choices whose test passes with probability .99 at the stated corruption. Of these remain
 * those that err no more than the best one would with 10 % more noise; of them those that do best
 * under stress; and of those the one of least error. More groups mean less noise (about 1 /
 * sqrt(groups) for a given cohort) until groups are so small that hostile rows spoil too many of
 * them. Null when nothing passes. Closed forms of public numbers only.
 */
export function chooseDesign(facts: DesignFacts): Design | null {
  let candidates: Candidate[] = [];
  let least = Infinity;
  let limit = Infinity;
  for (const groups of candidateGroups(facts)) {
    for (const candidate of candidatesOf(facts, groups)) {
      if (candidate.error > limit) continue;
      if (candidate.error < least) {
        least = candidate.error;
        limit = Math.hypot(least, candidate.noise * Math.sqrt(stressPrice ** 2 - 1));
      }
      candidates.push(candidate);
    }
    candidates = candidates.filter(({ error }) => error <= limit);
  }
  let best: Candidate | null = null;
  for (const next of candidates) if (best === null || better(next, best)) best = next;
  return best === null ? null : { ...best.design, passProbability: normalCdf(best.margin) };
}

/**
 * True if some design passes at the widest radius, where groups agree most. Never true where
 * `chooseDesign` is null.
 */
export function hasDesign(facts: DesignFacts): boolean {
  for (const groups of candidateGroups(facts)) {
    const radius = radii(facts, groups).at(-1)!;
    if (!candidatesOf(facts, groups, [radius], 'any').next().done!) return true;
  }
  return false;
}

function better(left: Candidate, right: Candidate): boolean {
  const gap = left.stressMargin - right.stressMargin;
  return gap > 0 || (gap === 0 && left.error < right.error);
}

/** The test is planned to pass at least this often at the stated corruption. */
const passWanted = 0.99;

function* candidatesOf(
  facts: DesignFacts,
  groups: number,
  tried: readonly number[] = radii(facts, groups),
  wish: 'best' | 'any' = 'best',
): Generator<Candidate> {
  const { cohort, dimension, corruption, local, rho, delta } = facts;
  const thresholds = facts.thresholds === undefined ? thresholdChoices(groups) : [facts.thresholds];
  const shares = facts.testPart === undefined ? testParts : [facts.testPart];
  // The least that the test asks for. When no agreement can reach it, nothing below is computed.
  const agreementLeast = Math.min(...thresholds.map(({ agreement }) => agreement));
  const least = barrierOf(groups, agreementLeast, rho * shares.at(-1)!, delta);
  const wanted = normalQuantile(passWanted);
  const isHopeless = (share: number): boolean =>
    marginOf(groups, least, { share, standardDeviation: 0 }) < wanted;
  if (isHopeless(1)) return;
  const groupSize = cohort / groups;
  const model = new AgreementModel(groupSize, corruption, dimension, local);
  if (isHopeless((1 - model.spoiled) ** 2)) return;
  const stress = wish === 'any'
    ? model
    : new AgreementModel(groupSize, stressed.corruption(corruption), dimension, local);
  const curve = tried.map((radius) => ({ radius, agreement: model.at(radius / radiusSafety) }))
    .filter(({ agreement: { share } }) => !isHopeless(share))
    .map((point) =>
      ({ ...point, underStress: stress.at(point.radius / radiusSafety / stressed.spread) }));
  const sampling = (dimension * local.varianceFactor(groupSize, dimension)) / cohort;
  for (const choice of thresholds) {
    const stability = stabilityConstant(groups, choice);
    for (const testPart of shares) {
      const barrier = barrierOf(groups, choice.agreement, rho * testPart, delta);
      for (const { radius, agreement, underStress } of curve) {
        const margin = marginOf(groups, barrier, agreement);
        if (margin < wanted) continue;
        const left = rho * (1 - testPart);
        const offset = (averageSensitivity(radius, stability, groups) * Math.sqrt(dimension))
          / Math.sqrt(2 * left * averageShare);
        const clipRadius = pointReach(facts, groupSize) + offset;
        // Points of spoiled groups may stand at the edge of the ball.
        const bias = local.bias(corruption, { groupSize, radius }, dimension)
          + Math.max(0, model.spoiled - Math.exp(-groupSize)) * clipRadius;
        const noise = (2 * clipRadius * Math.sqrt(dimension))
          / (groups * Math.sqrt(2 * left * (1 - averageShare) * sumShare));
        const error = Math.sqrt(noise * noise + sampling + bias * bias);
        const design = {
          groups, groupSize, thresholds: choice, stability, testPart, radius, clipRadius,
          spoiled: model.spoiled,
        };
        const stressMargin = Math.min(wanted, marginOf(groups, barrier, underStress));
        yield { design, error, noise, margin, stressMargin };
      }
    }
  }
}

/** How far nearly all points of groups are from the mean, in units of spread. */
function pointReach({ corruption, dimension, local }: DesignFacts, groupSize: number): number {
  const deviation = Math.sqrt(local.varianceFactor(groupSize, dimension) / groupSize);
  return uneven * deviation * closeRadius(dimension)
    + local.reach(Math.min(corruption, 0.3), dimension);
}

/**
 * How far the weighted average moves when one contributor's row is replaced by anything, before
 * rounding.
 */
export function averageSensitivity(radius: number, stability: number, groups: number): number {
  return (2 * radius * stability) / groups;
}

/** The smallest number of agreeing pairs for which the mean agreement is at least the threshold. */
export function pairsFloor(groups: number, agreement: number): number {
  return Math.ceil((agreement * groups * groups - groups) / 2);
}

/**
 * Standard deviation of the noise on the number of agreeing pairs, of which one group is in at most
 * groups - 1.
 */
export function testDeviation(groups: number, rho: number): number {
  return (groups - 1) / Math.sqrt(2 * rho);
}

/** The agreement test's threshold: pairs, and the standard deviation of the noise on them. */
interface Barrier {
  readonly pairs: number;
  readonly deviation: number;
}

function barrierOf(groups: number, agreement: number, rho: number, delta: number): Barrier {
  const deviation = testDeviation(groups, rho);
  const pairs = pairsFloor(groups, agreement) + (groups - 1)
    + deviation * normalUpperQuantile(delta) + 1;
  return { pairs, deviation };
}

/** The largest corruption at which a design's test still passes nine times in ten. */
export function corruptionTolerated(design: Design, facts: DesignFacts): number {
  const barrier = barrierOf(
    design.groups, design.thresholds.agreement, facts.rho * design.testPart, facts.delta,
  );
  const wanted = normalQuantile(0.9);
  const passes = (corruption: number): boolean => {
    const model = new AgreementModel(design.groupSize, corruption, facts.dimension, facts.local);
    return marginOf(design.groups, barrier, model.at(design.radius / radiusSafety)) >= wanted;
  };
  let low = facts.corruption;
  let high = 0.45;
  for (let step = 0; step < 12; step++) {
    const between = (low + high) / 2;
    if (passes(between)) low = between;
    else high = between;
  }
  return Math.max(facts.corruption, Math.floor(low * 1000) / 1000);
}

function marginOf(groups: number, barrier: Barrier, agreement: Agreement): number {
  const pairs = (groups * (groups - 1)) / 2;
  // The share of agreeing pairs is a U-statistic of the groups: its standard deviation is twice
  // theirs over sqrt(groups).
  const sampling = (pairs * 2 * agreement.standardDeviation) / Math.sqrt(groups);
  return (pairs * agreement.share - barrier.pairs) / Math.sqrt(
    barrier.deviation ** 2 + sampling * sampling,
  );
}

function candidateGroups(facts: DesignFacts): number[] {
  if (facts.groups !== undefined) return [facts.groups];
  const most = Math.min(groupsMax, facts.cohort);
  const list: number[] = [];
  for (let groups = groupsMin;
      groups <= most; groups = Math.ceil(groups * groupsStep)) list.push(groups);
  return list;
}

/** Radii to try, ascending, around the typical distance of two clean group points. */
function radii(facts: DesignFacts, groups: number): number[] {
  if (facts.radius !== undefined) return [facts.radius];
  const { cohort, dimension, local } = facts;
  const typical = Math.sqrt(
    (2 * dimension * local.varianceFactor(cohort / groups, dimension) * groups) / cohort,
  );
  return Array.from({ length: radiusSteps }, (_, i) => typical * 0.65 * pow(1.1, i));
}
