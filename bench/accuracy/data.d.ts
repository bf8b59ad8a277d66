/** One attack of the accuracy benchmark. */
export interface AccuracyAttack {
  readonly title: string;
  readonly isClean?: boolean;
  readonly offset?: number;
}

export declare const attacks: Readonly<Record<string, AccuracyAttack>>;

export declare function makeRows(name: string, shape: {
  /** One of the names of `shapes`; default normal. */
  readonly rows?: string;
  readonly dimension: number;
  readonly contributors: number;
  readonly corruption: number;
  readonly seed: number | string;
}): {
  readonly values: Float64Array; readonly truth: Float64Array; readonly honestMean: Float64Array;
  /** A difference between two answers in honest deviations along uncorrelated directions. */
  readonly inDeviations: (difference: ArrayLike<number>) => readonly number[];
};

/** The shapes of honest rows, by name. */
export declare const shapes: Readonly<Record<string, { readonly title: string }>>;

/** Repeatable numbers from a text: uniform ones strictly between 0 and 1, and normal ones. */
export declare function randomOf(seed: string): {
  readonly uniform: () => number; readonly normal: () => number;
};
