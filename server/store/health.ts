/** Figures of the store for metrics. They say nothing about contributors. */
export interface StoreHealth {
  readonly commits: number;
  readonly batches: number;
  /** Seconds, over recent commits. */
  readonly commitSecondsMedian: number;
  readonly commitSeconds99: number;
  /** Over all commits. */
  readonly commitSecondsTotal: number;
  readonly fileBytes: number;
  readonly walBytes: number;
}
