import type { Store } from '../../../server/store/contract.js';

const pageRows = 10_000;
const entriesMost = 100_000;

/** The answers that people and subscribers received, compared with the contents of the database. */
export interface Account {
  readonly acknowledged: number;
  readonly stored: number;
  /** Acknowledged, and not in the database. */
  readonly lost: number;
  /** In the database more than once, in one epoch or in two. */
  readonly twice: number;
  readonly releases: number;
  /** Verified by a subscriber, and not in the database. */
  readonly lostReleases: number;
  readonly charges: number;
  /** Charges beyond the first of an epoch. */
  readonly chargedTwice: number;
}

/** The answers that people and subscribers received, by study. */
export interface Told {
  /** Key and sequence of each acknowledged row. */
  readonly acknowledged: ReadonlyMap<string, ReadonlySet<string>>;
  readonly released: ReadonlyMap<string, number>;
}

/** Reads every row, release and charge. The studies must keep their rows until then. */
export async function accountOf(store: Store, told: Told): Promise<Account> {
  const sum = {
    acknowledged: 0, stored: 0, lost: 0, twice: 0, releases: 0, lostReleases: 0, charges: 0,
    chargedTwice: 0,
  };
  for (const { studyId, name, lastEpoch, releaseCount } of await store.studies()) {
    const found = new Set<string>();
    for (let epoch = 1n; epoch <= lastEpoch; epoch++) {
      for (let after = 0n; ;) {
        const page = await store.journal(studyId, epoch, after, pageRows);
        for (const { contributor, sequence } of page) found.add(`${contributor} ${sequence}`);
        sum.stored += page.length;
        if (page.length === 0) break;
        after = page.at(-1)!.position;
      }
    }
    const acknowledged = told.acknowledged.get(name) ?? new Set();
    sum.acknowledged += acknowledged.size;
    sum.lost += [...acknowledged].filter((row) => !found.has(row)).length;
    sum.twice -= found.size;
    sum.releases += releaseCount;
    sum.lostReleases += Math.max(0, (told.released.get(name) ?? 0) - releaseCount);
    const charged = (await store.ledgerEntries(`study:${name}`, entriesMost))
      .filter(({ kind }) => kind === 'charged').map(({ epoch }) => epoch);
    sum.charges += charged.length;
    sum.chargedTwice += charged.length - new Set(charged).size;
  }
  return { ...sum, twice: sum.twice + sum.stored };
}

/** True if everything is there once. */
export const isWhole = (account: Account): boolean =>
  account.lost + account.twice + account.lostReleases + account.chargedTwice === 0;
