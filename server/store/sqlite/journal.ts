import { toHex } from '../../../src/base/bytes.js';
import { InvariantError } from '../../../src/base/errors.js';
import type { JournalEntry, StudyId } from '../contract.js';
import type { Admission } from './admission.js';
import { pragma } from './driver.js';
import type { ContributorSpending } from './contributor-spending.js';
import {
  dropJournal, forgetFingerprints, forgetGroups, hasJournal, journalTable,
} from './epoch-tables.js';
import { epochRow, type EpochRow } from '../rules/epochs.js';
import { ownBudget } from '../rules/own-budget.js';
import { plainBytes, sql } from '../rules/steps.js';
import type { Queries } from './query.js';
import { sweepRunning } from './running-series.js';
import { existingStudy, studyRow } from '../rules/studies.js';
import { forgetWithdrawals } from '../rules/withdrawals.js';

/**
 * 'more': rows are left, call again. 'blocked': all rows are deleted, but a reader's snapshot
 * prevents the truncation of the log; call again later. 'done': the files hold no byte of the rows.
 */
export type PurgeProgress = 'more' | 'blocked' | 'done';

/** Most rows and bytes that one purge step deletes, so that batches are admitted between steps. */
const stepRows = 1_024;
const stepBytes = 4 * 1024 * 1024;
/** The time that a step may wait for a reader before the log can be truncated. */
const truncateWaitMs = 50;

interface JournalRow {
  readonly position: bigint;
  readonly public_key: Uint8Array;
  readonly sequence: bigint;
  readonly complete: bigint;
  readonly signature: Uint8Array;
  readonly body: Uint8Array;
}

/**
 * Values of `purged` of an epoch: all its rows are in the file; or some are deleted, or may still
 * be in the log; or all are gone. The rows of an epoch are read whole or not at all: if some were
 * missing, a contributor could look far away from all others.
 */
const kept = 0n;
const leaving = 1n;
const gone = 2n;

/** Reads the rows of an epoch, and deletes them from the file. */
export class Journal {
  readonly #queries: Queries;
  readonly #admission: Admission;
  readonly #spending: ContributorSpending;
  readonly #nowMs: () => number;

  constructor(
    queries: Queries, admission: Admission, spending: ContributorSpending, nowMs: () => number,
  ) {
    this.#queries = queries;
    this.#admission = admission;
    this.#spending = spending;
    this.#nowMs = nowMs;
  }

  read(
    studyId: StudyId, epoch: bigint, afterPosition: bigint, limit: number, bytesMost = Infinity,
  ): JournalEntry[] {
    const study = this.#queries.perform(studyRow(studyId));
    const row = study === undefined
      ? undefined : this.#queries.perform(epochRow(study.study_key, epoch));
    if (row === undefined || row.purged !== kept) return [];
    const rows = this.#queries.database.prepare<[bigint, bigint, number], JournalRow>(
      `SELECT position, public_key, sequence, complete, signature, body FROM ${journalTable(row.epoch_key)}
        AS entry JOIN contributors USING (contributor_id) WHERE position > ? AND NOT EXISTS (SELECT 1 FROM withdrawals
        WHERE withdrawals.epoch_key = ? AND withdrawals.contributor_id = entry.contributor_id)
        ORDER BY position LIMIT ?`,
    );
    const entries: JournalEntry[] = [];
    let bytes = 0;
    for (const entry of rows.iterate(afterPosition, row.epoch_key, limit)) {
      entries.push({
        position: entry.position, contributor: toHex(entry.public_key), sequence: entry.sequence,
        body: plainBytes(entry.body), signature: plainBytes(entry.signature),
        complete: entry.complete === 1n,
      });
      bytes += entry.body.length;
      if (bytes >= bytesMost) break;
    }
    return entries;
  }

  /**
   * One bounded step of a purge. Each step is a transaction of its own, and a purge can be started
   * again at any time. Order: rows; the epoch's table and secrets; debits that no longer count; the
   * truncation of the log. Only then the epoch counts as purged.
   * @throws InvariantError for an epoch whose rows are still needed.
   */
  purgeStep(studyId: StudyId, epoch: bigint): PurgeProgress {
    const study = this.#queries.perform(existingStudy(studyId));
    const row = this.#queries.perform(epochRow(study.study_key, epoch));
    if (row === undefined) throw new InvariantError(`cannot purge epoch ${epoch}: it is absent`);
    if (row.state !== 'released' && row.state !== 'lapsed') {
      throw new InvariantError(
        `cannot purge epoch ${epoch}: it is ${row.state} and its rows are still needed`,
      );
    }
    if (row.purged === gone) return 'done';
    if (this.#deleteSome(row)) return 'more';
    const own = this.#queries.perform(ownBudget(study.budget_id));
    const sweep = (): boolean => this.#spending.sweep(own, this.#nowMs());
    if (own.windowMs !== null && this.#queries.transaction(sweep)) return 'more';
    if (sweepRunning(this.#queries, study)) return 'more';
    this.#queries.transaction(() => {
      dropJournal(this.#queries, row.epoch_key);
      this.#setPurged(row, leaving);
      forgetGroups(this.#queries, study.study_key, epoch);
      // A batch is stale when it names an epoch before open - 1. An ended study reads no batch.
      const forgetBefore = study.state === 'ended' ? study.last_epoch : study.last_epoch - 1n;
      forgetFingerprints(this.#queries, study.study_key, forgetBefore,
        (at) => this.#queries.perform(epochRow(study.study_key, at))?.purged !== kept);
      this.#queries.perform(forgetWithdrawals(study.study_key, study.last_epoch - 1n));
    });
    if (!this.truncateLog()) return 'blocked';
    this.#queries.transaction(() => this.#setPurged(row, gone));
    return 'done';
  }

  /**
   * Copies the whole log into the file and cuts it to length 0; false when a reader's snapshot
   * prevents it.
   */
  truncateLog(): boolean {
    const { database } = this.#queries;
    const wait = pragma(database, 'busy_timeout') as bigint;
    pragma(database, `busy_timeout = ${truncateWaitMs}`);
    try {
      // Its first column is `busy`.
      return pragma(database, 'wal_checkpoint(TRUNCATE)') === 0n;
    } finally {
      pragma(database, `busy_timeout = ${wait}`);
    }
  }

  #setPurged(row: EpochRow, purged: bigint): void {
    this.#queries
      .run(sql.updateTable('epochs').where('epoch_key', '=', row.epoch_key).set({ purged }));
  }

  /** Deletes the oldest rows; false when none is left. */
  #deleteSome(row: EpochRow): boolean {
    const { database } = this.#queries;
    if (!hasJournal(this.#queries, row.epoch_key)) return false;
    return this.#queries.transaction(() => {
      if (row.purged === kept) this.#setPurged(row, leaving);
      const table = journalTable(row.epoch_key);
      const rows = database.prepare<[number], { position: bigint; size: bigint }>(
        `SELECT position, length(body) AS size FROM ${table} ORDER BY position LIMIT ?`)
          .all(stepRows);
      if (rows.length === 0) return false;
      let bytes = 0;
      let last = rows[0]!.position;
      for (const { position, size } of rows) {
        bytes += Number(size);
        last = position;
        if (bytes >= stepBytes) break;
      }
      database.prepare(`INSERT INTO meta (name, value) VALUES ('journal_position', ?)
        ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)`)
          .run(this.#admission.lastPosition);
      database.prepare(`DELETE FROM ${table} WHERE position <= ?`).run(last);
      return true;
    });
  }
}
