import type { StudyId } from '../contract.js';
import { contributorCount, epochRow } from '../rules/epochs.js';
import { all, sql, type Steps } from '../rules/steps.js';
import { studyRow } from '../rules/studies.js';

/*
 * Each node counts in a row of its own (epoch_tallies), so that no list waits for the count of
 * another one. Withdrawals are subtracted in the row of the epoch.
 */

/** See `Store.contributorCount`. */
export function* contributorTally(studyId: StudyId, epoch: bigint): Steps<number> {
  const counted = yield* talliesOf(studyId, epoch);
  const withdrawn = yield* contributorCount(studyId, epoch);
  return counted.reduce((sum, { contributors }) => sum + Number(contributors), withdrawn);
}

/** See `Store.leftOutCount`. */
export function* leftOutTally(studyId: StudyId, epoch: bigint): Steps<number> {
  const counted = yield* talliesOf(studyId, epoch);
  return counted.reduce((sum, { left_out: leftOut }) => sum + Number(leftOut), 0);
}

interface Tally {
  readonly contributors: bigint;
  readonly complete: bigint;
  readonly left_out: bigint;
}

/** What each node has counted. */
export function* talliesOf(studyId: StudyId, epoch: bigint): Steps<Tally[]> {
  const study = yield* studyRow(studyId);
  const row = study === undefined ? undefined : yield* epochRow(study.study_key, epoch);
  if (row === undefined) return [];
  return yield* all(sql.selectFrom('epoch_tallies').select(['contributors', 'complete', 'left_out'])
    .where('epoch_key', '=', row.epoch_key));
}
