import type Database from 'better-sqlite3';
import { toHex } from '../../../src/base/bytes.js';
import { InvariantError } from '../../../src/base/errors.js';
import type { JournalEntry, StudyId } from '../contract.js';
import type { Admission } from './admission.js';
import { epochRow } from './epochs.js';
import { plainBytes, sql, type Queries } from './query.js';
import { existingStudy, studyRow } from './studies.js';

/**
 * 'more': call again, rows are left. 'blocked': all is deleted, but a reader's snapshot keeps the log from being
 * truncated; call again later. 'done': no row bytes are left in the files.
 */
export type PurgeProgress = 'more' | 'blocked' | 'done';

/** Most rows, bytes and replay windows that one step of a purge touches, so that batches are admitted in between. */
const stepRows = 1_024;
const stepBytes = 4 * 1024 * 1024;
const stepWindows = 2_048;
/** How long a step may wait for a reader before the log can be truncated. */
const truncateWaitMs = 50;

interface JournalRow {
  readonly position: bigint;
  readonly public_key: Uint8Array;
  readonly sequence: bigint;
  readonly complete: bigint;
  readonly signature: Uint8Array;
  readonly body: Uint8Array;
}

interface SweepRow {
  readonly sweep_id: bigint;
  readonly contributors: Uint8Array;
}

/** Reading an epoch's rows back, and making them leave the file. */
export class Journal {
  readonly #queries: Queries;
  readonly #admission: Admission;
  readonly #read: Database.Statement<[bigint, bigint, number], JournalRow>;
  readonly #sizes: Database.Statement<[bigint, number], { position: bigint; size: bigint }>;
  readonly #deleteUpTo: Database.Statement<[bigint, bigint]>;
  readonly #notePosition: Database.Statement<[bigint]>;
  readonly #nextSweep: Database.Statement<[bigint, bigint], SweepRow>;
  readonly #deleteSweep: Database.Statement<[bigint]>;

  constructor(queries: Queries, admission: Admission) {
    this.#queries = queries;
    this.#admission = admission;
    const { database } = queries;
    this.#read = database.prepare(`SELECT position, public_key, sequence, complete, signature, body
      FROM journal JOIN contributors USING (contributor_id) WHERE epoch_key = ? AND position > ? ORDER BY position LIMIT ?`);
    this.#sizes = database.prepare(
      'SELECT position, length(body) AS size FROM journal WHERE epoch_key = ? ORDER BY position LIMIT ?');
    this.#deleteUpTo = database.prepare('DELETE FROM journal WHERE epoch_key = ? AND position <= ?');
    this.#notePosition = database.prepare(`INSERT INTO meta (name, value) VALUES ('journal_position', ?)
      ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)`);
    this.#nextSweep = database.prepare(
      'SELECT sweep_id, contributors FROM sweeps WHERE study_key = ? AND epoch < ? ORDER BY sweep_id LIMIT 1');
    this.#deleteSweep = database.prepare('DELETE FROM sweeps WHERE sweep_id = ?');
  }

  read(studyId: StudyId, epoch: bigint, afterPosition: bigint, limit: number): JournalEntry[] {
    const study = studyRow(this.#queries, studyId);
    const row = study === undefined ? undefined : epochRow(this.#queries, study.study_key, epoch);
    if (row === undefined) return [];
    return this.#read.all(row.epoch_key, afterPosition, limit).map((entry) => ({
      position: entry.position, contributor: toHex(entry.public_key), sequence: entry.sequence,
      body: plainBytes(entry.body), signature: plainBytes(entry.signature), complete: entry.complete === 1n,
    }));
  }

  /**
   * One bounded step of a purge; each is a transaction of its own and the whole may be begun again at any time.
   * Order: rows, then digests in replay windows that no batch can be compared with any more, then the epoch's keys, then
   * the log is truncated, and only then the epoch counts as purged.
   * @throws InvariantError for an epoch whose rows are still needed.
   */
  purgeStep(studyId: StudyId, epoch: bigint): PurgeProgress {
    const study = existingStudy(this.#queries, studyId);
    const row = epochRow(this.#queries, study.study_key, epoch);
    if (row === undefined) throw new InvariantError(`cannot purge epoch ${epoch}: it is absent`);
    if (row.state !== 'released' && row.state !== 'lapsed') {
      throw new InvariantError(`cannot purge epoch ${epoch}: it is ${row.state} and its rows are still needed`);
    }
    if (row.purged === 1n) return 'done';
    if (this.#deleteSome(row.epoch_key)) return 'more';
    // A batch is stale once it names an epoch before the one before the open one; in an ended study none is looked at.
    const forgetBefore = study.state === 'ended' ? study.last_epoch + 1n : study.last_epoch - 1n;
    if (this.#sweepSome(study.study_key, forgetBefore)) return 'more';
    const update = sql.updateTable('epochs').where('epoch_key', '=', row.epoch_key);
    const none = new Uint8Array(0);
    this.#queries.transaction(() => this.#queries.run(update.set({ assignment_key: none, work_seed: none })));
    if (!this.truncateLog()) return 'blocked';
    this.#queries.transaction(() => this.#queries.run(update.set({ purged: 1n })));
    return 'done';
  }

  /** Copies the whole log into the file and cuts it to length 0; false when a reader's snapshot prevents it. */
  truncateLog(): boolean {
    const { database } = this.#queries;
    const wait = database.pragma('busy_timeout', { simple: true }) as bigint | number;
    database.pragma(`busy_timeout = ${truncateWaitMs}`);
    try {
      const [outcome] = database.pragma('wal_checkpoint(TRUNCATE)') as { busy: bigint | number }[];
      return Number(outcome!.busy) === 0;
    } finally {
      database.pragma(`busy_timeout = ${wait}`);
    }
  }

  #deleteSome(epochKey: bigint): boolean {
    return this.#queries.transaction(() => {
      const rows = this.#sizes.all(epochKey, stepRows);
      if (rows.length === 0) return false;
      let bytes = 0;
      let last = rows[0]!.position;
      for (const { position, size } of rows) {
        bytes += Number(size);
        last = position;
        if (bytes >= stepBytes) break;
      }
      this.#notePosition.run(this.#admission.lastPosition);
      this.#deleteUpTo.run(epochKey, last);
      return true;
    });
  }

  #sweepSome(studyKey: bigint, forgetBefore: bigint): boolean {
    return this.#queries.transaction(() => {
      let windows = 0;
      while (windows < stepWindows) {
        const sweep = this.#nextSweep.get(studyKey, forgetBefore);
        if (sweep === undefined) return windows > 0;
        // Copied, because a blob's bytes need not start on a multiple of 8.
        const ids = new Float64Array(new Uint8Array(sweep.contributors).buffer);
        this.#admission.forgetWindows(studyKey, ids, forgetBefore);
        this.#deleteSweep.run(sweep.sweep_id);
        windows += ids.length;
      }
      return true;
    });
  }
}
