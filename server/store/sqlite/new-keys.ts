import type { NewKeyCounts, NewKeyPeriod } from '../rules/new-keys.js';
import type { Connection, Statement } from './driver.js';

interface PeriodRow {
  readonly from_ms: bigint;
  readonly keys: bigint;
}

/** The counts of new keys (rules/new-keys.ts) in the file. */
export class NewKeys implements NewKeyCounts {
  readonly #known: Statement<[string, bigint], unknown>;
  readonly #read: Statement<[string, number], PeriodRow>;
  readonly #before: Statement<[string, number], { readonly keys: bigint }>;
  readonly #begin: Statement<[string, number, number, number]>;
  readonly #count: Statement<[string, number]>;

  constructor(database: Connection) {
    this.#known = database.prepare(`SELECT 1 FROM studies JOIN replay USING (study_key)
      WHERE studies.name = ? AND replay.contributor_id = ?
        AND json_extract(studies.document, '$.participation') = 'public' LIMIT 1`);
    this.#read =
      database.prepare('SELECT from_ms, keys FROM new_keys WHERE study_name = ? AND per_ms = ?');
    this.#before = database.prepare(
      'SELECT coalesce(max(keys), 0) AS keys FROM new_keys WHERE study_name = ? AND from_ms >= ?');
    this.#begin = database.prepare(
      'INSERT OR REPLACE INTO new_keys (study_name, per_ms, from_ms, keys) VALUES (?, ?, ?, ?)');
    this.#count = database.prepare(
      'UPDATE new_keys SET keys = keys + 1 WHERE study_name = ? AND from_ms + per_ms > ?');
  }

  knows(study: string, contributorId: bigint): boolean {
    return this.#known.get(study, contributorId) !== undefined;
  }

  read(study: string, perMs: number): NewKeyPeriod | undefined {
    const row = this.#read.get(study, perMs);
    return row === undefined ? undefined
      : { fromMs: Number(row.from_ms), keys: Number(row.keys) };
  }

  mostSince(study: string, fromMs: number): number {
    return Number(this.#before.get(study, fromMs)!.keys);
  }

  begin(study: string, perMs: number, { fromMs, keys }: NewKeyPeriod): void {
    this.#begin.run(study, perMs, fromMs, keys);
  }

  count(study: string, nowMs: number): void {
    this.#count.run(study, nowMs);
  }
}
