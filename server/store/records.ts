/** A key that is left out of a study's epochs. A quarantine is never lifted. */
export interface Quarantine {
  /** As `StudyId` and `ContributorKey` (contract.ts). */
  readonly studyId: string;
  readonly contributor: string;
  /** The first epoch that leaves the key out. */
  readonly fromEpoch: bigint;
  /**
   * The evidence: the distance of the key's own rows, the study's bound, and the release that the
   * rows were compared with.
   */
  readonly distance: number;
  readonly beyond: number;
  readonly releaseIndex: number;
  readonly atMs: number;
}

/** A key to leave out. Without `fromEpoch`: from the first epoch that opens from now on. */
export type NewQuarantine = Omit<Quarantine, 'fromEpoch'> & Partial<Pick<Quarantine, 'fromEpoch'>>;

/**
 * A start that was accepted although the database held less than was charged or released. Both
 * counts are public.
 */
export interface Rollback {
  readonly atMs: number;
  /**
   * Number of ledger entries: in the accepted database, and according to the mark; null when there
   * was no mark.
   */
  readonly ledger: { readonly found: number; readonly marked: number | null };
  /** Releases of all studies together. */
  readonly releases: { readonly found: number; readonly marked: number | null };
}
