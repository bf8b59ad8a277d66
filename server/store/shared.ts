import type { JournalEntry, Store, StudyId, StudyStateName } from './contract.js';

/** The calls that only the leader of a study may make. Each fails when the lease is lost. */
export type LeaderCalls = Pick<Store,
  'openEpoch' | 'beginClose' | 'turnEpoch' | 'chargeEpoch' | 'lapseEpoch' | 'storeRelease'
  | 'purgeEpoch' | 'setStudyState' | 'noteRecovery'>
  & Pick<Required<Store>, 'noteRecovered' | 'quarantine'>;

/**
 * The right to lead one study. Its calls reject with StorageError lease-lost, and write nothing,
 * once another node has taken it.
 */
export interface Leadership extends LeaderCalls {
  /** Grows with every taking. Two leaderships of one study never have the same while both live. */
  readonly token: bigint;
  /** Resolves when the right is lost or given back. Never rejects. */
  readonly ended: Promise<void>;
  /** Returns the right, so that another node may take it at once. */
  release(): Promise<void>;
}

/** The state of a study at one moment. */
export interface StudyStanding {
  readonly studyId: StudyId;
  readonly state: StudyStateName;
  readonly releaseCount: number;
  /** SHA-512 of the last release body, hex; 128 zeros when none. */
  readonly lastDigest: string;
  /** The open epoch; null when none. */
  readonly open: { readonly epoch: bigint; readonly closesAtMs: number } | null;
  /** True if an epoch is neither released nor lapsed. */
  readonly isUnfinished: boolean;
  /** True if the operator has ended it, so that no epoch follows the open one. */
  readonly ends: boolean;
  /** The node that leads it. `own`: this store. */
  readonly leader: 'own' | 'other' | 'none';
  /** True if a node that leads less asks the leader to hand it over. */
  readonly isAsked: boolean;
}

/** All studies at one moment. */
export interface Standings {
  readonly studies: readonly StudyStanding[];
  /** The time by which the clock of the store is ahead of the clock here, in milliseconds. */
  readonly clockAheadMs: number;
  /** True if news do not arrive here, so that they are found a second later. */
  readonly isDeaf: boolean;
  /** The reason why the database accepts no writes, its full disk; null when it accepts them. */
  readonly fullBecause: string | null;
  /** Set when this node lacks a key under which rows are sealed: the fault and its remedy. */
  readonly lacksKey: string | null;
}

/** The contributors of an open epoch. For the operator, and for epochs that close on a count. */
export interface EpochTally {
  /** Contributors with at least one accepted batch, without those who withdrew. */
  readonly contributors: number;
  /** Contributions that accept no more rows, without withdrawn ones. */
  readonly complete: number;
}

/** Some of the contributors of an epoch. Slices are numbered from 0. */
export interface Slice {
  readonly slice: number;
  /** The number of slices of the epoch. */
  readonly slices: number;
}

/** A slice that this node summarises, as long as no other node has claimed it. */
export interface ClaimedSlice extends Slice {
  readonly studyId: StudyId;
  readonly epoch: bigint;
  /** Grows with every claim. */
  readonly token: bigint;
}

/**
 * Charged epochs whose contributors several nodes summarise: each contributor is in one slice. A
 * claim ends 30 s after its last page was read, by the clock of the store, and then another node
 * may claim the slice. Results of the earlier claim are then refused. After three claims without a
 * summary a slice has failed.
 */
export interface EpochSlices {
  /**
   * Cuts the epoch into slices. Idempotent. Call it when the epoch is charged.
   * @param plan a digest of the leader's plan. Nodes that plan otherwise claim nothing.
   */
  split(studyId: StudyId, epoch: bigint, slices: number, plan: string): Promise<void>;
  /** @param plans digests of the plans of this node, by study. @returns null when none waits. */
  claim(plans: ReadonlyMap<StudyId, string>): Promise<ClaimedSlice | null>;
  /**
   * Entries of the slice's contributors, as `Store.journal`.
   * @throws StorageError lease-lost when another node has claimed the slice.
   */
  journal(
    claimed: ClaimedSlice, afterPosition: bigint, limit: number, bytesMost?: number,
  ): Promise<readonly JournalEntry[]>;
  /**
   * Stores the summary of a slice.
   * @throws StorageError lease-lost, with nothing written, when another node has claimed it.
   */
  finish(claimed: ClaimedSlice, summary: Uint8Array): Promise<void>;
  /** Ends a claim without a summary. */
  giveBack(claimed: ClaimedSlice): Promise<void>;
  /** The number of slices of the epoch without a summary, and whether one of them has failed. */
  left(studyId: StudyId, epoch: bigint): Promise<SlicesLeft>;
  /**
   * Reads the summary of a slice, once every slice has one.
   * @throws StorageError lease-lost when the rows of the epoch are deleted: another node has
   *   released it.
   */
  summary(studyId: StudyId, epoch: bigint, slice: number): Promise<Uint8Array>;
}

/** The slices of an epoch that have no summary. */
export interface SlicesLeft {
  readonly count: number;
  readonly hasFailed: boolean;
}

/** The store's record of a key that every node must have. */
export interface SharedKey {
  readonly name: 'server' | 'series';
  /** A hash of the key: 32 bytes. */
  readonly fingerprint: Uint8Array;
}

/**
 * A store that several nodes use at once. All of them admit batches and read; one node at a time
 * leads a study. The leader calls of the store itself take the lease of the study first, and keep
 * it until the store is closed. `quarantine` of the store itself needs none.
 */
export interface SharedStore extends Store {
  /**
   * Takes the right to lead a study, together with all studies of its budget. A node that leads one
   * of them already gets it.
   * @param freeMs the lease must have been over for this many milliseconds. Default 0.
   * @returns null while another node has the lease.
   */
  lead(studyId: StudyId, freeMs?: number): Promise<Leadership | null>;
  /**
   * Asks the node that leads most for one of these studies, with all others of its budget, if it
   * leads at least two budgets more than this one. So leaders spread, and nothing moves back and
   * forth. Asks for no budget with a running study that is not in the list.
   */
  askToLead(studyIds: readonly StudyId[]): Promise<void>;
  /** All registered studies, in one reading. */
  standings(): Promise<Standings>;
  /**
   * Calls the listener when some study may have changed, and every second at least. The standings
   * show which one. @returns a function that stops it.
   */
  onNews(listener: () => void): () => void;
  /** Asks the leader to open no further epoch. The study ends after the open one. */
  askEnd(studyId: StudyId): Promise<void>;
  tally(studyId: StudyId, epoch: bigint): Promise<EpochTally>;
  /** Absent: the leader of a study reads the whole journal of an epoch. */
  readonly slices?: EpochSlices;
  /** Stores the key, if none of that name is stored. @returns whether the stored one is equal. */
  shareKey(key: SharedKey): Promise<boolean>;
}

export const isShared = (store: Store): store is SharedStore => 'lead' in store;
