import { separationIn } from '../rules/running-series.js';
import type { Connection, Statement } from './driver.js';
import type { Queries } from './query.js';

/** Rows deleted in one step, so that batches are admitted between steps. */
const sweepRows = 1_024;

/** In which epoch each contributor of a running total was last (rules/own-debit.ts). */
export class Participations {
  readonly #read: Statement<[bigint, bigint], { epoch: bigint }>;
  readonly #write: Statement<[bigint, bigint, bigint]>;

  constructor(database: Connection) {
    this.#read = database.prepare(
      'SELECT epoch FROM running_participations WHERE study_key = ? AND contributor_id = ?');
    this.#write = database.prepare(`INSERT OR REPLACE INTO running_participations
      (study_key, contributor_id, epoch) VALUES (?, ?, ?)`);
  }

  lastEpoch(studyKey: bigint, contributorId: bigint): bigint | undefined {
    return this.#read.get(studyKey, contributorId)?.epoch;
  }

  enter(studyKey: bigint, contributorId: bigint, epoch: bigint): void {
    this.#write.run(studyKey, contributorId, epoch);
  }
}

/**
 * Deletes a bounded number of rows that can refuse nobody any more. @returns false: none was left.
 */
export function sweepRunning(
  { database }: Queries,
  study: {
    readonly study_key: bigint; readonly document: string; readonly last_epoch: bigint;
    readonly state: string;
  },
): boolean {
  const separation = separationIn(study.document);
  if (separation === null) return false;
  // The next epoch is last_epoch + 1, or the open one is last_epoch. An ended study has none.
  const through = study.state === 'ended' ? study.last_epoch : study.last_epoch - separation;
  const { changes } = database.prepare(`DELETE FROM running_participations
    WHERE study_key = @study AND contributor_id IN (SELECT contributor_id
      FROM running_participations WHERE study_key = @study AND epoch <= @through LIMIT ${sweepRows})`)
    .run({ study: study.study_key, through });
  return changes > 0;
}
