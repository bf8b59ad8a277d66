import type { ReleaseRecord, StudyId } from '../contract.js';
import { plainBytes, sql } from '../rules/steps.js';
import { studyRow } from '../rules/studies.js';
import type { Queries } from './query.js';

/** See `Store.releases`. */
export function readReleases(
  queries: Queries, studyId: StudyId, fromIndex: number, limit: number, bytesMost = Infinity,
): ReleaseRecord[] {
  const study = queries.perform(studyRow(studyId));
  if (study === undefined) return [];
  const releases: ReleaseRecord[] = [];
  let bytes = 0;
  const rows =
    queries.iterate(sql.selectFrom('releases').selectAll().where('study_key', '=', study.study_key)
      .where('release_index', '>=', BigInt(fromIndex)).orderBy('release_index').limit(limit));
  for (const row of rows) {
    releases.push({
      studyId, index: Number(row.release_index), epoch: row.epoch, body: plainBytes(row.body),
      signature: plainBytes(row.signature), digest: row.digest,
    });
    bytes += row.body.length;
    if (bytes >= bytesMost) break;
  }
  return releases;
}
