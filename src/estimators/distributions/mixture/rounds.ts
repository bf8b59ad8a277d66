import type { RowBlock } from '../../../privacy/stages/rows.js';
import { powerOfTwoBelow } from '../../../privacy/accounting/grid.js';
import { congruentRoot, logFactorOf, standardise, type Normal } from './normals.js';

/**
 * One step of expectation and maximisation for all components together, at the price of one row.
 *
 * A row x has the share r_k in component k, its probability given x under the mixture that the step
 * before released, and the place z_k = L_k^-1 (x - m_k), pulled in to the ball of radius R. It adds
 * r_k f(z_k) to the sums of component k, where f(z) is the list of a, sqrt(2a) z_i, z_i^2 and
 * sqrt(2) z_i z_j for i < j, with a = R^2 / 2. A component in which the row is farther than 3 R
 * gets nothing from it.
 *
 * Claim: the sums of all components together, K (1 + d + d (d + 1) / 2) numbers, move in L2 by at
 * most sqrt(2) (a + R^2), and 2 g sqrt(numbers), when a row is replaced by any other row, or by
 * nothing, or added; g is the grid.
 * Why: f(z).f(z') = a^2 + 2 a z.z' + (z.z')^2 = (a + z.z')^2, so that |f(z)| = a + |z|^2 <= a + R^2
 * and no two of these vectors are more than a right angle apart. The shares are at least 0 and add
 * up to at most 1. So what one row adds has length at most (sum r_k^2)^(1/2) (a + R^2) <= a + R^2;
 * two such vectors have an inner product of sum r_k r'_k f(z_k).f(z'_k) >= 0, hence a difference of
 * at most sqrt(2) (a + R^2); and one alone is shorter. What is added is each number cut to a
 * multiple of g toward zero, which moves either vector by at most g per number; doubles are within
 * 2^-40 of all this, for which the bound is raised by 2^-30. Multiples of g of this size add up
 * exactly for fewer than 2^32 rows, so the order of rows is no matter. A place that is no double
 * (NaN or infinite) counts as far.
 *
 * Nothing of this needs the rows to be normal, the shares to be right, or the steps to get
 * anywhere.
 */
export interface RoundShape {
  readonly dimension: number;
  readonly components: number;
  /** R. */
  readonly radius: number;
}

const far = 3;

/** Numbers per component. */
const numbersOf = (dimension: number): number => 1 + dimension + (dimension * (dimension + 1)) / 2;

/** How many numbers a row adds to the sums, their grid, and how far a replaced row moves them. */
export function roundBounds({ dimension, components, radius }: RoundShape): {
  readonly numbers: number;
  readonly grid: number;
  readonly sensitivity: number;
} {
  const longest = 1.5 * radius ** 2 * (1 + 2 ** -30);
  const grid = powerOfTwoBelow(longest * 2 ** -18);
  const numbers = components * numbersOf(dimension);
  return {
    numbers, grid,
    sensitivity: Math.SQRT2 * longest * (1 + 2 ** -50) + 2 * grid * Math.sqrt(numbers),
  };
}

/** The sums; those of components that the mixture has fewer of stay 0. O(rows components d^2). */
export function roundSums(
  normals: readonly Normal[], { count, values }: RowBlock, shape: RoundShape,
): Float64Array {
  const { dimension: d, radius } = shape;
  const { numbers, grid } = roundBounds(shape);
  const each = numbersOf(d);
  const steps = new Float64Array(numbers);
  const factors = normals.map(logFactorOf);
  const places = new Float64Array(normals.length * d);
  const squares = new Float64Array(normals.length);
  const shares = new Float64Array(normals.length);
  for (let row = 0; row < count; row++) {
    let most = -Infinity;
    for (let k = 0; k < normals.length; k++) {
      const square = standardise(normals[k]!, values, row * d, places, k * d);
      squares[k] = square < Infinity ? square : Infinity;
      shares[k] = factors[k]! - squares[k]! / 2;
      if (shares[k]! > most) most = shares[k]!;
    }
    if (most === -Infinity) continue;
    let all = 0;
    for (let k = 0; k < normals.length; k++) all += shares[k] = Math.exp(shares[k]! - most);
    for (let k = 0; k < normals.length; k++) {
      if (squares[k]! > (far * radius) ** 2) continue;
      const shrunk = squares[k]! > radius * radius ? radius / Math.sqrt(squares[k]!) : 1;
      addFeatures(
        steps, k * each, places, k * d, d, { share: shares[k]! / all / grid, shrunk, radius },
      );
    }
  }
  return steps.map((entry) => entry * grid);
}

/** Adds share f(shrunk z), in whole steps. */
function addFeatures(
  steps: Float64Array, at: number, places: Float64Array, from: number, d: number,
  { share, shrunk, radius }: {
    readonly share: number; readonly shrunk: number; readonly radius: number,
  },
): void {
  steps[at]! += Math.trunc(share * (radius * radius / 2));
  let next = at + 1;
  for (let i = 0;
      i < d; i++) steps[next++]! += Math.trunc(share * radius * shrunk * places[from + i]!);
  for (let i = 0; i < d; i++) {
    const own = share * shrunk * shrunk * places[from + i]!;
    steps[next++]! += Math.trunc(own * places[from + i]!);
    for (let j = i + 1;
        j < d; j++) steps[next++]! += Math.trunc(Math.SQRT2 * own * places[from + j]!);
  }
}

/**
 * The mixture that a step's noisy sums say: post-processing. A component of fewer rows than four
 * deviations of their noise keeps its place and hardly any weight. Eigenvalues, in the component's
 * own frame, are held above what noise alone makes of none.
 */
export function nextNormals(
  normals: readonly Normal[], noisy: Float64Array, sigma: number,
  { dimension: d, radius }: RoundShape,
): readonly Normal[] {
  const each = numbersOf(d);
  const [a, b] = [radius ** 2 / 2, radius];
  const rows = normals.map((_, k) => Math.max(0, noisy[k * each]! / a));
  const all = Math.max(1, rows.reduce((sum, own) => sum + own, 0));
  const next = normals.map((normal, k): Normal => {
    const own = rows[k]!;
    if (!(own > (4 * sigma) / a)) return { ...normal, weight: 1e-4 };
    const moved = Float64Array.from({ length: d }, (_, i) => noisy[k * each + 1 + i]! / b / own);
    const second = new Float64Array(d * d);
    let at = k * each + 1 + d;
    for (let i = 0; i < d; i++) {
      for (let j = i; j < d; j++) {
        const entry = noisy[at++]! / (i === j ? 1 : Math.SQRT2) / own - moved[i]! * moved[j]!;
        second[i * d + j] = entry;
        second[j * d + i] = entry;
      }
    }
    const floor = Math.max(0.05, (1.5 * Math.sqrt(d) * sigma) / own);
    const root = congruentRoot(normal, second, floor);
    if (root === null) return { ...normal, weight: own / all };
    const mean = normal.mean.map((entry, i) => {
      let sum = entry;
      for (let j = 0; j <= i; j++) sum += normal.root[i * d + j]! * moved[j]!;
      return sum;
    });
    return { weight: own / all, mean, root };
  });
  const total = next.reduce((sum, { weight }) => sum + weight, 0);
  return next.map((normal) => ({ ...normal, weight: normal.weight / total }));
}
