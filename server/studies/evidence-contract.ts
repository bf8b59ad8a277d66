/** An epoch whose journal still holds rows of the contributor. */
export interface EpochEvidence {
  readonly epoch: bigint;
  /** True: released, and the rows are not deleted yet. False: the open epoch. */
  readonly released: boolean;
  readonly rows: number;
  /** The contribution accepts no more rows. */
  readonly complete: boolean;
  /**
   * Distance of the mean of the contributor's rows from the published answer, 2 significant digits;
   * null without an answer.
   */
  readonly distance: number | null;
  /** Distance of its farthest single row, in the same way. */
  readonly farthest: number | null;
}

/**
 * The distance of a contributor's own rows from published answers. It depends on its rows and on
 * public values only.
 */
export interface ContributorEvidence {
  readonly study: string;
  /** Lower-case hex. */
  readonly contributor: string;
  /**
   * The newest answer with one number per column; null when none of the newest releases has one.
   */
  readonly answer: { readonly index: number; readonly epoch: bigint } | null;
  /** Unit of distances: the study's spread in every column, or the columns' own units. */
  readonly unit: 'spread' | 'columns';
  /** Oldest first. */
  readonly epochs: readonly EpochEvidence[];
  /** The first epoch that leaves the key out; null when none does. */
  readonly excludedFrom: bigint | null;
  /** The epochs hold more journal entries than are read for one question, so some were left out. */
  readonly truncated: boolean;
}

/** The result of a request to exclude a key. */
export type QuarantineOutcome =
  | {
    readonly kind: 'excluded'; readonly fromEpoch: bigint; readonly distance: number;
    readonly beyond: number;
  }
  /** The study's facts have no such rule. */
  | { readonly kind: 'off' }
  /** No published answer to compare with, or no rows of the key. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'near'; readonly distance: number; readonly beyond: number };
