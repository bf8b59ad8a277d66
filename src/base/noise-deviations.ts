import type { Uncertainty } from './outcome.js';

/**
 * The standard deviation of the privacy noise in each number; null where its law is not known.
 * That of Laplace noise is at most sqrt 2 of its scales, and less on a coarse grid.
 */
export function noiseDeviations(uncertainty: Uncertainty): readonly number[] | null {
  switch (uncertainty.kind) {
    case 'gaussian': return uncertainty.standardDeviation;
    case 'laplace': return uncertainty.scale.map((scale) => Math.SQRT2 * scale);
    default: return null;
  }
}

/**
 * Deviations of normal noise that is as wide in its middle 95 %, for intervals of 1.96 of them and
 * for sums. log(20) scales hold 95 % of Laplace noise: 2.12 deviations. Sums of such noise have
 * lighter tails, so 1.96 roots of the sum of squares hold at least 95 % of them, but for the last
 * step of a coarse grid. Null where the law is not known.
 */
export function deviationsAsNormal(uncertainty: Uncertainty): readonly number[] | null {
  return uncertainty.kind === 'laplace'
    ? uncertainty.scale.map((scale) => scale * laplace95) : noiseDeviations(uncertainty);
}

/** log(20) / 1.96, rounded up. */
const laplace95 = 1.52844;

/**
 * The noise of an answer whose numbers are multiplied: `by` gives the factor of each, at least 0.
 */
export function multipliedNoise(
  uncertainty: Uncertainty, by: (place: number) => number,
): Uncertainty {
  switch (uncertainty.kind) {
    case 'gaussian': return {
      ...uncertainty,
      standardDeviation: uncertainty.standardDeviation.map((sigma, i) => sigma * by(i)),
    };
    case 'laplace':
      return { ...uncertainty, scale: uncertainty.scale.map((scale, i) => scale * by(i)) };
    default: return uncertainty;
  }
}
