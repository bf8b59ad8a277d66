/** The report of a node of a shared store about itself. */
export interface NodeHealth {
  /** Names of the studies that this node leads, and of those that another node or nobody leads. */
  readonly leads: readonly string[];
  readonly follows: readonly string[];
  /** Seconds since the database last answered, once that is more than a moment; else null. */
  readonly storeAwaySeconds: number | null;
  /** True if it lacks a key under which rows are sealed, so that it cannot accept all batches. */
  readonly lacksKey: boolean;
  /** The reason why this node leads no study; null when it may. */
  readonly leadsNothing: string | null;
  /** The time by which the database's clock was ahead of this one's when it last answered. */
  readonly clockAheadMs: number;
  readonly slices: SliceCounts;
}

/**
 * Slices of closed epochs that this node has claimed since it started. How many there are depends
 * on who came, so these counts are for the operator only.
 */
export interface SliceCounts {
  readonly done: number;
  /** Given back, since their rows could not be summarised. */
  readonly failed: number;
  /** Taken by another node, since this one was too slow. */
  readonly lost: number;
  /** From the claim to the summary, over those done. */
  readonly secondsTotal: number;
}

export const noSlices: SliceCounts = { done: 0, failed: 0, lost: 0, secondsTotal: 0 };
