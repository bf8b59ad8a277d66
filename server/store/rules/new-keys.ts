/** The number of new keys that a study accepts per period. */
export interface NewKeyRate {
  /**
   * The study's name. The public versions of a study share their known keys, and each counts the
   * new keys of all.
   */
  readonly study: string;
  readonly contributorKeys: number;
  readonly perMs: number;
}

/** The counted period of one length. */
export interface NewKeyPeriod {
  readonly fromMs: number;
  readonly keys: number;
}

/** The counts of one store. All writes are in the transaction of the list. */
export interface NewKeyCounts {
  /**
   * True if a version of the study with public participation has settled a batch of the key. A
   * version with secret participation is not read: a key that passes a full period would reveal
   * that it was there.
   */
  knows(study: string, contributorId: bigint): boolean;
  read(study: string, perMs: number): NewKeyPeriod | undefined;
  /** Most keys counted in a period that began at this time or later. */
  mostSince(study: string, fromMs: number): number;
  begin(study: string, perMs: number, period: NewKeyPeriod): void;
  /** Counts one key in every period that contains this time. */
  count(study: string, nowMs: number): void;
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
 *
 * Takes a key. Counts it if no version of the study with public participation has settled a batch
 * of it before.
 * @param contributorId 0 for a key that no study has seen.
 * @param nowMs Unix time.
 * @returns null when the key is taken, otherwise the Unix time from which the next key is taken.
 */
export function takeNewKey(
  counts: NewKeyCounts, { study, contributorKeys, perMs }: NewKeyRate,
  contributorId: bigint, nowMs: number,
): number | null {
  if (contributorId !== 0n && counts.knows(study, contributorId)) return null;
  const now = Math.floor(nowMs);
  const period = periodAt(counts, study, perMs, now);
  if (period.keys >= contributorKeys) return period.fromMs + perMs;
  counts.count(study, now);
  return null;
}

/** The period of this length that contains `nowMs`. Starts it if necessary. */
function periodAt(
  counts: NewKeyCounts, study: string, perMs: number, nowMs: number,
): NewKeyPeriod {
  const last = counts.read(study, perMs);
  if (last !== undefined && nowMs < last.fromMs + perMs) return last;
  const fromMs = nowMs - (nowMs % perMs);
  const period = { fromMs, keys: last === undefined ? counts.mostSince(study, fromMs) : 0 };
  counts.begin(study, perMs, period);
  return period;
}

/** The rate in a study's stored facts. */
export function rateIn(study: string, document: string): NewKeyRate | null {
  const { admission } = JSON.parse(document) as {
    readonly admission?: { readonly kind: string } & Partial<NewKeyRate>;
  };
  return admission?.kind === 'rate'
    ? { study, contributorKeys: admission.contributorKeys!, perMs: admission.perMs! } : null;
}
