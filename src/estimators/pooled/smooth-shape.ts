import { ln } from '../../base/elementary.js';
import { normalCdf, normalDensity } from '../../numerics/normal.js';
import { axisEdge, axisQuantile } from './core-fit.js';
import { isChance, Misses, someStretch, type AxisHistogram } from './misses.js';
import { NormalEquations } from './normal-equations.js';
import { axisBins, sumOf } from './valleys.js';

/**
 * A smooth shape that may explain a released histogram: a normal one whose axis is bent by
 * sinh-arcsinh, so that it may be skewed and have longer or shorter tails. A function of released
 * counts, so post-processing.
 *
 * An honest column may look so. Then nothing says which rows are hostile, and removing some would
 * move the mean of the honest ones.
 */

/** The share below x is Phi(tails asinh((x - place) / width) - skew). */
type Bent = readonly [place: number, width: number, skew: number, tails: number];

const parameters = 4;
/** Skewness and tails that a fit begins with. */
const starts = [[0, 1], [0.4, 1], [-0.4, 1], [0.8, 0.9], [-0.8, 0.9]] as const;
const stepsMost = 60;
const dampingMost = 1e6;
/** Deviations by which a stretch of bins may miss the shape. */
const stretchChance = 3.5;

const asinh = (x: number): number =>
  (x < 0 ? -1 : 1) * ln(Math.abs(x) + Math.sqrt(x * x + 1));

const isUsable = ([, width, skew, tails]: Bent): boolean =>
  width > 1e-3 && Math.abs(skew) < 6 && tails > 0.15 && tails < 6;

/** The rows of the shape in each bin, and their slopes by its parameters, row-major. */
function binsOf([place, width, skew, tails]: Bent, rows: number): {
  readonly counts: Float64Array; readonly slopes: Float64Array;
} {
  const below = new Float64Array(axisBins + 1).fill(rows, axisBins);
  const rises = new Float64Array(parameters * (axisBins + 1));
  for (let bin = 1; bin < axisBins; bin++) {
    const x = (axisEdge(bin) - place) / width;
    const arc = asinh(x);
    const density = rows * normalDensity(tails * arc - skew);
    const moved = (-density * tails) / (width * Math.sqrt(x * x + 1));
    below[bin] = rows * normalCdf(tails * arc - skew);
    rises.set([moved, moved * x, -density, density * arc], parameters * bin);
  }
  return {
    counts: Float64Array.from({ length: axisBins }, (_, bin) =>
      Math.max(0, below[bin + 1]! - below[bin]!)),
    slopes: rises.subarray(parameters).map((rise, at) => rise - rises[at]!),
  };
}

interface Tried {
  readonly bent: Bent;
  readonly slopes: Float64Array;
  readonly misses: Misses;
  /** Sum of squared misses, each over its variance. */
  readonly square: number;
}

/** True if one smooth shape explains the histogram. */
export function isSmooth(histogram: AxisHistogram): boolean {
  const { counts } = histogram;
  const [low, middle, high] = [0.16, 0.5, 0.84].map((share) => axisQuantile(counts, share));
  const half = Math.max(1e-2, (high! - low!) / 2);
  return starts.some(([skew, tails]) => {
    const { square, misses } = fitted(histogram, [middle! - half * skew, half, skew, tails]);
    return isChance(square, axisBins - parameters) && !someStretch([2, 4, 8], 0, (from, to) =>
      misses.off(from, to) >= stretchChance);
  });
}

/** Levenberg-Marquardt from one start. */
function fitted(histogram: AxisHistogram, start: Bent): Tried {
  const rows = sumOf(histogram.counts);
  const tried = (bent: Bent): Tried => {
    const { counts, slopes } = binsOf(bent, rows);
    const misses = new Misses(histogram, counts);
    return { bent, slopes, misses, square: misses.square(0, axisBins) };
  };
  let best = tried(start);
  let damping = 1e-2;
  for (let step = 0; step < stepsMost && damping <= dampingMost; step++) {
    const next = stepFrom(best, damping);
    if (next === null) break;
    const found = isUsable(next) ? tried(next) : null;
    if (found === null || !(found.square < best.square)) {
      damping *= 5;
      continue;
    }
    const gain = best.square - found.square;
    best = found;
    damping = Math.max(1e-6, damping / 5);
    if (gain < Math.min(0.05, 1e-3 * best.square)) break;
  }
  return best;
}

function stepFrom({ bent, slopes, misses }: Tried, damping: number): Bent | null {
  const equations = new NormalEquations(parameters);
  for (let bin = 0; bin < axisBins; bin++) {
    const own = slopes.subarray(parameters * bin, parameters * (bin + 1));
    equations.add(own, misses.over(bin, bin + 1).miss, misses.weight(bin));
  }
  const step = equations.solve(damping)?.step;
  return step === undefined ? null : bent.map((entry, k) => entry + step[k]!) as unknown as Bent;
}
