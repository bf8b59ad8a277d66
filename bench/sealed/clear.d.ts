import type { Outcome } from '../../src/base/outcome.js';
import type { SealedRobustDesign } from '../../src/sealed/programs/robust-design.js';

/** The values that a sealed robust mean opens, computed in the clear, and its answer. */
export declare function clearRobustMean(
  library: object, design: SealedRobustDesign,
  rows: { readonly values: ArrayLike<number>; readonly count: number },
  open: (event: string, values: Float64Array, unit: number) => Promise<Float64Array>,
): Promise<Outcome>;
