import { describeNumbers, type Described } from '../src/answers/describe.js';
import type { Question } from '../src/base/questions.js';

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
  /** Total of the honest contributors' rows, before any clipping to a study's bounds. */
  readonly honestTotal: Float64Array;
  /** Total over all contributors, hostile ones included. */
  readonly naiveTotal: Float64Array;
  readonly honest: number;
  readonly hostile: number;
}

/**
 * One contribution as the server reduces it: the sum of its rows under `sum`, else their mean.
 * Under `one` the server picks one row by a secret key, and the mean is its expected value. Rows
 * without a value (NaN) in a column do not count there; NaN where none has one.
 */
export function reduceRows(
  rows: Float64Array, columns: number, reduce: Question['reduce'],
): Float64Array {
  const sums = new Float64Array(columns);
  const counts = new Float64Array(columns);
  rows.forEach((value, i) => {
    if (Number.isNaN(value)) return;
    counts[i % columns]! += 1;
    sums[i % columns]! += value;
  });
  return sums.map((sum, j) => (counts[j] === 0 ? Number.NaN
    : reduce === 'sum' ? sum : sum / counts[j]!));
}

/**
 * The true values that a study's release estimates, for honest contributors and for all: totals or
 * means.
 */
export function truthOf(
  asked: Described, truth: Truth,
): { readonly honest: readonly number[]; readonly naive: readonly number[] } {
  const isTotal = describeNumbers(asked).some(({ kind }) => kind === 'total');
  const [honest, naive] = isTotal
    ? [truth.honestTotal, truth.naiveTotal] : [truth.honestMean, truth.naiveMean];
  return { honest: Array.from(honest), naive: Array.from(naive) };
}

/**
 * Collects the reduced contributions of one epoch. Memory: two vectors, whatever the number of
 * contributors.
 */
export class TruthSums {
  private readonly honestSum: Float64Array;
  private readonly hostileSum: Float64Array;
  /** By column: contributors with a value. */
  private readonly honestCount: Float64Array;
  private readonly hostileCount: Float64Array;
  private honest = 0;
  private hostile = 0;

  constructor(columns: number) {
    this.honestSum = new Float64Array(columns);
    this.hostileSum = new Float64Array(columns);
    this.honestCount = new Float64Array(columns);
    this.hostileCount = new Float64Array(columns);
  }

  /** @param reduced from `reduceRows`. */
  add(reduced: Float64Array, isHostile: boolean): void {
    const sum = isHostile ? this.hostileSum : this.honestSum;
    const count = isHostile ? this.hostileCount : this.honestCount;
    for (let i = 0; i < sum.length; i++) {
      if (Number.isNaN(reduced[i]!)) continue;
      sum[i]! += reduced[i]!;
      count[i]! += 1;
    }
    if (isHostile) this.hostile += 1;
    else this.honest += 1;
  }

  get truth(): Truth {
    const { honestSum, hostileSum, honestCount, hostileCount, honest, hostile } = this;
    const naiveTotal = honestSum.map((sum, i) => sum + hostileSum[i]!);
    return {
      honestMean: honestSum.map((sum, i) => sum / honestCount[i]!),
      naiveMean: naiveTotal.map((sum, i) => sum / (honestCount[i]! + hostileCount[i]!)),
      honestTotal: honestSum.slice(),
      naiveTotal,
      honest,
      hostile,
    };
  }
}
