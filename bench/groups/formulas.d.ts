/** The privacy of a release, and the number of keys whose counts one person may change by 1. */
export interface Asked {
  readonly epsilon: number;
  readonly delta: number;
  readonly changed: number;
}

/** A key is shown half of the time from `half` people on; counts are off by `error`. */
export interface Shown {
  readonly half: number;
  readonly error: number;
}

/** The chance that a key of 0, 1, 2 ... people is shown by the best rule. */
export declare function optimalChances(
  epsilon: number, delta: number, most?: number,
): readonly number[];
export declare function optimalHalf(asked: Asked & { readonly prefilter?: number }): number;
export declare function optimalWithCounts(asked: Asked): Shown;
/** `from`: the threshold. */
export declare function laplaceThreshold(
  asked: Asked,
): Shown & { readonly from: number; readonly scale: number };
export declare function gaussianThreshold(
  asked: Asked,
): Shown & { readonly from: number; readonly sigma: number };
export declare function keelson(asked: {
  readonly epsilon: number; readonly delta: number; readonly groupsMax: number;
  readonly prefilter?: number;
}): Shown & { readonly from: number; readonly rho: number; readonly eventDelta: number };
export declare function inLedger(asked: {
  readonly rho: number; readonly eventDelta: number; readonly changed: number;
}): { readonly optimal: number; readonly laplace: Shown };
