/** Figures of the store for metrics. They say nothing about contributors. */
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
