/** Figures of the store for metrics. They reveal nothing about contributors. */
export interface StoreHealth {
  readonly commits: number;
  readonly batches: number;
  /** Lists that were judged again: another server or a close came first. 0 in a data folder. */
  readonly retries: number;
  /** Seconds, over recent commits. */
  readonly commitSecondsMedian: number;
  readonly commitSeconds99: number;
  /** Over all commits. */
  readonly commitSecondsTotal: number;
  readonly fileBytes: number;
  readonly walBytes: number;
}

/** The exchange between a store and its owner about writes that wait. */
export interface Waits {
  /**
   * The reason why the store accepts no writes, its full disk, with the remedy; null while it
   * accepts them. Batches are refused meanwhile, other writes wait, and reads go on. Optional: a
   * store without it fails instead.
   */
  fullBecause?(): string | null;
  /**
   * The server is ending: writes that wait for a disk or a database wait no longer than some
   * seconds from now on, and reject then.
   */
  endSoon?(): void;
}
