import type { NewKeyCounts, NewKeyPeriod } from '../rules/new-keys.js';
import type { Extras } from './list-extras.js';
import { pairName } from './list-reads.js';

/** A count of new keys: as it was read, and as the list leaves it. */
export interface LoadedPeriod {
  readonly study: string;
  readonly perMs: number;
  /** Undefined when there was none. */
  readonly read: NewKeyPeriod | undefined;
  now: NewKeyPeriod;
  /** A period that begins and counts nothing is not written: the next list begins it again. */
  counted: boolean;
}

/** The counts of new keys (rules/new-keys.ts) of one list. */
export class LoadedPeriods implements NewKeyCounts {
  readonly #periods: LoadedPeriod[];

  constructor(private readonly extras: Extras) {
    this.#periods = extras.periods.map(({ study, perMs, period }) =>
      ({ study, perMs, read: period, now: period, counted: false }));
  }

  knows(study: string, contributorId: bigint): boolean {
    return this.extras.known.has(pairName(study, contributorId));
  }

  read(study: string, perMs: number): NewKeyPeriod | undefined {
    return this.#find(study, perMs)?.now;
  }

  mostSince(study: string, fromMs: number): number {
    return this.#periods.filter((each) => each.study === study && each.now.fromMs >= fromMs)
      .reduce((most, { now }) => Math.max(most, now.keys), 0);
  }

  begin(study: string, perMs: number, period: NewKeyPeriod): void {
    const found = this.#find(study, perMs);
    if (found !== undefined) found.now = period;
    else this.#periods.push({ study, perMs, read: undefined, now: period, counted: false });
  }

  count(study: string, nowMs: number): void {
    for (const each of this.#periods) {
      if (each.study !== study || each.now.fromMs + each.perMs <= nowMs) continue;
      each.now = { ...each.now, keys: each.now.keys + 1 };
      each.counted = true;
    }
  }

  /** The periods whose counts have changed and must be written. */
  counted(): LoadedPeriod[] {
    return this.#periods.filter(({ counted }) => counted);
  }

  #find(study: string, perMs: number): LoadedPeriod | undefined {
    return this.#periods.find((each) => each.study === study && each.perMs === perMs);
  }
}
