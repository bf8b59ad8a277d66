import { ln } from '../../base/elementary.js';
import { InvalidParameterError } from '../../base/errors.js';

/**
 * Conversion between zCDP and (epsilon, delta). For rho-zCDP and every order a = 1 + b > 1, the
 * hockey-stick divergence at epsilon is at most
 *
 *   exp(b (a rho - epsilon)) (1/b) (1 - 1/a)^a
 *
 * (Canonne, Kamath, Steinke 2020, corollary 13). Every order gives a valid bound, so the search for
 * the best one need not be exact. Only the last evaluation is rounded, and outwards: reported costs
 * are never below the true ones, and allowed costs never above. In terms of b nothing cancels:
 * log(1 - 1/a) = log b - log(1 + b).
 */
const slack = 2 ** -44;

function checkDelta(delta: number): void {
  if (!(delta > 0 && delta < 1)) {
    throw new InvalidParameterError(
      'delta must lie strictly between 0 and 1; usual values are below 1e-5', { delta },
    );
  }
}

function checkPositive(name: string, value: number): void {
  if (!(value > 0 && Number.isFinite(value))) {
    throw new InvalidParameterError(`${name} must be a finite number above 0`, { [name]: value });
  }
}

function checkRho(rho: number): void {
  if (!(rho >= 0 && Number.isFinite(rho))) {
    throw new InvalidParameterError('rho must be a finite number that is not negative', { rho });
  }
}

/**
 * The root of an increasing function between `low` > 0 and `high`, by bisection on a logarithmic
 * scale.
 */
function rootOf(increasing: (b: number) => number, low: number, high: number): number {
  let [from, to] = [ln(low), ln(high)];
  for (let round = 0; round < 80; round++) {
    const middle = (from + to) / 2;
    if (increasing(Math.exp(middle)) < 0) from = middle;
    else to = middle;
  }
  return Math.exp((from + to) / 2);
}

/** Sum of the terms, increased by more than their rounding errors. */
function sumUp(...terms: readonly number[]): number {
  let sum = 0;
  let size = 0;
  for (const term of terms) {
    sum += term;
    size += Math.abs(term);
  }
  return sum + slack * size;
}

/**
 * The smallest delta that this bound gives for rho-zCDP at `epsilon` >= 0. Never below the bound's
 * true value.
 */
export function deltaOfZcdp(rho: number, epsilon: number): number {
  checkRho(rho);
  if (!(epsilon >= 0)) throw new InvalidParameterError('epsilon must not be negative', { epsilon });
  if (rho === 0 || epsilon === Infinity) return 0;
  // Derivative of the logarithm by the order: (2 a - 1) rho - epsilon + log(1 - 1/a). It increases
  // with a.
  const slope = (b: number): number => (2 * b + 1) * rho - epsilon + ln(b) - Math.log1p(b);
  const b = rootOf(slope, 1e-12, (epsilon + 1) / rho + 2);
  const rate = b * (1 + b) * rho;
  const logarithm = sumUp(rate, -b * epsilon, b * ln(b), -(1 + b) * Math.log1p(b));
  return Math.min(1, Math.exp(logarithm) * (1 + slack));
}

/**
 * The smallest epsilon that this bound gives for rho-zCDP at `delta`. Never below the bound's true
 * value.
 */
export function epsilonOfZcdp(rho: number, delta: number): number {
  checkRho(rho);
  checkDelta(delta);
  if (rho === 0) return 0;
  // epsilon(b) = (1 + b) rho + (log(1/delta) - (1 + b) log(1 + b)) / b + log b.
  const b = bestOrder(rho, delta);
  const tail = ((1 + b) * Math.log1p(b)) / b;
  return Math.max(0, sumUp(rho, b * rho, -ln(delta) / b, -tail, ln(b)));
}

/** b = a - 1 of the order a that gives the smallest epsilon: there the derivative is zero. */
function bestOrder(rho: number, delta: number): number {
  const surprise = -ln(delta);
  return rootOf((b) => rho * b * b + Math.log1p(b) - surprise, 1e-150, Math.min(1 / delta, 1e300));
}

/**
 * The order at which a budget of (epsilon, delta) pays for the most zCDP beside events of
 * `eventDelta`: a divergence of so many times `rhoForApproximateZcdp` is (epsilon, delta)-DP there.
 */
export function orderForApproximateZcdp(
  epsilon: number, eventDelta: number, delta: number,
): number {
  const left = remainingDelta(eventDelta, delta);
  return 1 + bestOrder(rhoForZcdp(epsilon, left), left);
}

/** The largest rho, rounded down, whose zCDP gives (epsilon, delta) by `epsilonOfZcdp`. */
export function rhoForZcdp(epsilon: number, delta: number): number {
  checkPositive('epsilon', epsilon);
  checkDelta(delta);
  // epsilon(rho) >= rho, so rho = epsilon is too large or just right.
  return largest((rho) => epsilonOfZcdp(rho, delta) <= epsilon, epsilon);
}

/**
 * The largest x in [0, high] that passes, rounded down. Every x past some point must fail the test.
 */
function largest(passes: (x: number) => boolean, high: number): number {
  let below = 0;
  let above = high;
  if (passes(high)) return high;
  for (let round = 0; round < 1100; round++) {
    const middle = below === 0 ? above / 4 : below + (above - below) / 2;
    if (middle <= below || middle >= above) break;
    if (passes(middle)) below = middle;
    else above = middle;
  }
  return below;
}

/**
 * How much of `delta` remains for the conversion if events of total probability `eventDelta` may
 * fail. Rounded down.
 */
function remainingDelta(eventDelta: number, delta: number): number {
  if (!(eventDelta >= 0 && eventDelta < delta)) {
    throw new InvalidParameterError(
      'the delta of events must be below the whole delta', { eventDelta, delta },
    );
  }
  if (eventDelta === 0) return delta;
  const left = ((delta - eventDelta) / (1 - eventDelta)) * (1 - 2 ** -50);
  checkDelta(left);
  return left;
}

/**
 * epsilon of (rho, eventDelta)-approximate zCDP at a total `delta`. The divergence bound holds
 * outside events of probability eventDelta. There it gives (epsilon, d)-DP, so in all (epsilon,
 * eventDelta + (1 - eventDelta) d).
 */
export function epsilonOfApproximateZcdp(rho: number, eventDelta: number, delta: number): number {
  checkDelta(delta);
  return epsilonOfZcdp(rho, remainingDelta(eventDelta, delta));
}

/**
 * The largest rho, rounded down, that stays within (epsilon, delta) together with `eventDelta` for
 * events.
 */
export function rhoForApproximateZcdp(epsilon: number, eventDelta: number, delta: number): number {
  checkDelta(delta);
  return rhoForZcdp(epsilon, remainingDelta(eventDelta, delta));
}

/** epsilon-DP is (epsilon^2 / 2)-zCDP (Bun and Steinke 2016, proposition 1.4). Rounded up. */
export function rhoOfPure(epsilon: number): number {
  return ((epsilon * epsilon) / 2) * (1 + 2 ** -50);
}

/** The largest epsilon whose `rhoOfPure` is within rho. Rounded down. */
export function pureForRho(rho: number): number {
  return Math.sqrt(2 * rho) * (1 - 2 ** -50);
}

/**
 * The exponential mechanism with weights exp(epsilon u / (2 sensitivity)). Its log-ratios lie in an
 * interval of length epsilon, so it is (epsilon^2 / 8)-zCDP (Cesar and Rogers 2021; Hoeffding's
 * lemma). Rounded up.
 */
export function exponentialForRho(rho: number): number {
  return Math.sqrt(8 * rho) * (1 - 2 ** -50);
}
