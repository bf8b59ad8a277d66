import type { Sensitive } from '../base/brands.js';
import { InvalidParameterError } from '../base/errors.js';
import { checkObject, kindOf } from '../base/given.js';
import type { Outcome } from '../base/outcome.js';
import type { FoundKeys, Mechanisms } from '../privacy/mechanisms/contract.js';
import type { WorkRandom } from '../random/source.js';
import { inlineCompute } from './contract/compute.js';
import type { Compute, Plan } from './contract/estimator.js';
import {
  adoptRows, fromOwned, fromStream, isAdopting, type OwnedRows,
} from './summaries/adopted-rows.js';
import { eachBlock, type ByteSource } from './summaries/packed-rows.js';
import { checkDimension, checkPlan } from './contract/given.js';
import { fillGroups, type Groups } from './summaries/groups.js';

export type { OwnedRows } from './summaries/adopted-rows.js';
export type { ByteSource } from './summaries/packed-rows.js';
export {
  createGroups, decodeGroups, mergeGroups, type Groups, type GroupsProgress,
} from './summaries/groups.js';
export { inlineCompute, type Kernels } from './contract/compute.js';
export { assign, assignmentHashBytes, type Assignment } from './summaries/assignment.js';

/** Options of `runOffline`. */
export interface OfflineRun {
  readonly plan: Plan;
  /** Columns of a row. */
  readonly dimension: number;
  /**
   * One row per contributor; a row with a non-finite entry is a contributor without data. Owned
   * rows are used up.
   */
  readonly rows: Iterable<ArrayLike<number>> | AsyncIterable<ArrayLike<number>> | OwnedRows;
  /**
   * Built from the plan's events and used up by this run: `createMechanisms(plan.events, noise)`.
   */
  readonly mechanisms: Mechanisms;
  /**
   * Where each row's assignment hash comes from; must be secret and fresh, so `secureNoise()`
   * outside tests.
   */
  readonly assignmentHashes: ByteSource;
  readonly work: WorkRandom;
  readonly compute?: Compute;
  /** For a plan with discovered keys: the keys at the places in the rows. */
  readonly keys?: Sensitive<FoundKeys>;
}

/**
 * Runs one release over rows at hand: assigns each row to its group by a fresh assignment hash,
 * finishes the summaries and releases. Charging is the caller's business: charge `plan.cost` before
 * calling.
 * @throws InvalidParameterError for an option that is missing or of the wrong form, for an
 *   infeasible plan, and for a row without `dimension` numbers.
 */
export async function runOffline(run: OfflineRun): Promise<Outcome> {
  checkRun(run);
  const { plan, dimension, rows, assignmentHashes, mechanisms, work } = run;
  if (isAdopting(plan)) {
    const taken = isOwned(rows) ? fromOwned(rows, dimension, assignmentHashes)
      : await fromStream(rows, dimension, assignmentHashes);
    const finished = adoptRows(plan, dimension, taken, work);
    return (await plan.release(finished, mechanisms, run.compute ?? inlineCompute())).value;
  }
  const filling = fillGroups(plan, dimension, assignmentHashes);
  if (isOwned(rows)) filling.add(rows.values, rows.count, rows.isWhole);
  else await eachBlock(rows, dimension, (values, count) => filling.add(values, count));
  return releaseGroups(plan, filling.groups, run);
}

function checkRun(run: OfflineRun): void {
  checkObject(run, 'a run is { plan, dimension, rows, mechanisms, assignmentHashes, work }');
  checkPlan(run.plan);
  checkDimension(run.dimension);
  const { rows, mechanisms, assignmentHashes, work } = run;
  const given = { rows, mechanisms, assignmentHashes, work };
  const remedies = {
    rows: 'a list of rows, each a list of numbers',
    mechanisms: 'createMechanisms(plan.events, secureNoise())',
    assignmentHashes: 'secureNoise()',
    work: 'seededRandom(seed)',
  };
  for (const name of ['rows', 'mechanisms', 'assignmentHashes', 'work'] as const) {
    if (typeof given[name] === 'object' && given[name] !== null) continue;
    throw new InvalidParameterError(`${name} is ${kindOf(given[name])}: give ${remedies[name]}`);
  }
}

/** Arrays, too, have something named values. */
function isOwned(rows: OfflineRun['rows']): rows is OwnedRows {
  return !(Symbol.iterator in rows) && !(Symbol.asyncIterator in rows);
}

/** Finishes and releases filled groups. Draws noise: call once. */
export async function releaseGroups(
  plan: Plan,
  groups: Groups,
  means: Pick<OfflineRun, 'mechanisms' | 'work' | 'compute' | 'keys'>,
): Promise<Outcome> {
  checkPlan(plan);
  checkObject(groups, 'groups are what createGroups(plan, dimension) returns');
  checkObject(means, 'the third argument is { mechanisms, work }');
  const released = await plan.release(
    groups.finish(means.work), means.mechanisms, means.compute ?? inlineCompute(), means.keys,
  );
  return released.value;
}
