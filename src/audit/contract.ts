/** The contributors of one data set: rows as `createGroups` takes them. Cloneable, so that it can cross threads. */
export interface Contributors {
  readonly count: number;
  /** 32 bytes each: who shares a group with whom. */
  readonly tickets: Uint8Array;
  /** Row-major, count * dimension. */
  readonly rows: Float64Array;
}

/** Two data sets that differ in one contributor. */
export interface NeighbourPair {
  /** Unique in an audit. */
  readonly name: string;
  readonly left: Contributors;
  readonly right: Contributors;
}

export type Side = 'left' | 'right';

/** Releases to run on one side of a pair. */
export interface TrialRequest {
  readonly pair: NeighbourPair;
  readonly side: Side;
  readonly trials: number;
  /** Separates the noise of one request from that of every other, when it is seeded. */
  readonly label: string;
}

/** Outputs of releases, one row of numbers each. Made by `writeOutput`; the first column is the kind of outcome. */
export interface OutputBlock {
  readonly count: number;
  readonly width: number;
  readonly values: Float64Array;
}

/** Runs releases, here or on other threads. Results of a seeded pool do not depend on its parallelism. */
export interface TrialPool {
  /** Requests worth giving at once. */
  readonly parallelism: number;
  run(request: TrialRequest): Promise<OutputBlock>;
}

/** What an estimator promises: for neighbours, P(event) <= e^epsilon P'(event) + delta. */
export interface Claim {
  readonly epsilon: number;
  readonly delta: number;
}

/** What an audit found. */
export interface AuditResult {
  readonly claim: Claim;
  /** Epsilon is at least this, given the claim's delta, with the stated confidence. 0: nothing was seen. */
  readonly bound: number;
  readonly confidence: number;
  /** Releases run in all, and those that the bound was counted on. */
  readonly trials: number;
  readonly trialsCounted: number;
  /** The pair that came closest, and the event that told its sides apart. */
  readonly pair: string;
  readonly event: string;
  readonly pairsTried: number;
  /** bound > claim: the promise is broken. */
  readonly caught: boolean;
}
