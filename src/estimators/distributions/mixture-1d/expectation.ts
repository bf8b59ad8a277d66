import { pow } from '../../../base/elementary.js';
import { normalCdf } from '../../../numerics/normal.js';
import type { WorkRandom } from '../../../random/source.js';
import type { Piece } from '../candidates/cells.js';
import type { Window } from '../candidates/gaps.js';

/** A component of a mixture of normals. */
export interface Component {
  readonly weight: number;
  readonly mean: number;
  readonly deviation: number;
}

export interface Fit {
  readonly components: readonly Component[];
  /** Squared misses in units of their variance; less is better. */
  readonly misfit: number;
}

const rounds = 80;
/** A round that lowers the misfit by less is the last one. */
const leastGain = 1e-3;
/** Pieces below this many deviations of their noise hold no mean of such a start. */
const massFrom = 3;
/** Rounds in which each piece goes to the nearest mean. */
const nearestRounds = 4;

/**
 * Fits a mixture of normals to noisy masses: expectation and maximisation, where a piece's mass is
 * first estimated from its noisy one and from the mixture, each trusted by its variance, so that
 * pieces that hold nothing but noise hardly count. Post-processing: it reads released numbers only.
 */
export function fitMixture(
  pieces: readonly Piece[], total: number, windows: readonly Window[],
  start: readonly Component[],
): Fit {
  let components = start;
  const parts = start.length;
  let misfit = Infinity;
  for (let round = 0; round <= rounds; round++) {
    const shares = components.map((component) => pieceShares(pieces, component));
    const sums = components.map(() => ({ mass: 0, first: 0, second: 0 }));
    let [seen, miss] = [0, 0];
    for (const [c, piece] of pieces.entries()) {
      let likely = 0;
      for (let k = 0; k < parts; k++) likely += components[k]!.weight * shares[k]![c]!;
      seen += likely;
      const expected = total * likely;
      miss += (piece.mass - expected) ** 2 / (piece.variance + expected);
      if (!(likely > 1e-300)) continue;
      const mass = Math.max(
        0, expected + (expected / (expected + piece.variance)) * (piece.mass - expected),
      );
      const width = piece.high - piece.low;
      const middle = (piece.high + piece.low) / 2;
      for (let k = 0; k < parts; k++) {
        const { mean, weight } = components[k]!;
        const own = (mass * weight * shares[k]![c]!) / likely;
        sums[k]!.mass += own;
        sums[k]!.first += own * (middle - mean);
        sums[k]!.second += own * ((middle - mean) ** 2 - width ** 2 / 12);
      }
    }
    const gain = misfit - miss;
    misfit = miss;
    if (round === rounds || Math.abs(gain) < leastGain) break;
    const floor = Math.min(...windows.map(({ width }) => width)) / 64;
    const all = sums.reduce((sum, { mass }) => sum + mass, 0);
    if (!(all > 0 && seen > 0)) break;
    components = sums.map(({ mass, first, second }, k) => {
      const { mean, deviation } = components[k]!;
      if (!(mass > 1e-6 * all)) return { weight: 1e-6, mean, deviation };
      const shift = first / mass;
      const variance = second / mass - shift * shift;
      return {
        weight: mass / all, mean: mean + shift,
        deviation: Math.sqrt(Math.max(variance, floor * floor)),
      };
    });
  }
  return { components, misfit };
}

/** The probability of each piece; finer pieces stand before those that they are taken off. */
function pieceShares(pieces: readonly Piece[], { mean, deviation }: Component): Float64Array {
  const whole = new Float64Array(pieces.length);
  let [edge, below] = [NaN, 0];
  for (const [c, { low, high, without }] of pieces.entries()) {
    // Most pieces begin where the one before ends.
    const start = low === edge ? below : normalCdf((low - mean) / deviation);
    [edge, below] = [high, normalCdf((high - mean) / deviation)];
    let share = below - start;
    for (const inner of without) share -= whole[inner]!;
    whole[c] = Math.max(0, share);
  }
  return whole;
}

/**
 * Means of pieces that are far from each other (k-means++): each in turn by mass times the squared
 * distance from the means before it. Then each piece goes to its nearest mean a few times, and the
 * components are as heavy and wide as what they get. Components that stand apart get a mean each,
 * which random places seldom do: of four equal ones in one start of ten.
 */
export function startApart(
  pieces: readonly Piece[], parts: number, work: WorkRandom,
): readonly Component[] {
  const masses = pieces.map(({ mass, variance }) =>
    (mass > massFrom * Math.sqrt(variance) ? mass : 0));
  const middles = pieces.map(({ low, high }) => (low + high) / 2);
  const away = pieces.map(() => Infinity);
  let means: number[] = [];
  let chances = masses;
  while (means.length < parts) {
    const mean = middles[drawn(chances, work)]!;
    means.push(mean);
    for (const [c, middle] of middles.entries()) {
      away[c] = Math.min(away[c]!, (middle - mean) ** 2);
    }
    chances = masses.map((mass, c) => mass * away[c]!);
  }
  const least = Math.min(...pieces.map(({ low, high }) => high - low)) / 2;
  let components: readonly Component[] = [];
  for (let round = 0; round < nearestRounds; round++) {
    components = nearestTo(means, masses, middles, least);
    means = components.map(({ mean }) => mean);
  }
  return components;
}

/** An index by chances that need not add up to 1. */
function drawn(chances: readonly number[], work: WorkRandom): number {
  let rest = work.uniform() * chances.reduce((sum, chance) => sum + chance, 0);
  return Math.max(0, chances.findIndex((chance) => (rest -= chance) < 0));
}

/** A component without mass starts with this weight. */
const weightLeast = 1e-3;

/** The weight of each mean when all mass goes to the nearest one. */
function nearestTo(
  means: readonly number[], masses: readonly number[], middles: readonly number[], least: number,
): readonly Component[] {
  const sums = means.map(() => ({ mass: 0, first: 0, second: 0 }));
  for (const [c, middle] of middles.entries()) {
    let best = 0;
    for (const [k, mean] of means.entries()) {
      if (Math.abs(middle - mean) < Math.abs(middle - means[best]!)) best = k;
    }
    const by = middle - means[best]!;
    sums[best]!.mass += masses[c]!;
    sums[best]!.first += masses[c]! * by;
    sums[best]!.second += masses[c]! * by * by;
  }
  const all = sums.reduce((sum, { mass }) => sum + mass, 0);
  return sums.map(({ mass, first, second }, k): Component => {
    if (!(mass > 0)) return { weight: weightLeast, mean: means[k]!, deviation: least };
    const shift = first / mass;
    return {
      weight: Math.max(weightLeast, mass / all), mean: means[k]! + shift,
      deviation: Math.max(least, Math.sqrt(Math.max(0, second / mass - shift * shift))),
    };
  });
}

/** Means at random places, by mass, and deviations of the windows' sizes. */
export function startAnywhere(
  pieces: readonly Piece[], windows: readonly Window[], parts: number, work: WorkRandom,
): readonly Component[] {
  const chances = pieces.map(({ mass, variance }) => Math.max(0, mass - 2 * Math.sqrt(variance)));
  return Array.from({ length: parts }, () => {
    const found = pieces[drawn(chances, work)]!;
    const holding = windows.filter(({ place, width }) =>
      found.low >= place - width && found.high <= place + 2 * width);
    const window = holding[Math.floor(work.uniform() * holding.length)] ?? windows[0]!;
    return {
      weight: 1 / parts, mean: (found.low + found.high) / 2,
      deviation: window.width * pow(2, -4 * work.uniform()),
    };
  });
}
