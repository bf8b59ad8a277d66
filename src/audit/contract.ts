import type { Shifts } from './losses/shifts.js';

/**
 * The contributors of one data set: rows as `createGroups` takes them. It can be cloned, so threads
 * can pass it on. Of a question that is split by keys a contributor has several rows, one after the
 * other, with the same assignment hash.
 */
export interface Contributors {
  /** Rows. */
  readonly count: number;
  /** 32 bytes for each row: they decide which rows share a group. */
  readonly assignmentHashes: Uint8Array;
  /** Row-major, count * dimension. */
  readonly rows: Float64Array;
}

/** Two data sets that differ in one contributor. */
export interface NeighbourPair {
  /** Unique within an audit. */
  readonly name: string;
  readonly left: Contributors;
  readonly right: Contributors;
  /**
   * Entries of the estimate that the change can move, as far as it is known: those of the keys that
   * the contributor leaves or enters. Absent: any. All others would only add noise to a score; a
   * bound holds whatever is left out.
   */
  readonly entries?: readonly number[];
  /** The name of the crowd that the other contributors form. */
  readonly crowd?: string;
}

/** One of the data sets of a pair. */
export type Side = 'left' | 'right';

/** Releases to run on one side of a pair. */
export interface TrialRequest {
  readonly pair: NeighbourPair;
  readonly side: Side;
  readonly trials: number;
  /** Separates the noise of this request from that of every other, if the noise is seeded. */
  readonly label: string;
}

/**
 * Outputs of releases, one row of numbers each. `writeOutput` makes them. The first column is the
 * kind of outcome.
 */
export interface OutputBlock {
  readonly count: number;
  readonly width: number;
  readonly values: Float64Array;
}

/**
 * Runs releases, on this thread or on others. The results of a seeded pool do not depend on its
 * parallelism.
 */
export interface TrialPool {
  /** How many requests are worth giving at once. */
  readonly parallelism: number;
  run(request: TrialRequest): Promise<OutputBlock>;
}

/** Releases on one side of a pair, whose privacy losses are wanted. */
export interface LossRequest extends TrialRequest {
  /** Multiples of the shifts, of which each trial draws one: see losses/loss-trials. */
  readonly multiples: readonly number[];
  readonly shifts: Shifts;
}

/** Privacy losses of releases. */
export interface LossBlock {
  /** The logarithm of a weight, then the loss, of each trial. */
  readonly values: Float64Array;
  /** For a request of one trial, the cost of its calls in rho (losses/call-loss); else 0. */
  readonly rho: number;
  /** For a request of one trial, how far the contents move; else empty. */
  readonly shifts: Shifts;
}

/** Runs releases on both sides and compares the probabilities of what they release. */
export interface LossPool {
  readonly parallelism: number;
  /** Null if the law of a draw is not known: that of a mask. */
  runLosses(request: LossRequest): Promise<LossBlock | null>;
}

/** The result of exact privacy losses. */
export interface KnownNoise {
  /** Epsilon is at least this at the claim's delta. 0 if nothing was found. */
  readonly bound: number;
  /** At each epsilon, delta is at least this. All points hold at once. Epsilon increases. */
  readonly curve: readonly { readonly epsilon: number; readonly delta: number }[];
  /** All trials, and those that the curve counts. Each ran two releases. */
  readonly trials: number;
  readonly trialsCounted: number;
  readonly pair: string;
  /** The side whose outputs were drawn. */
  readonly side: Side;
  /** The cost of the contents of the two sides in one release, in rho (losses/call-loss). */
  readonly rho: number;
  /** True if the contents of any pair that was tried differ. If not, nothing was tested. */
  readonly moved: boolean;
  readonly pairsTried: number;
}

/** The promise of an estimator: for neighbours, P(event) <= e^epsilon P'(event) + delta. */
export interface Claim {
  readonly epsilon: number;
  readonly delta: number;
}

/** The result of an audit. */
export interface AuditResult {
  readonly claim: Claim;
  /**
   * Epsilon is at least this at the claim's delta, with the stated confidence. 0 if nothing was
   * found.
   */
  readonly bound: number;
  readonly confidence: number;
  /** All releases that ran, and those that the bound counts. */
  readonly trials: number;
  readonly trialsCounted: number;
  /**
   * The pair that came closest to breaking the claim, and the event that distinguishes its sides.
   */
  readonly pair: string;
  readonly event: string;
  readonly pairsTried: number;
  /** The bound that counted outputs alone prove, whatever the law of the noise. */
  readonly sampled: number;
  /** The result of exact privacy losses; null if not asked for, or unknown for this release. */
  readonly known: KnownNoise | null;
  /** bound > claim: the promise is broken. */
  readonly caught: boolean;
}
