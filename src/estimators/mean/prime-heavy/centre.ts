import { Released } from '../../../base/brands.js';
import { median } from '../../../numerics/selection.js';
import { privateCentreOn } from '../../../privacy/stages/centre.js';
import type { FinishedSummaries, StudyFacts } from '../../contract/estimator.js';
import type { Draws } from '../../pooled/centre.js';
import { poolOf } from '../../contract/finished.js';
import { groupName } from './design.js';

/** The facts of the groups, and the tools with which they draw. */
export interface CentreRun extends Draws {
  readonly facts: StudyFacts;
  /** Odd. */
  readonly groups: number;
  readonly spread: Float64Array;
}

/** Where the rows are. */
export interface FoundCentre {
  /** Null when fewer than half of the groups found one. */
  readonly centre: Float64Array | null;
  /** Columns, from 0, in which a group found none. */
  readonly failed: readonly number[];
}

/**
 * Per column the median of the groups' centres, of those that found one: more than half must.
 *
 * Claim: each group's draws cost the whole (rho, delta) to that group's contributors
 * (privacy/centre), and nothing to others. What is answered is a function of released centres.
 */
export async function centreOfGroups(
  { facts, groups, spread, mechanisms, compute }: CentreRun, summaries: FinishedSummaries,
): Promise<Released<FoundCentre>> {
  const released = [];
  for (let group = 1; group <= groups; group++) {
    const name = groupName(group);
    const pool = poolOf(summaries, name);
    released.push(
      await privateCentreOn(compute, mechanisms, pool, facts.dimension, spread, name),
    );
  }
  return Released.all<readonly (typeof released)[number]['value'][]>(released).map((all) => {
    const centres = all.flatMap((one) => (one.kind === 'centre' ? [one.centre] : []));
    const missing = all.flatMap((one) => (one.kind === 'failed' ? one.coordinates : []));
    const failed = [...new Set(missing)].sort((a, b) => a - b);
    if (2 * centres.length <= groups) return { centre: null, failed };
    return { centre: spread.map((_, j) => median(centres.map((centre) => centre[j]!))), failed };
  });
}
