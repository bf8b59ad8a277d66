import type { GaussianThresholdEvent, MechanismEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { ArmPlan, StudyFacts } from '../../contract/estimator.js';
import { pooledArm } from '../../contract/planning.js';
import { boundedDesign, type BoundedDesign } from '../../covariance/covariance/bounded-design.js';
import type { VarianceBounds } from '../../covariance/covariance/variance-bounds.js';
import { chooseSubspaceDesign, gapEvent } from '../../covariance/subspace/design.js';
import { distanceOf, type Distance, type StageError } from './distance.js';
import {
  groupCovarianceDesign, groupMeanDesign, type GroupCovarianceDesign,
} from './group-design.js';
import { rowMeanDesign, type MeanDesign, type StageShare } from './mean-design.js';
import type { GaussianChoice } from './parameters.js';
import { unitsDesign, unitsShare, type UnitsDesign } from './units.js';

/** The search for the affine subspace. */
export interface FrameDesign {
  readonly from: StageShare;
  readonly groups: number;
  readonly event: GaussianThresholdEvent;
  readonly unit: number;
}

/** A covariance from pairs of rows. */
export interface PairCovarianceDesign {
  readonly kind: 'pairs';
  readonly from: StageShare;
  readonly bounded: BoundedDesign;
  readonly error: StageError;
}

/** The public constants of a release. */
export interface GaussianDesign {
  readonly choice: GaussianChoice;
  readonly arms: readonly ArmPlan[];
  readonly covariance: PairCovarianceDesign | GroupCovarianceDesign;
  readonly mean: MeanDesign;
  /** Null when no subspace is looked for. */
  readonly frame: FrameDesign | null;
  readonly units: UnitsDesign;
  /** Nominal rows of a group for `local: robust`; null otherwise. */
  readonly rowsPerGroup: number | null;
  readonly events: readonly MechanismEvent[];
  readonly distance: Distance;
}

/**
 * Parts of rho when every contributor serves all stages; parts of the contributors when each serves
 * one. The part for the subspace is taken off first.
 */
const covarianceShare = 0.65;
const frameShares = { shared: 0.05, split: 0.1 };
/**
 * Rows beyond the least number that span an affine subspace, for rows not quite in general
 * position.
 */
const rowsSpare = 2;
/** Part of the mean's rho that finds the centre. */
const centrePart = 0.3;
/**
 * Rows per column in a robust group. Fewer rows leave more groups, hence less noise; more rows make
 * each fit better.
 */
const rowsPerColumn = [12, 16, 24, 36];
/** A smaller group is too likely to lack the rows that a robust fit needs. */
const rowsPerGroupLeast = 20;

/**
 * The best design; null when no number of rounds is enough for the covariance, or the noise would
 * hide the centre.
 */
export function gaussianDesign(facts: StudyFacts, choice: GaussianChoice): GaussianDesign | null {
  if (choice.corruption === null) return designOf(facts, choice, null);
  let best: GaussianDesign | null = null;
  for (const each of rowsPerColumn) {
    const next = designOf(facts, choice, Math.max(rowsPerGroupLeast, each * facts.dimension));
    if (next !== null && (best === null || next.distance.total < best.distance.total)) best = next;
  }
  return best;
}

function designOf(
  facts: StudyFacts, choice: GaussianChoice, rowsPerGroup: number | null,
): GaussianDesign | null {
  const shares = sharesOf(facts, choice);
  const frame = frameDesign(facts, choice, shares.subspace);
  if (frame === undefined) return null;
  const { dimension } = facts;
  const { corruption } = choice;
  // Subspace, spreads and centre share delta where one contributor is in all.
  const forUnits = choice.isShared ? shareOf(facts.target.delta, unitsShare) : facts.target.delta;
  const units = unitsDesign(choice, shares.covariance, dimension, forUnits);
  if (units === null) return null;
  const delta = !choice.isShared ? facts.target.delta : shareOf(facts.target.delta,
    (frame === null ? 1 : 0.5) - (units.kind === 'found' ? unitsShare : 0));
  const group = rowsPerGroup === null || corruption === null ? null
    : { dimension, delta, ...units.bounds, corruption, rowsPerGroup };
  const from = units.kind !== 'found' ? shares.covariance
    : { ...shares.covariance, rho: shareOf(shares.covariance.rho, 1 - unitsShare) };
  const covariance = group === null
    ? pairDesign(facts, units.bounds, from)
    : groupCovarianceDesign(group, from);
  if (covariance === null) return null;
  const mean = group === null
    ? rowMeanDesign({ dimension, delta }, shares.mean, centrePart)
    : groupMeanDesign(group, shares.mean, centrePart);
  if (mean === null) return null;
  const arms = armsOf(shares);
  return {
    choice, covariance, mean, frame, units, rowsPerGroup, arms,
    events: [
      ...(frame === null ? [] : [frame.event]),
      ...(units.kind === 'found' ? [units.event] : []), ...covarianceEvents(covariance),
      mean.bins, mean.median, mean.clipped.sum, mean.clipped.count,
    ],
    distance: distanceOf(mean.error, covariance.error),
  };
}

/** Null when no subspace is asked for; undefined when it would not be found. */
function frameDesign(
  { dimension, target: { delta } }: StudyFacts, { unit, corruption, isShared }: GaussianChoice,
  from: StageShare | null,
): FrameDesign | null | undefined {
  if (from === null || unit === null) return null;
  const spending = { rho: from.rho, delta: isShared ? shareOf(delta, 0.5) : delta };
  const chosen = chooseSubspaceDesign({
    ...spending, cohort: from.size, corruption: corruption ?? 0,
    rowsWanted: dimension + 1 + rowsSpare,
  });
  if (chosen === null) return undefined;
  return {
    from, unit, groups: chosen.groups, event: gapEvent({ ...spending, cohort: from.cohort }),
  };
}

function pairDesign(
  { dimension }: StudyFacts, bounds: VarianceBounds, from: StageShare,
): PairCovarianceDesign | null {
  const { cohort: name, size: cohort, rho } = from;
  const bounded = boundedDesign({ name, dimension, cohort, rho, ...bounds });
  if (bounded === null) return null;
  return {
    kind: 'pairs', from, bounded,
    error: { sampling: bounded.sampling, noise: bounded.noise, bias: 0 },
  };
}

function covarianceEvents(
  design: PairCovarianceDesign | GroupCovarianceDesign,
): readonly MechanismEvent[] {
  return design.kind === 'pairs'
    ? design.bounded.events
    : [design.count, ...design.rounds, design.final, design.beyond];
}

interface Shares {
  readonly subspace: StageShare | null;
  readonly covariance: StageShare;
  readonly mean: StageShare;
}

function sharesOf(
  { cohort, target: { rho } }: StudyFacts, { isShared, unit }: GaussianChoice,
): Shares {
  const first = unit === null ? 0 : isShared ? frameShares.shared : frameShares.split;
  const stage = (name: string, share: number): StageShare => (isShared
    ? { cohort: 'rows', share: 1, size: cohort, rho: shareOf(rho, share) }
    : { cohort: name, share, size: Math.floor(cohort * share), rho: shareOf(rho, 1) });
  const covariance = (1 - first) * covarianceShare;
  return {
    subspace: unit === null ? null : stage('subspace', first),
    covariance: stage('covariance', covariance),
    mean: stage('mean', 1 - first - covariance),
  };
}

function armsOf({ subspace, covariance, mean }: Shares): readonly ArmPlan[] {
  const stages = [...(subspace === null ? [] : [subspace]), covariance, mean];
  const named = new Map(stages.map(({ cohort, share }) => [cohort, share]));
  return [...named].map(([name, share]) => pooledArm(name, share));
}
