/** Parts of a total variation distance, and a bound on the whole. */
export interface Distance {
  readonly total: number;
  readonly sampling: number;
  readonly noise: number;
  readonly bias: number;
}

/**
 * Errors of one stage, relative to the truth: of the mean in standard deviations, of the covariance
 * in Frobenius norm.
 */
export interface StageError {
  readonly sampling: number;
  readonly noise: number;
  readonly bias: number;
}

/**
 * A bound on the expected total variation distance between the normal distribution that is answered
 * and the true one.
 *
 * Why: let m be the error of the mean and F that of the covariance, both after the map that makes
 * the true covariance the unit matrix, and let f run over the eigenvalues of F. The divergence of
 * the two distributions is (|m|^2 + sum of (f - log(1 + f))) / 2. That is |m|^2 / 2 + |F|^2 / 4 up
 * to cubes of F. By Pinsker's inequality the distance is at most the root of half of that,
 * sqrt(|m|^2 + |F|^2 / 2) / 2. The root of the expected square bounds the expectation. Past 1 the
 * bound says nothing.
 */
export function distanceOf(mean: StageError, covariance: StageError): Distance {
  const part = (kind: keyof StageError): number =>
    Math.hypot(mean[kind], covariance[kind] / Math.SQRT2) / 2;
  const [sampling, noise, bias] = [part('sampling'), part('noise'), part('bias')];
  return { sampling, noise, bias, total: Math.hypot(sampling, noise, bias) };
}
