import { ownKernels } from '../../numerics/kernels/index.js';
import { momentsOfRows, scoresOfRows, sharedDoubles } from '../../numerics/kernels/shards.js';
import type { Compute } from '../contract.js';
import { semidefinitePart } from './dual-ascent.js';
import type { StepRows } from './dual-rows.js';

/**
 * Weights w in [0, 1] of rows z, as near to all ones as a soft bound on the width of the weighted rows lets them be:
 *
 *   F(w) = (1/2) |1 - w|^2 + |(sum w_i z_i z_i^T - m I)_+|^2 / (2 k),   k = softness m^2 / rowsMax,
 *
 * with (.)_+ the positive part and all norms of matrices Frobenius. Rows are measured so that the bound is m.
 *
 * Claim. For every set of at most rowsMax rows the weights `v` returned satisfy
 * (a) |v - w*| <= sqrt(2 gap), w* the one minimiser of F over [0, 1]^rows and gap the gap that is asked for;
 * (b) sum v_i z_i z_i^T <= (1 + softness) m I.
 * docs/stabilised-relaxations.md proves from this how little one row can change the others' weights.
 *
 * Why (a). F is 1-strongly convex, so |v - w*|^2 / 2 <= F(v) - F(w*). For every positive semidefinite U,
 * G(U) = sum h(z^T U z) - m tr U - k |U|^2 / 2 <= F(w*), where h(q) = q - q^2 / 2 up to 1, then 1/2 (Lagrange). At
 * w = max(0, 1 - z^T U z) the rows' terms of F(w) - G(U) cancel, and with M = sum w z z^T - m I
 *   F(w) - G(U) = |M_+|^2 / (2 k) - <U, M> + k |U|^2 / 2,
 * which needs no difference of large sums. It is worked out for the very weights that are returned, and the ascent
 * ends when it is small enough: a certificate, whatever led there. What rounding can hide is in `roundingGap`.
 * Why (b). Weights that overstep are divided by how much they do, and what that adds to F is added to the gap.
 *
 * It ends. G is k-strongly concave and its gradient L-Lipschitz, L = lambda_max(sum |z|^2 z z^T) + k, since
 * (z^T V z)^2 <= |z|^2 z^T V^2 z. The first phase restarts its momentum when it turns against the gradient, which is
 * fast and has no proof. The second has one: accelerated steps with constant momentum shrink the error by
 * 1 - sqrt(k / L) each (A. Beck, First-order methods in optimization (2017), theorem 10.42). Let r be what G(U) is
 * short of its maximum. Then |w - w*|^2 <= 2 r, the moments differ by at most sqrt(2 r L), and the positive part at the
 * optimum is k U*; so F(w) - G(U) <= sqrt(2 r) (sqrt(rows) + |U*| sqrt(L)) + r (2 + L / k). From G(U*) >= 0 follows
 * |U*| <= rows / (2 m), so the optimum oversteps by half of softness m at most and nothing is divided near it. The gap
 * of the point that the second phase begins with bounds its r. `stepsThatSuffice` puts these together.
 */
export interface Projection {
  /** One weight in [0, 1] for each row; 0 for null rows. */
  readonly weights: Float64Array;
  /** Certified F(weights) - F(w*), but for rounding. */
  readonly gap: number;
  /** Passes over the rows. */
  readonly steps: number;
}

/** What is asked of a projection. All of it is public or released. */
export interface ProjectionAsked {
  /** Of a step of the rows, in the unit in which the bound is `bound`. */
  readonly unit: number;
  /** m: how wide the weighted rows may be in any direction, summed over rows. */
  readonly bound: number;
  readonly rowsMax: number;
  /** The gap to reach, above 0. */
  readonly gap: number;
  /** Passes of the phase without a proof; default 300. 0 goes straight to the one that has it. */
  readonly fastSteps?: number;
}

/** Share of the bound by which weighted rows may overstep it: it buys the strong concavity that ends the ascent. */
export const softness = 0.03;

/**
 * An upper bound on what rounding can hide of a gap. A sum over chunks of 2^15 rows is off by 2^-37 of the sum of its
 * terms' sizes at most, that of the terms of M is the trace of the weighted moments, at most dimension (1 + softness)
 * m, and both |U| and |M_+| / k, by which the gap depends on M, are at most about rows / (2 m): twice that is taken.
 */
export function roundingGap(rowsMax: number, dimension: number): number {
  return 2 ** -36 * rowsMax * dimension;
}

/** A point of the ascent, seen. */
interface Sight {
  readonly dual: Float64Array;
  readonly weights: Float64Array;
  /** Gradient of G. */
  readonly slope: Float64Array;
  readonly gap: number;
}

interface Seen extends Sight {
  readonly steps: number;
}

interface Problem {
  readonly compute: Compute;
  readonly rows: StepRows;
  readonly asked: ProjectionAsked;
  /** k. */
  readonly concavity: number;
  /** L. */
  readonly smoothness: number;
}

/** Solves the program. O(rows d^2 + d^3) for each step; see above for how many steps there can be. */
export async function projectOnBound(compute: Compute, rows: StepRows, asked: ProjectionAsked): Promise<Projection> {
  const concavity = (softness * asked.bound ** 2) / asked.rowsMax;
  const smoothness = await smoothnessOf(compute, rows, asked.unit) + concavity;
  const problem = { compute, rows, asked, concavity, smoothness };
  if (rows.dimension === 1) return projectOnLine(problem);
  const fast = await ascendFast(problem, asked.fastSteps ?? 300);
  if (fast.gap <= asked.gap) return fast;
  const sure = await ascendSurely(problem, fast);
  const steps = fast.steps + sure.steps;
  return sure.gap <= asked.gap ? { weights: sure.weights, gap: sure.gap, steps } : nothing(problem, steps);
}

/** lambda_max(sum |z|^2 z z^T): one pass. */
async function smoothnessOf(compute: Compute, { count, dimension, steps }: StepRows, unit: number): Promise<number> {
  const rows = { values: steps, dimension, count };
  const squares = sharedDoubles(count);
  const identity = Float64Array.from({ length: dimension ** 2 }, (_, at) => (at % (dimension + 1) === 0 ? 1 : 0));
  await scoresOfRows(compute, rows, new Float64Array(dimension), identity, squares);
  const { products } = await momentsOfRows(compute, rows, { weights: squares });
  const largest = ownKernels().eigenSymmetric(products, dimension).values.at(-1)!;
  return Math.max(0, largest) * unit ** 4 * (1 + 2 ** -30);
}

/**
 * How many steps of the second phase certify the gap, by the proof above: what G is short of its maximum after t of
 * them is at most (1 - sqrt(k / L))^t (r_0 + k |U_0 - U*|^2 / 2), both terms at most the gap at the start.
 */
function stepsThatSuffice({ rows: { count }, asked, concavity, smoothness }: Problem, gapAtStart: number): number {
  const condition = smoothness / concavity;
  const reach = Math.max(1, count / (2 * asked.bound));
  const slope = Math.sqrt(count) + reach * Math.sqrt(smoothness);
  const wanted = Math.min(asked.gap / (2 * (2 + condition)), (asked.gap / (2 * slope)) ** 2 / 2);
  return Math.ceil(Math.sqrt(condition) * Math.log((2 * gapAtStart) / wanted)) + 1;
}

/** Accelerated projected ascent with restarts, until the gap is small or the steps are used up. One pass a step. */
async function ascendFast(problem: Problem, stepsMax: number): Promise<Seen> {
  const { rows: { dimension }, asked } = problem;
  let iterate: Float64Array = new Float64Array(dimension ** 2);
  let age = 1;
  let sight = await see(problem, iterate);
  let steps = 1;
  for (; sight.gap > asked.gap && steps < stepsMax; steps++) {
    const next = stepFrom(problem, sight);
    const moved = next.map((entry, i) => entry - iterate[i]!);
    if (sight.slope.reduce((sum, entry, i) => sum + entry * moved[i]!, 0) < 0) age = 1;
    const older = (1 + Math.sqrt(1 + 4 * age ** 2)) / 2;
    sight = await see(problem, semidefinitePart(next.map((entry, i) =>
      entry + ((age - 1) / older) * moved[i]!), dimension));
    iterate = next;
    age = older;
  }
  return { ...sight, steps };
}

/** How many steps of the second phase there are between two looks for a certificate, which take a pass of their own. */
const stepsBetweenLooks = 16;

/** Accelerated projected ascent with constant momentum: the phase whose pace is proved. */
async function ascendSurely(problem: Problem, start: Sight): Promise<Seen> {
  const { asked, concavity, smoothness } = problem;
  const root = Math.sqrt(concavity / smoothness);
  const carry = (1 - root) / (1 + root);
  const stepsMax = stepsThatSuffice(problem, start.gap);
  let iterate = start.dual;
  let ahead = start.dual;
  for (let steps = 1; ; steps++) {
    const next = stepFrom(problem, await see(problem, ahead));
    ahead = next.map((entry, i) => entry + carry * (entry - iterate[i]!));
    iterate = next;
    if (steps % stepsBetweenLooks !== 0 && steps < stepsMax) continue;
    const sight = await see(problem, iterate);
    if (sight.gap <= asked.gap || steps >= stepsMax) {
      return { ...sight, steps: steps + Math.ceil(steps / stepsBetweenLooks) };
    }
  }
}

/** The positive semidefinite matrix that a gradient step leads to. */
function stepFrom({ rows: { dimension }, smoothness }: Problem, { dual, slope }: Sight): Float64Array {
  return semidefinitePart(dual.map((entry, i) => entry + slope[i]! / smoothness), dimension);
}

/** On one column the best dual is where a falling function of one number is 0: bisection, to the last bit if needed. */
async function projectOnLine(problem: Problem): Promise<Projection> {
  const { rows: { count }, asked } = problem;
  let [low, high] = [0, count / (2 * asked.bound)];
  let sight = await see(problem, Float64Array.of(low));
  let steps = 1;
  while (sight.gap > asked.gap) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return nothing(problem, steps);
    sight = await see(problem, Float64Array.of(middle));
    if (sight.slope[0]! > 0) low = middle;
    else high = middle;
    steps += 1;
  }
  return { weights: sight.weights, gap: sight.gap, steps };
}

/**
 * For solvers that found no certificate, which the proofs above exclude: weights of nothing are within every bound,
 * and refuse the release after its noise.
 */
function nothing({ rows: { count } }: Problem, steps: number): Projection {
  return { weights: new Float64Array(count), gap: 0, steps };
}

/**
 * What a dual's weights are, and what they certify.
 * @param dual - symmetric. A matrix that is not positive semidefinite has a slope, but certifies nothing.
 */
async function see(problem: Problem, dual: Float64Array): Promise<Sight> {
  const { compute, rows: { count, dimension, steps, present }, asked: { unit, bound }, concavity } = problem;
  const rows = { values: steps, dimension, count };
  const weights = sharedDoubles(count);
  await scoresOfRows(compute, rows, new Float64Array(dimension), dual.map((entry) => entry * unit ** 2), weights);
  for (let i = 0; i < count; i++) weights[i] = present[i] !== 0 ? Math.max(0, 1 - weights[i]!) : 0;
  const { products } = await momentsOfRows(compute, rows, { weights });
  const moments = products.map((entry) => entry * unit ** 2);
  const excess = moments.map((entry, at) => entry - (at % (dimension + 1) === 0 ? bound : 0));
  return {
    dual, weights, slope: excess.map((entry, i) => entry - concavity * dual[i]!),
    gap: certify(problem, dual, weights, excess),
  };
}

/** The gap at a dual's weights; weights that overstep the bound are shrunk first. */
function certify(
  { rows: { dimension }, asked: { bound }, concavity }: Problem, dual: Float64Array, weights: Float64Array,
  excess: Float64Array,
): number {
  const widths = ownKernels().eigenSymmetric(excess, dimension).values;
  const penalty = (shrink: number): number => widths.reduce((sum, width) =>
    sum + Math.max(0, shrink * (width + bound) - bound) ** 2, 0) / (2 * concavity);
  const product = dual.reduce((sum, entry, i) => sum + entry * (excess[i]! - (concavity / 2) * entry), 0);
  const shrink = Math.min(1, ((1 + softness) * bound) / (widths.at(-1)! + bound));
  if (!(shrink < 1)) return penalty(1) - product;
  let added = 0;
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i]!;
    added += weight * (1 - shrink) * (1 - (weight * (1 + shrink)) / 2);
    weights[i] = weight * shrink;
  }
  return penalty(shrink) - product + added;
}
