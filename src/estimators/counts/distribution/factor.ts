import { factorStep, rootColumn, runningColumn } from '../../../base/root-factor.js';

/** The square-root factor of the running sums over some number of cells. */
export interface RootFactor {
  readonly cells: number;
  /** First column of C, in steps: whole numbers. */
  readonly column: Float64Array;
  /** An upper bound on the L2 distance by which one contributor moves C x, in units of 1. */
  readonly sensitivity: number;
  /** First column of L C^-1, in units of 1; L makes running sums. */
  readonly running: Float64Array;
}

/**
 * The lower-triangular Toeplitz matrix C with c_k = binom(2k, k) / 4^k, rounded to whole steps.
 * Without rounding C C = L, the matrix of running sums: C is its square root. One contributor moves
 * C x little, and L C^-1 spreads the noise of C x little.
 *
 * Claim. x counts contributors per cell. If one contributor is replaced, comes or goes, C x moves
 * by at most `sensitivity` in L2.
 * Why: x then changes by e_i - e_j or by e_i, up to the sign. Column i of C holds c_0, c_1 ...
 * from row i on. |C e_i|^2 is the sum of the first cells - i squares: most for i = 0. For
 * j = i + s, |C (e_i - e_j)|^2 is the sum of c_k^2 over k < s, and of (c_{k+s} - c_k)^2 over
 * k < cells - j. Of these sums, too, the one for i = 0 has all terms of the others. So i = 0 with
 * every s, and |C e_0|^2, cover all cases. All are sums of whole numbers below 2^53, so they are
 * exact. The root is rounded up.
 *
 * Source: Fichtenberger, Henzinger and Upadhyay (2023), Constant matters: fine-grained error bound
 * on differentially private continual observation; Henzinger, Upadhyay and Upadhyay (2023).
 * Cost: O(cells^2).
 */
export function rootFactor(cells: number): RootFactor {
  const column = rootColumn(cells);
  return {
    cells, column, running: runningColumn(column),
    sensitivity: Math.sqrt(squaredSensitivity(column)) * factorStep * (1 + 2 ** -50),
  };
}

/** The squared sensitivity in steps^2, exactly. */
export function squaredSensitivity(column: Float64Array): number {
  let most = column.reduce((sum, entry) => sum + entry * entry, 0);
  let before = 0;
  for (let s = 1; s < column.length; s++) {
    before += column[s - 1]! ** 2;
    let sum = before;
    for (let k = 0; k + s < column.length; k++) sum += (column[k + s]! - column[k]!) ** 2;
    most = Math.max(most, sum);
  }
  return most;
}

/** C x in units of 1, for whole counts: exact while there are fewer than 8e9 contributors. */
export function factored({ column }: RootFactor, counts: Float64Array): Float64Array {
  return toeplitz(column, counts).map((steps) => steps * factorStep);
}

/** L C^-1 y: the running sums of the counts, with noise. */
export function runningSums({ running }: RootFactor, noisy: Float64Array): Float64Array {
  return toeplitz(running, noisy);
}

function toeplitz(column: Float64Array, values: Float64Array): Float64Array {
  return values.map((_, i) => {
    let sum = 0;
    for (let j = 0; j <= i; j++) sum += column[i - j]! * values[j]!;
    return sum;
  });
}

/** Standard deviations of noise after `runningSums`, in units of that of one noisy number. */
export interface RunningDeviations {
  /** The deviation of each running sum. */
  readonly below: Float64Array;
  /** The deviation of the last running sum minus each. */
  readonly above: Float64Array;
}

/** Cost: O(cells^2). */
export function runningDeviations({ cells, running }: RootFactor): RunningDeviations {
  const squares = new Float64Array(cells + 1);
  running.forEach((entry, k) => { squares[k + 1] = squares[k]! + entry * entry; });
  const above = new Float64Array(cells);
  for (let i = 0; i < cells; i++) {
    const s = cells - 1 - i;
    let sum = squares[s]!;
    for (let k = 0; k <= i; k++) sum += (running[k + s]! - running[k]!) ** 2;
    above[i] = Math.sqrt(sum);
  }
  return { below: Float64Array.from(squares.subarray(1), Math.sqrt), above };
}

/**
 * The same for the number of values outside: the first running sum, and the last less the one
 * before it.
 */
export function outsideDeviation({ cells, running }: RootFactor): number {
  let sum = 0;
  for (let j = 0; j < cells; j++) {
    const last = running[cells - 1 - j]! - (running[cells - 2 - j] ?? 0);
    sum += (last + (j === 0 ? running[0]! : 0)) ** 2;
  }
  return Math.sqrt(sum);
}
