/** One epoch of which the server still holds the contributor's rows. */
export interface EpochEvidence {
  readonly epoch: bigint;
  /** Released, its rows not deleted yet; otherwise it is the open one. */
  readonly released: boolean;
  readonly rows: number;
  /** The contribution takes no more rows. */
  readonly complete: boolean;
  /** Of the mean of the contributor's rows from the published answer, 2 significant digits; null without an answer. */
  readonly distance: number | null;
  /** The same of its farthest single row. */
  readonly farthest: number | null;
}

/** How far a contributor's own rows are from published answers: a function of its rows and of public values only. */
export interface ContributorEvidence {
  readonly study: string;
  /** Lower-case hex. */
  readonly contributor: string;
  /** The newest answer that is a point with one number per column; null when there is none among the newest releases. */
  readonly answer: { readonly index: number; readonly epoch: bigint } | null;
  /** What distances are counted in: the study's scale in every column, or the columns' own units. */
  readonly unit: 'scale' | 'columns';
  /** Oldest first. */
  readonly epochs: readonly EpochEvidence[];
  /** The first epoch that leaves the key out; null when none does. */
  readonly excludedFrom: bigint | null;
  /** Journal entries were left out: the epochs hold more of them than are looked through for one question. */
  readonly truncated: boolean;
}

/** What became of the wish to exclude a key. */
export type QuarantineOutcome =
  | { readonly kind: 'excluded'; readonly fromEpoch: bigint; readonly distance: number; readonly beyond: number }
  /** The study's facts have no such rule. */
  | { readonly kind: 'off' }
  /** No published answer to compare with, or no rows of the key. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'near'; readonly distance: number; readonly beyond: number };
