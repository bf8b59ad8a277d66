import { protocolLimits } from '../src/base/limits.js';

/**
 * The answers of an epoch without noise and without defence. Simulations compare releases with
 * them.
 */
export interface Truth {
  /** Mean of the honest contributors' rows; NaN when there are none. */
  readonly honestMean: Float64Array;
  /**
   * Mean over all contributors, hostile ones included: the answer of aggregation without defence.
   */
  readonly naiveMean: Float64Array;
  readonly honest: number;
  readonly hostile: number;
}

/**
 * One contribution as the server reduces it: the mean of its rows, each value clipped to the coarse
 * box.
 */
export function reduceRows(rows: Float64Array, columns: number): Float64Array {
  const mean = new Float64Array(columns);
  const count = rows.length / columns;
  rows.forEach((value, i) => {
    mean[i % columns]! +=
      Math.min(protocolLimits.coarseBox, Math.max(-protocolLimits.coarseBox, value));
  });
  return mean.map((sum) => sum / count);
}

/**
 * Collects the reduced contributions of one epoch. Memory: two vectors, whatever the number of
 * contributors.
 */
export class TruthSums {
  private readonly honestSum: Float64Array;
  private readonly hostileSum: Float64Array;
  private honest = 0;
  private hostile = 0;

  constructor(columns: number) {
    this.honestSum = new Float64Array(columns);
    this.hostileSum = new Float64Array(columns);
  }

  /** @param reduced from `reduceRows`. */
  add(reduced: Float64Array, isHostile: boolean): void {
    const sum = isHostile ? this.hostileSum : this.honestSum;
    for (let i = 0; i < sum.length; i++) sum[i]! += reduced[i]!;
    if (isHostile) this.hostile += 1;
    else this.honest += 1;
  }

  get truth(): Truth {
    const { honestSum, hostileSum, honest, hostile } = this;
    return {
      honestMean: honestSum.map((sum) => sum / honest),
      naiveMean: honestSum.map((sum, i) => (sum + hostileSum[i]!) / (honest + hostile)),
      honest,
      hostile,
    };
  }
}
