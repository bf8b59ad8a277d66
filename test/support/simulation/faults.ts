/** What a simulated world does to its inhabitants. */
export const faultKinds = [
  'server-crash', 'torn-log', 'fsync-failed', 'disk-full', 'slow-disk', 'clock-jump',
  'client-crash', 'outbox-torn', 'connection-broken', 'half-open', 'partition', 'slow-reader',
  'delayed', 'corrupted', 'duplicated', 'reordered', 'hostile-frame', 'graceful-stop',
  'key-changed', 'key-change-cut', 'broken-study', 'clock-wrong', 'clock-refused',
  'restart-past-cap', 'no-channel',
] as const;
export type FaultKind = (typeof faultKinds)[number];

/** How often each happened. */
export type FaultCounts = Record<FaultKind, number>;

export function noFaults(): FaultCounts {
  return Object.fromEntries(faultKinds.map((kind) => [kind, 0])) as FaultCounts;
}

/** Chances per opportunity; zero switches a kind off. */
export interface FaultRates {
  /** Per storage call. */
  readonly fsyncFailed: number;
  readonly diskFull: number;
  readonly slowDisk: number;
  /** The server dies between a write and the end of its sync. */
  readonly crashInSync: number;
  /** The same for a contributor and its outbox. */
  readonly clientCrashInSync: number;
  /** Per message. */
  readonly broken: number;
  readonly delayed: number;
  readonly corrupted: number;
  readonly duplicated: number;
  readonly reordered: number;
  /**
   * Per thought of a contributor: it takes back what it gave to the open epoch. No fault, but it
   * meets all of them.
   */
  readonly withdraw: number;
  /** Per start of the server: its key is changed before. */
  readonly changeKey: number;
  /**
   * Per start of the server: one more study is asked for, which contradicts what the store holds.
   */
  readonly brokenStudy: number;
  /** Per start of the server: its clock is hours ahead; the start after that has it right. */
  readonly wrongClock: number;
  /** Per world: its budget has another rule, renews, or is soon used up. */
  readonly budgets: number;
  /** Per world: its studies list questions, with public and discovered keys, and with totals. */
  readonly lists: number;
  /** Per world: its studies count, so that several servers can summarise an epoch together. */
  readonly counting: number;
  /** Mean virtual time between two of the kind, in milliseconds; Infinity for never. */
  readonly crashEveryMs: number;
  readonly stopEveryMs: number;
  readonly clientCrashEveryMs: number;
  readonly halfOpenEveryMs: number;
  readonly partitionEveryMs: number;
  readonly slowReaderEveryMs: number;
  readonly clockJumpEveryMs: number;
  readonly hostileEveryMs: number;
}

/** A good day. */
export const calm: FaultRates = {
  fsyncFailed: 0, diskFull: 0, slowDisk: 0, crashInSync: 0, clientCrashInSync: 0, broken: 0,
  delayed: 0, corrupted: 0, duplicated: 0, reordered: 0, withdraw: 0, changeKey: 0, brokenStudy: 0,
  wrongClock: 0, budgets: 0, lists: 0, counting: 0,
  crashEveryMs: Infinity, stopEveryMs: Infinity, clientCrashEveryMs: Infinity,
  halfOpenEveryMs: Infinity, partitionEveryMs: Infinity, slowReaderEveryMs: Infinity,
  clockJumpEveryMs: Infinity, hostileEveryMs: Infinity,
};

/** Shares that a command line can change. */
export const shareNames = {
  withdraw: 'withdraw', 'change-key': 'changeKey', 'broken-study': 'brokenStudy',
  'wrong-clock': 'wrongClock', budgets: 'budgets', lists: 'lists',
} as const satisfies Readonly<Record<string, keyof FaultRates>>;

/** All of it, each kind often enough to meet the others. */
export const rough: FaultRates = {
  fsyncFailed: 0.03, diskFull: 0.03, slowDisk: 0.03, crashInSync: 0.02, clientCrashInSync: 0.03,
  broken: 0.01, delayed: 0.03, corrupted: 0.012, duplicated: 0.06, reordered: 0.15,
  crashEveryMs: 1_500, stopEveryMs: 800, clientCrashEveryMs: 1_000, withdraw: 0.02, changeKey: 0.4,
  brokenStudy: 0.2, wrongClock: 0.1, budgets: 0.6, lists: 0, counting: 0,
  halfOpenEveryMs: 2_000, partitionEveryMs: 900,
  slowReaderEveryMs: 2_000, clockJumpEveryMs: 2_000, hostileEveryMs: 120,
};
