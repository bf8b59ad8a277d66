import { ln } from '../../../base/elementary.js';
import { normalCdf } from '../../../numerics/normal.js';
import type { WorkRandom } from '../../../random/source.js';
import type { LineShape } from './shapes.js';
import { studentCdf, studentLogConstant } from './student.js';

/** A distribution of one number that a hypothesis names. All of it is public. */
export interface LineDistribution {
  /** P(X <= x), for -Infinity and Infinity too. */
  readonly cdf: (x: number) => number;
  /** -Infinity where there is nothing. */
  readonly logDensity: (x: number) => number;
  /** A draw for integrals; privacy does not rest on it. */
  readonly sample: (work: WorkRandom) => number;
}

/** A standard normal number: Box and Muller, one of the two. */
export function normalDraw(work: WorkRandom): number {
  return Math.sqrt(-2 * ln(1 - work.uniform())) * Math.cos(2 * Math.PI * work.uniform());
}

/** The distribution of a checked shape. */
export function lineDistribution(shape: LineShape): LineDistribution {
  switch (shape.kind) {
    case 'normal': {
      const { mean, deviation } = shape;
      const constant = -ln(deviation) - 0.5 * ln(2 * Math.PI);
      return {
        cdf: (x) => normalCdf((x - mean) / deviation),
        logDensity: (x) => constant - 0.5 * ((x - mean) / deviation) ** 2,
        sample: (work) => mean + deviation * normalDraw(work),
      };
    }
    case 'uniform': {
      const { low, high } = shape;
      const constant = -ln(high - low);
      return {
        cdf: (x) => Math.min(1, Math.max(0, (x - low) / (high - low))),
        logDensity: (x) => (x >= low && x <= high ? constant : -Infinity),
        sample: (work) => low + (high - low) * work.uniform(),
      };
    }
    case 'laplace': {
      const { centre, scale } = shape;
      const constant = -ln(2 * scale);
      return {
        cdf: (x) => (x < centre ? 0.5 * Math.exp((x - centre) / scale) : 1 - 0.5 * Math.exp(
          (centre - x) / scale,
        )),
        logDensity: (x) => constant - Math.abs(x - centre) / scale,
        sample: (work) =>
          centre - scale * ln(1 - work.uniform()) * (work.uniform() < 0.5 ? -1 : 1),
      };
    }
    case 'student':
      return student(shape.centre, shape.scale, shape.freedom);
    case 'histogram':
      return stairs(shape.edges, shape.masses);
    case 'mixture':
      return mixture(shape.weights, shape.parts.map(lineDistribution));
  }
}

function student(centre: number, scale: number, freedom: number): LineDistribution {
  const constant = studentLogConstant(freedom) - ln(scale);
  return {
    cdf: (x) => studentCdf((x - centre) / scale, freedom),
    logDensity: (x) => constant - ((freedom + 1) / 2) * Math.log1p(
      ((x - centre) / scale) ** 2 / freedom,
    ),
    // Bailey's polar method with the angle drawn apart.
    sample: (work) => {
      const radius = Math.sqrt(freedom * Math.expm1((-2 / freedom) * ln(1 - work.uniform())));
      return centre + scale * radius * Math.cos(2 * Math.PI * work.uniform());
    },
  };
}

function stairs(edges: readonly number[], given: readonly number[]): LineDistribution {
  const total = given.reduce((sum, mass) => sum + mass, 0);
  const masses = given.map((mass) => mass / total);
  const below = [0];
  for (const mass of masses) below.push(Math.min(1, below.at(-1)! + mass));
  const binOf = (x: number): number => {
    let [low, high] = [0, masses.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (x < edges[middle + 1]!) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return {
    cdf: (x) => {
      if (!(x > edges[0]!)) return 0;
      const bin = binOf(x);
      if (bin >= masses.length) return 1;
      return below[bin]! + (masses[bin]! * (x - edges[bin]!)) / (edges[bin + 1]! - edges[bin]!);
    },
    logDensity: (x) => {
      const bin = x < edges[0]! ? masses.length : binOf(x);
      return bin >= masses.length
        ? -Infinity
        : ln(masses[bin]! / (edges[bin + 1]! - edges[bin]!));
    },
    sample: (work) => {
      const u = work.uniform();
      const found = below.findIndex((sum, bin) => bin > 0 && u < sum);
      const bin = found < 0 ? masses.length - 1 : found - 1;
      return edges[bin]! + (edges[bin + 1]! - edges[bin]!) * work.uniform();
    },
  };
}

function mixture(given: readonly number[], parts: readonly LineDistribution[]): LineDistribution {
  const weights = sharesOf(given);
  return {
    cdf: (x) => parts.reduce((sum, part, k) => sum + weights[k]! * part.cdf(x), 0),
    logDensity: logOfMixture(weights, parts),
    sample: (work) => parts[drawIndex(weights, work)]!.sample(work),
  };
}

/** Weights divided by their sum. */
export function sharesOf(weights: readonly number[]): readonly number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** The log density of a mixture; -Infinity where no part has any. */
export function logOfMixture<Place>(
  weights: readonly number[], parts: readonly { logDensity(place: Place): number }[],
): (place: Place) => number {
  const shares = weights.map(ln);
  const logs = new Float64Array(parts.length);
  return (place) => {
    let most = -Infinity;
    for (let k = 0; k < logs.length; k++) {
      logs[k] = shares[k]! + parts[k]!.logDensity(place);
      most = Math.max(most, logs[k]!);
    }
    if (most === -Infinity) return most;
    let sum = 0;
    for (let k = 0; k < logs.length; k++) sum += Math.exp(logs[k]! - most);
    return most + ln(sum);
  };
}

/** An index with the given chances. */
export function drawIndex(shares: readonly number[], work: WorkRandom): number {
  let rest = work.uniform();
  for (const [index, share] of shares.entries()) {
    rest -= share;
    if (rest < 0) return index;
  }
  return shares.length - 1;
}
