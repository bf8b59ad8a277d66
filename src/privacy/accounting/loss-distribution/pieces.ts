import { ln, pow } from '../../../base/elementary.js';
import type { GroupSumsEvent, LaplaceEvent, MechanismEvent } from '../events.js';

/**
 * A pair of distributions (P, Q) that is at least as easy to distinguish as what one event draws
 * for neighbours D, D'. That means: for every a >= 0, the largest M(D)(S) - a M(D')(S) over all
 * events S is at most the same for (P, Q). Such pairs compose, also adaptively (Zhu, Dong, Wang
 * 2022, theorem 10), so a bound for the pair is a bound for the release. Neighbours are symmetric
 * here, so one pair covers both directions.
 *
 * - gaussian: the loss log(P/Q) is N(mu^2 / 2, mu^2) under P, moved up by `shift`. With probability
 *   `delta` it reveals everything. See `gaussian` below for the reason.
 * - laplace: one-dimensional Laplace noise with a shift of epsilon scales, its loss moved up by
 *   `shift`. It also covers several numbers with independent noise of one scale whose shifts add up
 *   to epsilon scales; see `laplace` below.
 * - bounded: the log-odds of any two outcomes change by at most epsilon (the exponential
 *   mechanism). Two outcomes with losses t and t - epsilon attain the largest difference above. It
 *   is (1 - e^((x - epsilon)/2))^2 / (1 - e^-epsilon) at a = e^x, |x| <= epsilon, for the best t =
 *   (x + epsilon) / 2 (Dong, Durfee, Rogers 2020). This is convex in a, so it belongs to a pair.
 *   The loss of that pair has the density e^((x - epsilon)/2) / (2 (1 - e^-epsilon)) on (-epsilon,
 *   epsilon).
 */
export type Piece =
  | {
    readonly kind: 'gaussian'; readonly square: number; readonly shift: number;
    readonly delta: number;
  }
  | { readonly kind: 'laplace'; readonly epsilon: number; readonly shift: number }
  | { readonly kind: 'bounded'; readonly epsilon: number };

/** A piece, and how many times it is drawn. */
export interface Repeated {
  readonly piece: Piece;
  readonly times: number;
}

/** Makes sure that rounding of doubles never makes a piece weaker. */
const upwards = 1 + 2 ** -40;

/**
 * The piece of an event. null if its grid is coarser than two standard deviations, because the
 * comparison with continuous noise below does not hold then. Also null for a mask, for which one
 * divergence is known and no distribution, and for a keyed event.
 */
export function pieceOf(event: MechanismEvent): Repeated | null {
  if (event.keyed !== undefined) return null;
  switch (event.kind) {
    case 'gaussian': {
      const { sensitivity, sigma, grid, dimension } = event;
      return gaussian({
        shift: sensitivity, sigma, grid, sumOfShifts: Math.sqrt(dimension) * sensitivity,
      });
    }
    case 'symmetric-gaussian': {
      // Noise entries off the diagonal have half the variance, and the norm counts them twice.
      const { sensitivity, sigma, grid, dimension } = event;
      return gaussian({
        shift: sensitivity, sigma: sigma / Math.SQRT2, grid, sumOfShifts: dimension * sensitivity,
      }, 2);
    }
    case 'gaussian-threshold':
      return gaussian(
        { ...event, shift: event.sensitivity, sumOfShifts: event.sensitivity }, 1, event.delta,
      );
    case 'gaussian-histogram': {
      const { coordinates, sigma, grid, delta } = event;
      return gaussian(
        { shift: Math.sqrt(2 * coordinates), sigma, grid, sumOfShifts: 2 * coordinates }, 1, delta,
      );
    }
    case 'group-histogram': {
      const { groupsMax, sigma, grid, delta } = event;
      return gaussian(
        { shift: Math.sqrt(2 * groupsMax), sigma, grid, sumOfShifts: 2 * groupsMax }, 1, delta,
      );
    }
    case 'group-weights': {
      const { groupsMax, sigma, grid, delta } = event;
      // The weights of a contributor with k keys add up to at most sqrt(k).
      return gaussian(
        { shift: Math.SQRT2, sigma, grid, sumOfShifts: 2 * Math.sqrt(groupsMax) }, 1, delta,
      );
    }
    case 'group-sums':
      return groupSumsPiece(event);
    case 'laplace':
      return laplace(event);
    case 'wishart-mask':
    case 'affine-mask':
      return null;
    case 'exponential':
      return { piece: { kind: 'bounded', epsilon: event.epsilon }, times: event.times };
  }
}

/**
 * The piece of counts and sums of keys. Each coordinate has its own noise, so the shift is in
 * standard deviations: its square is twice the rho of the event (accounting/composition). By
 * `gaussian`, a coordinate that is shifted by v moves the loss up by at most v grid / sigma^2.
 * Summed over the keys that a contributor keeps, gains or loses, this is most where it keeps none.
 */
function groupSumsPiece(event: GroupSumsEvent): Repeated | null {
  const { groupsMax, values, sigma, sumsSigma, grid, sumsGrid, delta } = event;
  if (!(sigma >= 0.5 * grid && sumsSigma >= 0.5 * sumsGrid)) return null;
  const [count, sums] = [pow(sigma, -2), values * pow(sumsSigma, -2)];
  return once({
    kind: 'gaussian',
    square: 2 * groupsMax * (sums + Math.max(sums, count)) * upwards,
    shift: 2 * groupsMax * (count * grid + sums * sumsGrid) * upwards,
    delta,
  });
}

function once(piece: Piece): Repeated {
  return { piece, times: 1 };
}

interface Shifted {
  /** L2, in data units. */
  readonly shift: number;
  /** Bound on the L1 norm of the shift. Each coordinate has the weight of its noise. */
  readonly sumOfShifts: number;
  /** The smallest standard deviation of a coordinate. */
  readonly sigma: number;
  readonly grid: number;
}

/**
 * Compares discrete Gaussian noise z of standard deviation s >= 1/2 steps with a continuous N of
 * the same s.
 *
 * Claim: z is stochastically between N - 1 and N + 1. A shift of v steps has the loss (|v|^2 / 2 +
 * v.z) / s^2, so this loss is at most the continuous one plus |v|_1 / s^2. The hockey-stick
 * divergence of a pair is the mean of (1 - a e^-loss)+, which increases with the loss. So a
 * continuous pair with its loss moved up by that much is at least as easy to distinguish.
 *
 * Why: let f(x) = exp(-x^2 / (2 s^2)). By Poisson's formula, the sum of f over the integers is s
 * sqrt(2 pi) (1 + t) with 0 < t <= 3 exp(-2 pi^2 s^2). Let m >= 1. P(z >= m) <= P(N >= m - 1),
 * because f falls and t > 0. P(z >= m) >= P(N >= m), in two cases:
 * - m <= s: f is concave on [0, s], so f(0)/2 + f(1) + ... + f(m-1) is at most the integral over
 *   [0, m] (trapezoids), and P(z >= m) = 1/2 - that sum / (s sqrt(2 pi) (1 + t)).
 * - m > s: f is convex beyond m, so f(m) + f(m+1) + ... is at least the integral plus f(m)/2. The
 *   integral is at most f(m) s sqrt(pi / 2), and t s sqrt(pi / 2) <= .014 < 1/2.
 * By symmetry P(z >= k) <= P(N >= k - 1) for all integers k, and the mirror image.
 *
 * A threshold test and both kinds of histogram count as Gaussian noise, except in events of
 * probability delta on either side, which count as revealing everything. To see this, split off
 * exactly delta on both sides: the divergence of the mixture is convex in its parts. A test and the
 * event behind it: if both neighbours reach the floor, the pairs compose. If one does not, both
 * fail except with probability delta, which the part that reveals everything covers.
 */
function gaussian(event: Shifted, perCoordinate = 1, delta = 0): Repeated | null {
  const { shift, sumOfShifts, sigma, grid } = event;
  if (!(sigma >= 0.5 * grid)) return null;
  const square = ((shift / sigma) ** 2 / perCoordinate) * upwards;
  const offset = ((sumOfShifts / sigma) * (grid / sigma) / perCoordinate) * upwards;
  return once({ kind: 'gaussian', square, shift: offset, delta });
}

/**
 * Claim: a shift of L1 length D, split over several numbers in any way, is no easier to see than
 * one number that is shifted by D.
 *
 * Proof. Let a test of size at most a see a shift of one number by s with power at most 1 - f_s(a).
 * For continuous noise with a log-concave density, f_s(a) = F(F^-1(1 - a) - s): the best test is a
 * threshold, and 1 - f_s moves it by s. So 1 - f_t(1 - f_s(a)) = 1 - f_(s + t)(a). Shift one number
 * after the other. Given all other numbers, a test of size a against the first shift has power at
 * most 1 - f_s(a), on average too, since f_s is convex. That power is its size against the second
 * shift, so its power against both is at most 1 - f_t(1 - f_s(a)), and so on. Discrete Laplace
 * noise has the same f_s at the sizes of thresholds, and is linear between them: 1 - f_s takes two
 * neighbouring sizes to two neighbouring sizes, so the equation holds between them as well.
 *
 * A pair with a larger power at every size is at least as easy to distinguish.
 */
function laplace({ sensitivity, scale, grid }: LaplaceEvent): Repeated {
  return once({
    kind: 'laplace', epsilon: (sensitivity / scale) * upwards,
    shift: 2 * logCosh(grid / scale / 2) * upwards,
  });
}

/**
 * Let q = e^(-grid / scale) for discrete Laplace noise. A set {z >= T} and a shift of s steps give
 * 1 - (q^(s-T+1) + a q^T) / (1 + q). By the inequality of the two means this is at most 1 - e^((x -
 * epsilon)/2) / cosh(grid / (2 scale)), where a = e^x. That is the largest continuous value, 1 -
 * e^((x - epsilon)/2), at x - 2 log cosh(grid / (2 scale)).
 */
function logCosh(x: number): number {
  return x < 1e-4 ? (x * x) / 2 : ln(Math.cosh(x));
}

/** About the variance of a piece's loss. For choosing a step, never for a claim. */
export function varianceOf(piece: Piece): number {
  switch (piece.kind) {
    case 'gaussian': return piece.square;
    case 'laplace': return Math.min(piece.epsilon, 20) ** 2;
    case 'bounded': return Math.min(piece.epsilon, 20) ** 2 / 3;
  }
}

/**
 * Fewer pieces with the same meaning: Gaussian ones become one, and equal ones are counted. Exact,
 * except for rounding up.
 */
export function gathered(pieces: readonly Repeated[]): readonly Repeated[] {
  let [square, shift, kept] = [0, 0, 0];
  const others = new Map<string, Repeated>();
  for (const { piece, times } of pieces) {
    if (piece.kind === 'gaussian') {
      square += piece.square * times;
      shift += piece.shift * times;
      kept += times * Math.log1p(-piece.delta);
      continue;
    }
    const key = JSON.stringify(piece);
    others.set(key, { piece, times: times + (others.get(key)?.times ?? 0) });
  }
  const list = [...others.values()];
  if (square === 0) return list;
  const delta = -Math.expm1(kept) * upwards;
  return [
    once({ kind: 'gaussian', square: square * upwards, shift: shift * upwards, delta }), ...list,
  ];
}

/**
 * A contributor is in one of several lists of pieces. Returns pieces that are at least as easy to
 * distinguish as those of each list: sorts each kind, largest first, and takes the largest at each
 * place.
 */
export function worstOf(lists: readonly (readonly Repeated[])[]): readonly Repeated[] {
  if (lists.length === 1) return lists[0]!;
  const singles = lists.map((list) =>
    gathered(list).flatMap(({ piece, times }) => new Array<Piece>(times).fill(piece)));
  const kinds = ['gaussian', 'laplace', 'bounded'] as const;
  return kinds.flatMap((kind) => {
    const sorted = singles.map((pieces) => pieces.filter((piece) => piece.kind === kind)
      .sort((left, right) => sizeOf(right) - sizeOf(left)));
    const length = Math.max(...sorted.map((pieces) => pieces.length));
    return Array.from({ length }, (_, place) =>
      once(sorted.flatMap((pieces) => pieces.slice(place, place + 1)).reduce(larger)));
  });
}

function sizeOf(piece: Piece): number {
  return piece.kind === 'gaussian' ? piece.square : piece.epsilon;
}

function larger(left: Piece, right: Piece): Piece {
  const most: Record<string, number | string> = { ...left };
  for (const [name, value] of Object.entries(right)) {
    if (typeof value === 'number') most[name] = Math.max(value, most[name] as number);
  }
  return most as unknown as Piece;
}
