/** One attack of the accuracy benchmark. */
export interface AccuracyAttack {
  readonly title: string;
  readonly isClean?: boolean;
  readonly offset?: number;
}

export declare const attacks: Readonly<Record<string, AccuracyAttack>>;

export declare function makeRows(name: string, shape: {
  readonly rows?: 'normal' | 'student' | 'pareto';
  readonly dimension: number;
  readonly contributors: number;
  readonly corruption: number;
  readonly seed: number | string;
}): {
  readonly values: Float64Array; readonly truth: Float64Array; readonly honestMean: Float64Array;
};

/** Repeatable numbers from a text: uniform ones strictly between 0 and 1, and normal ones. */
export declare function randomOf(seed: string): {
  readonly uniform: () => number; readonly normal: () => number;
};
