import { InvalidParameterError } from '../../base/errors.js';
import { normalLogCdf } from '../../numerics/normal.js';

/**
 * The exact (epsilon, delta) curve of one continuous Gaussian release (Balle and Wang 2018, theorem
 * 8): with m = sensitivity / sigma,
 *
 *   delta = Phi(m/2 - epsilon/m) - e^epsilon Phi(-m/2 - epsilon/m).
 *
 * For display and comparison; events draw discrete noise and are accounted in zCDP.
 */
export function analyticGaussianDelta(epsilon: number, sigma: number, sensitivity = 1): number {
  if (!(epsilon >= 0 && sigma > 0 && sensitivity > 0)) {
    throw new InvalidParameterError(
      'epsilon must not be negative; sigma and sensitivity must be positive', {
        epsilon, sigma, sensitivity,
      },
    );
  }
  const shift = sensitivity / sigma;
  // In logarithms, because e^epsilon times a tail could be infinity times zero.
  const first = normalLogCdf(shift / 2 - epsilon / shift);
  const second = epsilon + normalLogCdf(-shift / 2 - epsilon / shift);
  return second >= first ? 0 : Math.exp(first) * -Math.expm1(second - first);
}

/**
 * The smallest standard deviation whose `analyticGaussianDelta` is at most delta, to 12 digits,
 * rounded up.
 * @throws InvalidParameterError unless epsilon > 0, 0 < delta < 1 and sensitivity > 0.
 */
export function analyticGaussianSigma(epsilon: number, delta: number, sensitivity = 1): number {
  if (!(epsilon > 0 && delta > 0 && delta < 1 && sensitivity > 0
    && Number.isFinite(epsilon + sensitivity))) {
    throw new InvalidParameterError(
      'epsilon and sensitivity must be above 0, and delta strictly between 0 and 1', {
        epsilon, delta, sensitivity,
      },
    );
  }
  const enough = (sigma: number): boolean => analyticGaussianDelta(epsilon, sigma, 1) <= delta;
  let high = 1;
  while (!enough(high)) high *= 2;
  let low = high / 2;
  while (enough(low)) [low, high] = [low / 2, low];
  for (let round = 0; round < 60 && high - low > 1e-13 * high; round++) {
    const middle = (low + high) / 2;
    if (enough(middle)) high = middle;
    else low = middle;
  }
  return high * (1 + 1e-12) * sensitivity;
}
