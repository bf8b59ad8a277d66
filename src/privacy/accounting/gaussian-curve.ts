import { normalUpperQuantile } from '../../numerics/normal.js';
import { ratioOfDouble, type Ratio } from './amount.js';
import { analyticGaussianDelta, analyticGaussianSigma } from './analytic-gaussian.js';
import type { MechanismEvent } from './events.js';

/**
 * The unit of the rule `gaussian`: half the squared mu of Gaussian differential privacy (Dong,
 * Roth, Su 2022). For neighbours, let f(a) be the least probability of the one error of any test
 * between them whose other error has probability a. An event has this mu if f(a) >= G(a) =
 * Phi(Phi^-1(1 - a) - mu) for all a: it is no easier to see than one normal number of deviation 1
 * that moves by mu. Squares of mu add up, also where each event is chosen after the outcomes before
 * it, under a cap that is fixed beforehand (Smith and Thakurta 2022; Koskela, Tobaben and Honkela
 * 2023).
 *
 * G is convex and falls from 1 to 0. A curve f that is made of lines between points where it is
 * at least G, is at least G everywhere: this is used below without saying so.
 *
 * - gaussian: (sensitivity + grid sqrt(dimension)) / sigma. Let z be discrete noise of deviation
 *   s >= 1/2 in steps, and N normal noise of the same s. z is stochastically between N - 1 and N
 *   + 1 (loss-distribution/pieces), so t_k with P(z >= k) = P(N >= t_k) is between k - 1 and k,
 *   because P(N >= k) <= P(z >= k) <= P(N >= k - 1). By a shift of v steps a threshold test with
 *   errors at t_k has its other error at t_(k - v), and t_k - t_(k - v) <= v + 1. So one number
 *   that moves by v has mu <= (|v| + 1) / s. Several numbers have the root of the sum of squares,
 *   and by the triangle inequality that of (|v_i| + grid)^2 is at most |v| + grid
 *   sqrt(dimension).
 * - symmetric-gaussian: (sensitivity + grid dimension) / sigma, as an entry off the diagonal
 *   counts twice and has half the variance: the sum over all entries of (|v_ij| + grid)^2 /
 *   sigma^2.
 * - laplace: 2 Phi^-1(1 - p), p = exp(-e/2) / (2 cosh(l/2)), where e is epsilon and l = grid /
 *   scale. It is enough to look at one number (loss-distribution/pieces). With q = exp(-l), P(z
 *   >= k) is q^k / (1 + q) for k >= 1, which is the tail of continuous Laplace noise beyond k -
 *   k0 steps, where exp(l k0) = 2 / (1 + q), and P(z >= k) for k <= 0 is that beyond k - 1 + k0.
 *   So a shift by s steps moves the threshold by at most s + 1 - 2 k0 steps, which are E = e + 2
 *   log cosh(l/2) scales: f is at least the curve of continuous noise moved by E. That curve is
 *   exp(-E)/(4a) for a between exp(-E)/2 and 1/2. There a G(a), which is Phi(-t) Phi(t - mu) with
 *   a = Phi(-t), is log-concave in t and symmetric about mu/2, so it is at most Phi(-mu/2)^2 =
 *   p^2 = exp(-E)/4. On both sides the curve is a line.
 * - exponential: 2 Phi^-1(exp(e/2) / (1 + exp(e/2))) for each of its calls. Log-ratios have a
 *   range of e, so logit f(a) >= logit(1 - a) - e: a set S with P(S) = p and Q(S) = q has its
 *   mean ratios within and outside of S in that range. With a = Phi(-t) the claim is logit Phi(t)
 *   - logit Phi(t - mu) >= e. The left side is least at t = mu/2, where both are equal, if the
 *   slope w of logit Phi, an even function, grows with |t|. Let h = phi / (1 - Phi) be the hazard
 *   and r = phi / Phi. (log w)' = D = h - t - r. D(0) = 0, and with A = h - t, D' = h A - 1 + r
 *   (r + t). Where D = 0, r = A, so D' = 2 h A - 1 = 2 h' - 1. The hazard is convex (Sampford
 *   1953), so h' >= h'(0) = 2 / pi > 1/2 for t >= 0. So D rises wherever it is 0, and is above 0
 *   for all t > 0.
 *
 * Not for events with a delta, for masks, and for noise below half a step: null.
 * @param share - the part of the sensitivity by which the values move.
 */
export function halfSquareOf(event: MechanismEvent, share = 1): Ratio | null {
  switch (event.kind) {
    case 'gaussian': {
      const { sensitivity, sigma, grid, dimension } = event;
      return sigma < grid / 2 ? null
        : ofNoise(sensitivity, share, grid, Math.sqrt(dimension) * upwards, sigma);
    }
    case 'symmetric-gaussian': {
      const { sensitivity, sigma, grid, dimension } = event;
      return sigma < grid ? null : ofNoise(sensitivity, share, grid, dimension, sigma);
    }
    case 'laplace': {
      const { sensitivity, scale, grid } = event;
      const epsilon = (sensitivity / scale) * share * upwards;
      const step = grid / scale;
      // exp(-e/2) / (2 cosh(l/2)), without a large cosh.
      const p = Math.exp(-(epsilon + step) / 2) / (1 + Math.exp(-step));
      return ofTail(p * downwards, 1);
    }
    case 'exponential': {
      const half = (event.epsilon * share * upwards) / 2;
      return ofTail((Math.exp(-half) / (1 + Math.exp(-half))) * downwards, event.times);
    }
    default:
      return null;
  }
}

const upwards = 1 + 2 ** -44;
const downwards = 1 - 2 ** -44;

/** ((share sensitivity + factor grid) / sigma)^2 / 2, exactly. */
function ofNoise(
  sensitivity: number, share: number, grid: number, factor: number, sigma: number,
): Ratio {
  const [a, b, c, d, s] = [sensitivity, share, grid, factor, sigma].map(ratioOfDouble);
  // All denominators are powers of two.
  const moved = a!.numerator * b!.numerator * c!.denominator * d!.denominator
    + c!.numerator * d!.numerator * a!.denominator * b!.denominator;
  const bottom = a!.denominator * b!.denominator * c!.denominator * d!.denominator;
  const [over, under] = [moved * s!.denominator, bottom * s!.numerator];
  return { numerator: over * over, denominator: 2n * under * under };
}

/**
 * times (2 Phi^-1(1 - p))^2 / 2, rounded up. A quantile near the median is off by a few 2^-52, and
 * another by as much of itself.
 */
function ofTail(p: number, times: number): Ratio {
  const mu = 2 * normalUpperQuantile(p) * (1 + 2 ** -40) + 2 ** -46;
  const { numerator, denominator } = ratioOfDouble(((mu * mu) / 2) * (1 + 2 ** -50));
  return { numerator: numerator * BigInt(times), denominator };
}

/**
 * The largest half of a squared mu that is (epsilon, delta), rounded down: 1 / (2 s^2), with the
 * deviation s of `analyticGaussianSigma`.
 */
export function halfSquareFor(epsilon: number, delta: number): number {
  return (1 - 2 ** -36) / (2 * analyticGaussianSigma(epsilon, delta) ** 2);
}

/** The epsilon of half a squared mu at this delta, rounded up. */
export function epsilonOfHalfSquare(half: number, delta: number): number {
  if (half === 0) return 0;
  const sigma = (1 - 2 ** -40) / Math.sqrt(2 * half);
  const holds = (epsilon: number): boolean => analyticGaussianDelta(epsilon, sigma) <= delta;
  if (holds(0)) return 0;
  let [low, high] = [0, 1];
  while (!holds(high)) [low, high] = [high, 2 * high];
  for (let round = 0; round < 80 && high - low > 1e-13 * high; round++) {
    const middle = (low + high) / 2;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high * (1 + 2 ** -40);
}
