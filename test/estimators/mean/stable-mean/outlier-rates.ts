import { Sensitive } from '../../../../src/base/brands.js';
import type { StepRows } from '../../../../src/estimators/mean/stable-mean/dual-rows.js';
import { createMechanisms } from '../../../../src/privacy/mechanisms/index.js';
import { privateSelection, selectionEvents } from '../../../support/tested-selection.js';
import { seededNoise } from '../../../../src/random/insecure.js';

/**
 * The published way to stable weights, on a line and for a handful of rows, where everything can be
 * worked out exactly: weights of least norm that keep all but `outliers` rows' worth within a bound
 * on their width,
 *
 *   minimise |w|^2  over  w in [0, 1]^n,  sum w_i >= n - outliers,  sum w_i z_i^2 <= bound,
 *
 * and a private choice of a number of outliers at which the minimum changes little. What ships does
 * without both; this is here to compare with.
 * Source: Kothari, Manurangsi, Velingker 2022, section 4; sensitivity 1 of the score as its own
 * proof gives it.
 */
export interface Potential {
  /** |w|^2 at the minimum; Infinity when no weights fit. */
  readonly value: number;
  readonly weights: Float64Array;
}

const clamp = (entry: number): number => Math.min(1, Math.max(0, entry));

/** The x in [low, high] where a rising function reaches `target`. */
function rising(low: number, high: number, target: number, f: (x: number) => number): number {
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (f(middle) < target) low = middle;
    else high = middle;
  }
  return high;
}

export function potentialOf(rows: ArrayLike<number>, outliers: number, bound: number): Potential {
  const squares = Float64Array.from(rows, (entry) => entry * entry);
  const count = squares.length;
  const least = count - outliers;
  if (least <= 0) return { value: 0, weights: new Float64Array(count) };
  if (least > count || narrowest(squares, least) > bound * (1 + 1e-12)) {
    return { value: Infinity, weights: new Float64Array(count) };
  }
  // w = clamp(level - slope z^2): for each slope the level at which the weights suffice.
  const weightsAt = (slope: number): Float64Array => {
    const sum = (level: number): number =>
      squares.reduce((all, square) => all + clamp(level - slope * square), 0);
    const level = rising(0, 1 + slope * Math.max(...squares), least, sum);
    return squares.map((square) => clamp(level - slope * square));
  };
  const width = (weights: Float64Array): number =>
    weights.reduce((all, weight, i) => all + weight * squares[i]!, 0);
  let steepest = 0;
  if (width(weightsAt(0)) > bound) {
    let high = 1;
    while (width(weightsAt(high)) > bound * (1 + 1e-9) && high < 1e9) high *= 2;
    steepest = rising(0, high, -bound, (slope) => -width(weightsAt(slope)));
  }
  const weights = weightsAt(steepest);
  return { value: weights.reduce((all, weight) => all + weight * weight, 0), weights };
}

/** The least width that so much weight can have. */
function narrowest(squares: Float64Array, weight: number): number {
  let [left, width] = [weight, 0];
  for (const square of squares.slice().sort()) {
    width += Math.min(1, left) * square;
    left -= Math.min(1, left);
  }
  return width;
}

/** How much the minimum changes over `span` outliers more and fewer. */
export function changeOf(
  rows: ArrayLike<number>, outliers: number, span: number, bound: number,
): number {
  const [fewer, more] = [outliers - span, outliers + span].map((count) =>
    potentialOf(rows, count, bound).value);
  return fewer === Infinity ? Infinity : fewer! - more!;
}

/**
 * By how many rows the data may change before the minimum at `outliers` changes by more than
 * `room`.
 */
export function scoreOf(
  rows: ArrayLike<number>, outliers: number, { bound, room }: { bound: number; room: number },
): number {
  if (potentialOf(rows, outliers, bound).value === Infinity) return 0;
  let best = 0;
  for (let span = 0; span <= rows.length; span++) {
    best = Math.max(best, Math.min(span, room - changeOf(rows, outliers, span, bound)));
  }
  return best;
}

/**
 * Chooses a number of outliers from 0 to `outliersMax`, and the weighted mean at it; null when none
 * is stable.
 */
export function selectedMean(
  rows: ArrayLike<number>,
  { bound, room, outliersMax, epsilon, seed }: {
    bound: number; room: number; outliersMax: number; epsilon: number; seed: string;
  },
): number | null {
  const events = selectionEvents({
    cohort: 'rows', candidates: outliersMax + 1, sensitivity: 1, epsilon, delta: 0.01, floor: 0,
  });
  const scores = Float64Array.from({ length: outliersMax + 1 }, (_, outliers) =>
    scoreOf(rows, outliers, { bound, room }));
  const { value } =
    privateSelection(createMechanisms(events, seededNoise(seed)), Sensitive.of(scores));
  if (value.kind === 'failed') return null;
  const { weights } = potentialOf(rows, value.index, bound);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.reduce((sum, weight, i) => sum + weight * rows[i]!, 0) / total;
}

export const unit = 2 ** -12;

/** Rows of one column, in steps of `unit`, all present. */
export const stepsOf = (rows: readonly number[]): StepRows => ({
  count: rows.length, dimension: 1,
  steps: Float64Array.from(rows, (entry) => Math.trunc(entry / unit)),
  present: new Uint8Array(rows.length).fill(1),
});
