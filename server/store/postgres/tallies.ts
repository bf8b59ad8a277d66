import type { StudyId } from '../contract.js';
import { epochOf } from '../rules/epochs.js';
import { all, type Steps } from '../rules/steps.js';

/*
 * Each node counts in a row of its own (epoch_tallies), so that no list waits for the count of
 * another one. Withdrawals are subtracted in the row of the epoch.
 */

/** See `Store.contributorCount`. */
export function* contributorTally(studyId: StudyId, epoch: bigint): Steps<number> {
  return (yield* talliesOf(studyId, epoch))?.contributors ?? 0;
}

/** See `Store.leftOutCount`. */
export function* leftOutTally(studyId: StudyId, epoch: bigint): Steps<number> {
  return (yield* talliesOf(studyId, epoch))?.leftOut ?? 0;
}

/** The counts of an epoch, summed over all nodes. */
export interface Tallies {
  readonly epochKey: bigint;
  /** Without those who withdrew. */
  readonly contributors: number;
  readonly complete: number;
  readonly leftOut: number;
  /** Contributors who withdrew, as a number that is not above 0. */
  readonly withdrawn: number;
}

/** @returns undefined when there is no such epoch. */
export function* talliesOf(studyId: StudyId, epoch: bigint): Steps<Tallies | undefined> {
  const rows = yield* all(epochOf(studyId, epoch)
    .leftJoin('epoch_tallies', 'epoch_tallies.epoch_key', 'epochs.epoch_key')
    .select(['epochs.epoch_key', 'epochs.contributors as withdrawn', 'epoch_tallies.contributors',
      'epoch_tallies.complete', 'epoch_tallies.left_out']));
  const [row] = rows;
  if (row === undefined) return undefined;
  const sum = (of: 'contributors' | 'complete' | 'left_out'): number =>
    rows.reduce((total, each) => total + Number(each[of] ?? 0n), 0);
  const withdrawn = Number(row.withdrawn);
  return {
    epochKey: row.epoch_key, contributors: sum('contributors') + withdrawn,
    complete: sum('complete'), leftOut: sum('left_out'), withdrawn,
  };
}
