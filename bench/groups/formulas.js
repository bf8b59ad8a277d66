// From how many contributors on a discovered key is shown, and how wrong its count is: Keelson's
// rule and those of other libraries, as formulas.
//
// `changed` is the number of keys whose counts one person may change, by 1 each. With K keys for
// each person it is K where neighbours have one person more or less, and 2K where one person is
// replaced: K keys may go and K others come.
import { analyticGaussianSigma } from '../../dist/src/privacy/accounting/analytic-gaussian.js';
import { groupHistogramEvent } from '../../dist/src/privacy/accounting/calibration.js';
import { privacyTarget } from '../../dist/src/privacy/accounting/target.js';
import { keyKeepingCount } from '../../dist/src/privacy/mechanisms/bounds.js';
import { normalUpperQuantile } from '../../dist/src/numerics/normal.js';
import { shownChance } from '../../dist/src/estimators/counts/discovered/forged.js';

/**
 * The best rule for one key that one person may be in: the chance that a key of 0, 1, 2 ... people
 * is shown, up to chance 1 or `most` people. From n to n + 1 people each chance is the largest that
 * (epsilon, delta) allows: Desfontaines, Voss, Gipson and Mandayam, "Differentially private
 * partition selection" (2022), theorem 1.
 */
export function optimalChances(epsilon, delta, most = 100_000) {
  const chances = [0];
  while (chances.length <= most && chances.at(-1) < 1) {
    const before = chances.at(-1);
    chances.push(Math.min(
      Math.exp(epsilon) * before + delta, 1 - Math.exp(-epsilon) * (1 - before - delta), 1,
    ));
  }
  return chances;
}

/**
 * The fewest people of a key that the best rule shows at least half of the time. Of all rules that
 * show no key of fewer than `prefilter` people, the best one begins with chance 0 at
 * `prefilter - 1` people. From there on its chances rise in the same steps.
 */
export function optimalHalf({ epsilon, delta, changed, prefilter = 1 }) {
  const chances = optimalChances(epsilon / changed, delta / changed);
  return chances.findIndex((chance) => chance >= 0.5) + prefilter - 1;
}

/** The chance for each key, so that none of `changed` lone keys is shown but with `delta`. */
const eachOf = (delta, changed) => -Math.expm1(Math.log1p(-delta) / changed);

/** Laplace noise and a threshold: OpenDP's `make_laplace_threshold`. */
export function laplaceThreshold({ epsilon, delta, changed }) {
  const scale = changed / epsilon;
  const from = 1 + scale * Math.log(1 / (2 * eachOf(delta, changed)));
  return { half: Math.ceil(from), from, scale, error: Math.SQRT2 * scale };
}

/**
 * Gaussian noise and a threshold: Google's Gaussian thresholding. Half of delta pays for the noise,
 * half for the threshold.
 */
export function gaussianThreshold({ epsilon, delta, changed }) {
  const sigma = analyticGaussianSigma(epsilon, delta / 2, Math.sqrt(changed));
  const from = 1 + sigma * normalUpperQuantile(eachOf(delta / 2, changed));
  return { half: Math.ceil(from), from, sigma, error: sigma };
}

/**
 * The best rule, and then counts of the keys that it shows: half of the privacy for each. The
 * counts have the better of Laplace and Gaussian noise.
 */
export function optimalWithCounts({ epsilon, delta, changed }) {
  const laplace = (Math.SQRT2 * changed) / (epsilon / 2);
  const gaussian = analyticGaussianSigma(epsilon / 2, delta / 2, Math.sqrt(changed));
  return laplace <= gaussian
    ? { half: optimalHalf({ epsilon: epsilon / 2, delta, changed }), error: laplace }
    : { half: optimalHalf({ epsilon: epsilon / 2, delta: delta / 2, changed }), error: gaussian };
}

/** The threshold and the error of a Keelson study that asks only this. */
export function keelson({ epsilon, delta, groupsMax, prefilter = 2 }) {
  const { rho, delta: eventDelta } = privacyTarget({ epsilon, delta });
  const event = groupHistogramEvent({
    name: 'keys', cohort: 'all', groupsMax, prefilter, rho, delta: eventDelta,
  });
  let half = prefilter;
  while (shownChance(event, half) < 0.5) half += 1;
  return { half, from: keyKeepingCount(event), error: event.sigma, rho, eventDelta };
}

/**
 * The other rules where the same rho is paid as Keelson's, as by one release of many under one
 * budget of zCDP. A key that is shown by an (e, d) rule costs e^2 / 2 and d (Bun and Steinke 2016).
 */
export function inLedger({ rho, eventDelta, changed }) {
  const each = Math.sqrt((2 * rho) / changed);
  const asked = { epsilon: each * changed, delta: eventDelta, changed };
  return { optimal: optimalHalf(asked), laplace: laplaceThreshold(asked) };
}
