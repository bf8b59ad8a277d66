import type Database from 'better-sqlite3';

/** How many new keys a study takes per period. */
export interface NewKeyRate {
  /**
   * The study's name. The public versions of a study share their known keys, and each counts the
   * new keys of all.
   */
  readonly study: string;
  readonly keys: number;
  readonly perMs: number;
}

/** The counted period of one length. */
interface Period {
  readonly from_ms: bigint;
  readonly keys: bigint;
}

/**
 * Counts the keys whose first batch a study settles. The count is in the same transaction, so it
 * survives crashes, and a batch that is rolled back is not counted. Periods begin at whole
 * multiples of their length in Unix time. So each period takes at most `keys`, and any stretch of
 * that length at most twice as many. A clock that is set back starts no new period. Versions of a
 * study may have periods of different lengths. Each length has its own count, and a key that one
 * version takes counts in all of them. The first period of a length also counts the keys of shorter
 * periods that lie within it.
 *
 * Claim: the rate costs no privacy where participation is public. Only such a study may have a
 * rate. Neighbours: the values that one contributor sent are replaced by others; who sends, when,
 * and how many rows, stays the same.
 * Why: which keys are taken depends only on the order in which batches of new keys reach the store,
 * on the clock, and on which keys were known. Values matter in one place, whether they are finite,
 * and a key also counts when its first batch is refused because they are not. So both sides take
 * the same keys in the same epochs, and still differ in one contributor's values only. Where
 * presence is secret this would be false: without one key another key gets in, so two contributors
 * would differ.
 */
export class NewKeys {
  readonly #known: Database.Statement<[string, bigint], unknown>;
  readonly #read: Database.Statement<[string, number], Period>;
  readonly #before: Database.Statement<[string, number], { readonly keys: bigint }>;
  readonly #begin: Database.Statement<[string, number, number, number]>;
  readonly #count: Database.Statement<[string, number]>;

  /** @param nowMs Unix time. */
  constructor(database: Database.Database, private readonly nowMs: () => number) {
    // A version with secret presence is not read: a key that passes a full period would reveal that
    // it was there.
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

  /**
   * Takes a key. Counts it if no version of the study with public participation has settled a batch
   * of it before.
   * @param contributorId 0 for a key that no study has seen.
   * @returns null when the key is taken, otherwise the Unix time from which the next key is taken.
   */
  take({ study, keys, perMs }: NewKeyRate, contributorId: bigint): number | null {
    if (contributorId !== 0n && this.#known.get(study, contributorId) !== undefined) return null;
    const now = Math.floor(this.nowMs());
    const { fromMs, taken } = this.#period(study, perMs, now);
    if (taken >= keys) return fromMs + perMs;
    this.#count.run(study, now);
    return null;
  }

  /** The period of this length that contains `nowMs`. Starts it if necessary. */
  #period(
    study: string, perMs: number, nowMs: number,
  ): { readonly fromMs: number; readonly taken: number } {
    const last = this.#read.get(study, perMs);
    if (last !== undefined && nowMs < Number(last.from_ms) + perMs) {
      return { fromMs: Number(last.from_ms), taken: Number(last.keys) };
    }
    const fromMs = nowMs - (nowMs % perMs);
    const taken = last === undefined ? Number(this.#before.get(study, fromMs)!.keys) : 0;
    this.#begin.run(study, perMs, fromMs, taken);
    return { fromMs, taken };
  }
}

/** The rate in a study's stored facts. */
export function rateIn(study: string, document: string): NewKeyRate | null {
  const { admission } = JSON.parse(document) as {
    readonly admission?: { readonly kind: string } & Partial<NewKeyRate>;
  };
  return admission?.kind === 'rate'
    ? { study, keys: admission.keys!, perMs: admission.perMs! } : null;
}
