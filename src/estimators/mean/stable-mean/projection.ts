import { ln, log2, pow } from '../../../base/elementary.js';
import { assert } from '../../../base/assert.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import { momentsOfRows, scoresOfRows, sharedDoubles } from '../../../numerics/kernels/shards.js';
import type { Compute } from '../../contract/estimator.js';
import { semidefinitePart } from './dual-ascent.js';
import type { StepRows } from './dual-rows.js';

/**
 * Weights w in [0, 1] of rows z, as near to all ones as a soft bound on the width of the weighted
 * rows lets them be:
 *
 *   F(w) = (1/2) |1 - w|^2 + |(sum w_i z_i z_i^T - m I)_+|^2 / (2 k),   k = softness m^2 / rowsMax,
 *
 * with (.)_+ the positive part and all norms of matrices Frobenius. Rows are measured so that the
 * bound is m.
 *
 * Claim. For every set of at most rowsMax rows the weights `v` returned satisfy
 * (a) |v - w*| <= sqrt(2 gap), w* the one minimiser of F over [0, 1]^rows and gap the one asked
 * for;
 * (b) sum v_i z_i z_i^T <= (1 + overstep) m I.
 * docs/internals/stabilised-relaxations.md proves from this how little one row can change the
 * others' weights.
 *
 * Why (a). F is 1-strongly convex, so |v - w*|^2 / 2 <= F(v) - F(w*). For every positive
 * semidefinite U, G(U) = sum h(z^T U z) - m tr U - k |U|^2 / 2 <= F(w*), where h(q) = q - q^2 / 2
 * up to 1, then 1/2 (Lagrange). At w = max(0, 1 - z^T U z) the rows' terms of F(w) - G(U) cancel,
 * and with M = sum w z z^T - m I
 *   F(w) - G(U) = |M_+|^2 / (2 k) - <U, M> + k |U|^2 / 2,
 * which needs no difference of large sums. It is worked out for the very weights that are returned,
 * and the ascent ends when it is small enough: a certificate, whatever led there. What rounding can
 * hide is in `roundingGap`.
 * Why (b). Weights that overstep are divided by how much they do, and what that adds to F is added
 * to the gap.
 *
 * It ends, after a number of passes that is public: `passesAtMost`. G is k-strongly concave and its
 * gradient L-Lipschitz, L = lambda_max(sum |z|^2 z z^T) + k, since (z^T V z)^2 <= |z|^2 z^T V^2 z.
 * The first phase restarts its momentum when it turns against the gradient. It is fast, has no
 * proof, and takes `fastSteps` passes at most. The second phase has a proof. Write K = L / k, and r
 * for what G is short of its maximum G(U*).
 * 1. Accelerated steps with constant momentum give r_t <= (1 - sqrt(1 / K))^t (r_0 + k |U_0 - U*|^2
 *    / 2) (A. Beck, First-order methods in optimization (2017), theorem 10.42). Strong concavity
 *    bounds the second term by r_0. The phase starts at a dual whose gap is known, or at 0, so r_0
 *    <= rows / 2: G(0) = 0, and G(U*) = F(w*) is at most F(0) = rows / 2.
 * 2. The gap at U is at most (3/2 K + 1) r, w being the weights at U:
 *    - The Lagrangian at U is 1-strongly convex with minimiser w and is at most F(w*) at w*: |w -
 *      w*|^2 <= 2 r.
 *    - F is K-smooth: F(w) - F(w*) <= <gradient F(w*), w - w*> + K r. The gradient is q* - 1 where
 *      w* is 0, with q = z^T U z and q* = z^T U* z, and 0 elsewhere. So its term is a sum of (q* -
 *      1) (1 - q)_+ <= (q* - q)^2 / 4, at most L |U - U*|^2 / 4 <= K r / 2.
 *    - And G(U*) - G(U) = r.
 * 3. Weights near the optimum are not divided. Let l be the largest eigenvalue of U*, above 0, with
 *    direction u. Then sum w*_i (u . z_i)^2 = m + k l, and each term is at most x (1 - l x) <= 1 /
 *    (4 l), x = (u . z_i)^2. So (m + k l) l <= rows / 4, from which k l <= m (sqrt(1 + softness) -
 *    1) / 2 < .0245 m: less than overstep m. The weighted moments at U differ from these by at most
 *    sqrt(2 r L), which is below .0055 m when r is at most gap / (3/2 K + 1) and gap at most
 *    rowsMax / 5000.
 * So ceil(sqrt(K) log(rows (3/2 K + 1) / gap)) steps are enough. Rows of norm R at most have L <=
 * rows R^4 + k, which makes that a public number. It is what one far row can do to the time of a
 * solve: keep R small.
 */
export interface Projection {
  /** One weight in [0, 1] for each row; 0 for null rows. */
  readonly weights: Float64Array;
  /** Certified F(weights) - F(w*), but for rounding. */
  readonly gap: number;
  /** Passes over the rows, at most `passesAtMost`. */
  readonly passes: number;
}

/** Options of a projection. All of them are public or released. */
export interface ProjectionOptions {
  /** Length of a step of the rows, in the unit in which the bound is `bound`. */
  readonly unit: number;
  /** m: how wide the weighted rows may be in any direction, summed over rows. */
  readonly bound: number;
  /** At least the number of rows; need not be whole. */
  readonly rowsMax: number;
  /**
   * No row is longer, in the unit in which the bound is `bound`. It bounds the passes, not the
   * error.
   */
  readonly radius: number;
  /** The gap to reach, above 0 and at most rowsMax / 5000. */
  readonly gap: number;
  /** Passes of the phase without a proof; default 300. */
  readonly fastSteps?: number;
}

/** How soft the bound is. It buys the strong concavity that ends the ascent. */
export const softness = 0.1;
/**
 * Share of the bound by which weighted rows may overstep it, see (b): more than the soft bound's
 * optimum does.
 */
export const overstep = 0.03;
const fastStepsDefault = 300;

/**
 * An upper bound on what rounding can hide of a gap. A sum over chunks of 2^15 rows is off by 2^-37
 * of the sum of its terms' sizes at most, that of the terms of M is the trace of the weighted
 * moments, at most dimension (1 + overstep) m, and both |U| and |M_+| / k, by which the gap depends
 * on M, are at most about rows / (2 m): twice that is taken.
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

/** Where a phase ended, and the passes that it took. */
interface Climb {
  readonly sight: Sight;
  readonly passes: number;
}

interface Problem {
  readonly compute: Compute;
  readonly rows: StepRows;
  readonly options: ProjectionOptions;
  /** k. */
  readonly concavity: number;
  /** L. */
  readonly smoothness: number;
}

/**
 * Solves the program. O(rows d^2 + d^3) for each pass, and at most `passesAtMost` passes.
 */
export async function projectOnBound(
  compute: Compute, rows: StepRows, options: ProjectionOptions,
): Promise<Projection> {
  assert(rows.count <= options.rowsMax, 'a projection gets at most the rows it is planned for');
  const concavity = concavityOf(options);
  const smoothness = await smoothnessOf(compute, rows, options.unit) + concavity;
  const problem = { compute, rows, options, concavity, smoothness };
  if (rows.dimension === 1) return projectOnLine(problem);
  const fast = await ascendFast(problem, options.fastSteps ?? fastStepsDefault);
  if (fast.sight.gap <= options.gap) return projectionOf(fast, problem);
  const sure = await ascendSurely(problem, fast.sight);
  return projectionOf({ sight: sure.sight, passes: fast.passes + sure.passes }, problem);
}

/** k. */
function concavityOf({ bound, rowsMax }: Pick<ProjectionOptions, 'bound' | 'rowsMax'>): number {
  return (softness * bound ** 2) / rowsMax;
}

/**
 * k and L for the rows that make the ascent slowest: all as long as the radius, and on one line.
 */
function steepestOf(options: PassesOptions): Steepness {
  const concavity = concavityOf(options);
  // A little more than the largest, as `smoothnessOf` makes it.
  return {
    concavity, smoothness: options.rowsMax * pow(options.radius, 4) * (1 + 2 ** -20) + concavity,
  };
}

/** The options that bound the passes of a projection. All of them are public. */
export type PassesOptions = Omit<ProjectionOptions, 'unit'>;

/**
 * Passes over the rows that a projection takes at most, whatever the rows: both phases, the pass
 * that measures how steep the dual is, and one for each check of the second phase. On one column it
 * takes exactly that many.
 */
export function passesAtMost(dimension: number, options: PassesOptions): number {
  if (dimension === 1) {
    return measuringPasses + 1 + halvingsThatSuffice(options, steepestOf(options));
  }
  const sure = stepsThatSuffice(options.gap, options.rowsMax, steepestOf(options));
  return measuringPasses + (options.fastSteps ?? fastStepsDefault) + sure
    + Math.ceil(sure / stepsBetweenChecks);
}

/** The pass of `smoothnessOf`. */
const measuringPasses = 1;

/** lambda_max(sum |z|^2 z z^T): one pass. */
async function smoothnessOf(
  compute: Compute, { count, dimension, steps }: StepRows, unit: number,
): Promise<number> {
  const rows = { values: steps, dimension, count };
  const squares = sharedDoubles(count);
  const identity =
    Float64Array.from({ length: dimension ** 2 }, (_, at) => (at % (dimension + 1) === 0 ? 1 : 0));
  await scoresOfRows(compute, rows, new Float64Array(dimension), identity, squares);
  const { products } = await momentsOfRows(compute, rows, { weights: squares });
  const largest = ownKernels().eigenSymmetric(products, dimension).values.at(-1)!;
  return Math.max(0, largest) * pow(unit, 4) * (1 + 2 ** -30);
}

type Steepness = Pick<Problem, 'concavity' | 'smoothness'>;

/**
 * How many steps of the second phase certify the gap, by the proof above.
 * @param short - bounds r_0 + k |U_0 - U*|^2 / 2 at its start.
 */
function stepsThatSuffice(
  gap: number, short: number, { concavity, smoothness }: Steepness,
): number {
  const condition = smoothness / concavity;
  return Math
    .max(0, Math.ceil(Math.sqrt(condition) * ln((short * (1.5 * condition + 1)) / gap))) + 1;
}

/**
 * How many halvings of [0, rowsMax / (2 m)] certify the gap on one column. A point at distance x
 * from the optimum is short of it by r <= smoothness x^2 / 2, as the slope is 0 there.
 */
function halvingsThatSuffice(
  { rowsMax, gap, bound }: PassesOptions, { concavity, smoothness }: Steepness,
): number {
  const near = Math.sqrt((2 * gap) / (smoothness * (1.5 * (smoothness / concavity) + 1)));
  return Math.ceil(log2(Math.max(2, rowsMax / (2 * bound) / near))) + 1;
}

/**
 * Accelerated projected ascent with restarts, until the gap is small or the steps are used up. One
 * pass a step. Ends at the point with the smallest gap.
 */
async function ascendFast(problem: Problem, stepsMax: number): Promise<Climb> {
  const { rows: { dimension }, options } = problem;
  let iterate: Float64Array = new Float64Array(dimension ** 2);
  let age = 1;
  let sight = await see(problem, iterate);
  let best = sight;
  let passes = 1;
  for (; best.gap > options.gap && passes < stepsMax; passes++) {
    const next = stepFrom(problem, sight);
    const moved = next.map((entry, i) => entry - iterate[i]!);
    if (sight.slope.reduce((sum, entry, i) => sum + entry * moved[i]!, 0) < 0) age = 1;
    const older = (1 + Math.sqrt(1 + 4 * age ** 2)) / 2;
    sight = await see(problem, semidefinitePart(next.map((entry, i) =>
      entry + ((age - 1) / older) * moved[i]!), dimension));
    if (sight.gap < best.gap) best = sight;
    iterate = next;
    age = older;
  }
  return { sight: best, passes };
}

/**
 * Steps of the second phase between two checks of the certificate, which take a pass of their own.
 */
const stepsBetweenChecks = 16;

/** Accelerated projected ascent with constant momentum: the phase whose pace is proved. */
async function ascendSurely(problem: Problem, start: Sight): Promise<Climb> {
  const { rows: { count }, options, concavity, smoothness } = problem;
  const root = Math.sqrt(concavity / smoothness);
  const carry = (1 - root) / (1 + root);
  // A dual with a larger gap than this is no better known than 0 is.
  const isKnown = start.gap < count / 2;
  const stepsMax = stepsThatSuffice(options.gap, isKnown ? 2 * start.gap : count, problem);
  let iterate = isKnown ? start.dual : start.dual.map(() => 0);
  let ahead = iterate;
  for (let steps = 1; ; steps++) {
    const next = stepFrom(problem, await see(problem, ahead));
    ahead = next.map((entry, i) => entry + carry * (entry - iterate[i]!));
    iterate = next;
    if (steps % stepsBetweenChecks !== 0 && steps < stepsMax) continue;
    const sight = await see(problem, iterate);
    if (sight.gap <= options.gap || steps >= stepsMax) {
      return { sight, passes: steps + Math.ceil(steps / stepsBetweenChecks) };
    }
  }
}

/** The positive semidefinite matrix that a gradient step leads to. */
function stepFrom(
  { rows: { dimension }, smoothness }: Problem, { dual, slope }: Sight,
): Float64Array {
  return semidefinitePart(dual.map((entry, i) => entry + slope[i]! / smoothness), dimension);
}

/**
 * On one column the best dual is where a falling function of one number is 0: halvings of an
 * interval. Their number is public: they go on after the first certificate, which is the one that
 * is returned.
 */
async function projectOnLine(problem: Problem): Promise<Projection> {
  const { rows: { count }, options } = problem;
  let [low, high] = [0, count / (2 * options.bound)];
  let best = await see(problem, Float64Array.of(low));
  const halvings = halvingsThatSuffice(options, steepestOf(options));
  for (let halving = 0; halving < halvings; halving++) {
    const middle = (low + high) / 2;
    const sight = await see(problem, Float64Array.of(middle));
    if (best.gap > options.gap) best = sight;
    if (sight.slope[0]! > 0) low = middle;
    else high = middle;
  }
  return projectionOf({ sight: best, passes: 1 + halvings }, problem);
}

/**
 * The result of a solver. Without a certificate, which the proofs above exclude, weights of 0: they
 * are within every bound, and refuse the release after its noise.
 */
function projectionOf(
  { sight: { weights, gap }, passes }: Climb, { options, rows: { count } }: Problem,
): Projection {
  const all = passes + measuringPasses;
  return gap <= options.gap
    ? { weights, gap, passes: all } : { weights: new Float64Array(count), gap: 0, passes: all };
}

/**
 * The weights of a dual, and the bound that they certify.
 * @param dual - symmetric. A matrix that is not positive semidefinite has a slope, but certifies
 *   nothing.
 */
async function see(problem: Problem, dual: Float64Array): Promise<Sight> {
  const {
    compute, rows: { count, dimension, steps, present }, options: { unit, bound }, concavity,
  } = problem;
  const rows = { values: steps, dimension, count };
  const weights = sharedDoubles(count);
  await scoresOfRows(
    compute, rows, new Float64Array(dimension), dual.map((entry) => entry * unit ** 2), weights,
  );
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
  { rows: { dimension }, options: { bound }, concavity }: Problem, dual: Float64Array,
  weights: Float64Array, excess: Float64Array,
): number {
  const widths = ownKernels().eigenSymmetric(excess, dimension).values;
  const penalty = (shrink: number): number => widths.reduce((sum, width) =>
    sum + Math.max(0, shrink * (width + bound) - bound) ** 2, 0) / (2 * concavity);
  const product =
    dual.reduce((sum, entry, i) => sum + entry * (excess[i]! - (concavity / 2) * entry), 0);
  const shrink = Math.min(1, ((1 + overstep) * bound) / (widths.at(-1)! + bound));
  if (!(shrink < 1)) return penalty(1) - product;
  let added = 0;
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i]!;
    added += weight * (1 - shrink) * (1 - (weight * (1 + shrink)) / 2);
    weights[i] = weight * shrink;
  }
  return penalty(shrink) - product + added;
}
