/** What a node of a shared store says of itself. */
export interface NodeHealth {
  /** Names of the studies that this node leads, and of those that another one leads or nobody. */
  readonly leads: readonly string[];
  readonly follows: readonly string[];
  /** Seconds since the database last answered, once that is more than a moment; else null. */
  readonly storeAwaySeconds: number | null;
  /** Whether it lacks a key under which rows are sealed, so that it cannot take all batches. */
  readonly lacksKey: boolean;
  /** Why this node leads no study; null when it may. */
  readonly leadsNothing: string | null;
}
