import { ln } from '../../../base/elementary.js';
import { normalCdf, normalQuantile } from '../../../numerics/normal.js';
import { countGrid, gaussianThresholdEvent } from '../../../privacy/accounting/calibration.js';
import type { GaussianThresholdEvent } from '../../../privacy/accounting/events.js';
import { passingValue } from '../../../privacy/mechanisms/bounds.js';
import { modeFloor, modeSensitivity } from '../../../privacy/mechanisms/mode.js';

/** The public numbers that a design is chosen from. */
export interface SubspaceFacts {
  readonly cohort: number;
  readonly rho: number;
  readonly delta: number;
  readonly corruption: number;
  /** This many rows in general position span what all rows span. */
  readonly rowsWanted: number;
  /** Fixed by the user; chosen when absent. */
  readonly groups?: number;
}

/** The public constants of a release. */
export interface SubspaceDesign {
  readonly groups: number;
  readonly groupSize: number;
  /** Planned share of the groups that find the whole subspace and nothing else. */
  readonly agreeing: number;
  readonly passProbability: number;
}

/** The one cohort of `subspace`. */
export const cohortName = 'groups';
export const groupsMin = 8;
export const groupsMax = 100_000;
const passWanted = 0.99;
/**
 * A larger margin than this many standard deviations is worth nothing. Fewer, larger groups then
 * span the subspace with more certainty.
 */
const marginEnough = 5;
const groupsStep = 1.1;

/** The test on the lead of the most frequent label. */
export function gapEvent(
  { rho, delta, cohort = cohortName }: Pick<SubspaceFacts,
  'rho' | 'delta'> & { readonly cohort?: string },
): GaussianThresholdEvent {
  return gaussianThresholdEvent({
    name: 'lead',
    cohort,
    sensitivity: modeSensitivity,
    floor: modeFloor,
    rho,
    delta,
    grid: countGrid(modeSensitivity / Math.sqrt(2 * rho)),
  });
}

/**
 * The fewest groups whose test passes with the highest probability. All groups that do not agree
 * are counted as if they agreed with each other on something else: too few rows, or the same
 * hostile direction. Null when no number of groups passes with probability .99, or a group would
 * nominally have fewer rows than are needed.
 */
export function chooseSubspaceDesign(facts: SubspaceFacts): SubspaceDesign | null {
  const event = gapEvent({ rho: facts.rho, delta: facts.delta });
  const barrier = passingValue(event);
  let best: { design: SubspaceDesign; margin: number } | null = null;
  for (const groups of candidates(facts, barrier)) {
    const groupSize = facts.cohort / groups;
    if (groupSize < facts.rowsWanted) continue;
    const agreeing = agreeingShare(facts, facts.corruption, groupSize);
    const margin = marginOf(groups, agreeing, barrier, event.sigma);
    if (margin < normalQuantile(passWanted)) continue;
    if (best !== null && Math.min(margin, marginEnough) <= best.margin) continue;
    const design = { groups, groupSize, agreeing, passProbability: normalCdf(margin) };
    best = { design, margin: Math.min(margin, marginEnough) };
  }
  return best === null ? null : best.design;
}

/** The largest corruption at which a design's test still passes nine times in ten. */
export function corruptionTolerated(design: SubspaceDesign, facts: SubspaceFacts): number {
  const event = gapEvent({ rho: facts.rho, delta: facts.delta });
  const barrier = passingValue(event);
  let low = facts.corruption;
  let high = 0.5;
  for (let step = 0; step < 24; step++) {
    const between = (low + high) / 2;
    const agreeing = agreeingShare(facts, between, design.groupSize);
    const margin = marginOf(design.groups, agreeing, barrier, event.sigma);
    if (margin >= normalQuantile(0.9)) low = between;
    else high = between;
  }
  return Math.max(facts.corruption, Math.floor(low * 1e4) / 1e4);
}

function candidates({ groups, cohort, rowsWanted }: SubspaceFacts, barrier: number): number[] {
  if (groups !== undefined) return [groups];
  const list: number[] = [];
  const most = Math.min(groupsMax, Math.floor(cohort / rowsWanted));
  for (let k = Math.max(groupsMin, Math.ceil(barrier));
      k <= most; k = Math.ceil(k * groupsStep)) list.push(k);
  return list;
}

/** A group has no hostile row, and enough honest ones; sizes are Poisson. */
function agreeingShare(
  { rowsWanted }: SubspaceFacts, corruption: number, groupSize: number,
): number {
  const honest = groupSize * (1 - corruption);
  let fewer = 0;
  let logTerm = -honest;
  for (let rows = 0; rows < rowsWanted; rows++) {
    fewer += Math.exp(logTerm);
    logTerm += ln(honest) - ln(rows + 1);
  }
  return Math.exp(-corruption * groupSize) * Math.max(0, 1 - fewer);
}

/**
 * Standard deviations between the expected lead and what the test asks for; the lead is 2 X -
 * groups, X binomial.
 */
function marginOf(groups: number, agreeing: number, barrier: number, sigma: number): number {
  const deviation = Math.sqrt(sigma * sigma + 4 * groups * agreeing * (1 - agreeing));
  return (groups * (2 * agreeing - 1) - barrier) / deviation;
}
