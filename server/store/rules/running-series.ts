import type { EncryptedSeries } from '../../../src/base/running-totals.js';
import type { StudyId } from '../contract.js';
import { all, plainBytes, run, sql, type Steps } from './steps.js';

/** From a study's stored facts: the separation of its running totals; null without them. */
export function separationIn(document: string): bigint | null {
  const { running } = JSON.parse(document) as {
    readonly running?: { readonly separation: number };
  };
  return running === undefined ? null : BigInt(running.separation);
}

/**
 * Replaces the series that the last release handed on. It belongs in the transaction that stores
 * the release, so that a series moves on exactly when its release is in the log.
 */
export function* writeSeries(studyKey: bigint, series: readonly EncryptedSeries[]): Steps<void> {
  yield* run(sql.deleteFrom('running_series').where('study_key', '=', studyKey));
  for (const { question, sealed } of series) {
    yield* run(sql.insertInto('running_series')
      .values({ study_key: studyKey, question, sealed }));
  }
}

/** See `Store.series`. */
export function* readSeries(studyId: StudyId): Steps<EncryptedSeries[]> {
  const rows = yield* all(sql.selectFrom('running_series')
    .innerJoin('studies', 'studies.study_key', 'running_series.study_key')
    .select(['question', 'sealed']).where('study_id', '=', studyId).orderBy('question'));
  return rows.map(({ question, sealed }) => ({ question, sealed: plainBytes(sealed) }));
}

/** The contributor took back its rows of this epoch, so no release counts it there. */
export function* leaveRunning(
  studyKey: bigint, contributorId: bigint, epoch: bigint,
): Steps<void> {
  yield* run(sql.deleteFrom('running_participations').where('study_key', '=', studyKey)
    .where('contributor_id', '=', contributorId).where('epoch', '=', epoch));
}

/**
 * Ends all series. After an accepted rollback nobody knows which releases followed the stored
 * states: a series that went on from one would have two releases at one place.
 */
export function* forgetSeries(): Steps<void> {
  yield* run(sql.deleteFrom('running_series'));
}
