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

/**
 * Fits a mixture of normals to noisy masses: expectation and maximisation, where a piece's mass is
 * first estimated from its noisy one and from the mixture, each trusted by its variance, so that
 * pieces that hold nothing but noise hardly count. Post-processing: it reads released numbers only.
 */
export function fitMixture(
  pieces: readonly Piece[], total: number, windows: readonly Window[], parts: number,
  work: WorkRandom,
): Fit {
  let components = startFrom(pieces, windows, parts, work);
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
    misfit = miss;
    if (round === rounds) break;
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
  for (const [c, { low, high, without }] of pieces.entries()) {
    let share = normalCdf((high - mean) / deviation) - normalCdf((low - mean) / deviation);
    for (const inner of without) share -= whole[inner]!;
    whole[c] = Math.max(0, share);
  }
  return whole;
}

/** Means at random places, by mass, and deviations of the windows' sizes. */
function startFrom(
  pieces: readonly Piece[], windows: readonly Window[], parts: number, work: WorkRandom,
): readonly Component[] {
  const chances = pieces.map(({ mass, variance }) => Math.max(0, mass - 2 * Math.sqrt(variance)));
  const total = chances.reduce((sum, chance) => sum + chance, 0);
  return Array.from({ length: parts }, () => {
    let rest = work.uniform() * total;
    const found = pieces[Math.max(0, chances.findIndex((chance) => (rest -= chance) < 0))]!;
    const holding = windows.filter(({ place, width }) =>
      found.low >= place - width && found.high <= place + 2 * width);
    const window = holding[Math.floor(work.uniform() * holding.length)] ?? windows[0]!;
    return {
      weight: 1 / parts, mean: (found.low + found.high) / 2,
      deviation: window.width * pow(2, -4 * work.uniform()),
    };
  });
}
