/**
 * Every limit in one place, each with its reason. Those a client must know are sent in Welcome.
 */
export const limits = {
  /** One frame holds 256 rows of 1,024 f64 columns and change; ws closes larger ones with 1009. */
  frameBytes: 4 * 1024 * 1024,
  /** Bounds the time one batch holds the event loop. */
  rowsPerBatch: 65_536,
  /** The estimators keep d x d matrices; past this they would not fit the machines we plan for. */
  columns: 1_024,
  /** Batches in flight per channel: enough to fill a 20 ms group commit, small enough to bound queues. */
  creditBatches: 64,
  /** A simulated fleet shares sockets; a browser needs one. */
  channelsPerSocket: 4_096,
  /** Sequences remembered singly per contributor and study; older ones are behind the watermark. */
  sequenceWindow: 64,
  /** Wrong signatures before the socket closes. */
  badSignaturesPerSocket: 3,
  /** Bytes accepted but not yet durable, over all sockets; past it: `overloaded` and the socket pauses. */
  journalQueueBytes: 64 * 1024 * 1024,
  /** Batches accepted but not yet durable. */
  journalQueueBatches: 16_384,
  /** Group commit waits this long for company, in milliseconds. */
  groupCommitMs: 5,
  /** Bytes waiting on a subscriber's socket before it skips to the newest release. */
  subscriberBufferBytes: 1024 * 1024,
  /** A subscriber that has not drained for this long is dropped, in milliseconds. */
  subscriberStallMs: 60_000,
  /** Hello messages per address and second, sustained and burst. */
  helloPerSecond: 2_000,
  helloBurst: 20_000,
  /** Sockets per server. */
  sockets: 20_000,
  /** Rows are averaged after each value is clipped to this range, only to keep sums finite. */
  coarseBox: 2 ** 40,
  /** Name of a study or column. */
  nameLength: 64,
  /** Studies one server runs. */
  studies: 64,
  /** Nominal contributors per epoch. */
  cohortMax: 10_000_000,
} as const;

export type Limits = typeof limits;
