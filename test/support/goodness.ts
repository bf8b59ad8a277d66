/**
 * Distance tests with a stated false-failure rate. The Dvoretzky-Kiefer-Wolfowitz inequality with
 * Massart's constant holds for every distribution, discrete ones too: P(sup |F_n - F| > t) <= 2
 * exp(-2 n t^2).
 */
export const falseFailureRate = 1e-6;

export function distanceLimit(draws: number): number {
  return Math.sqrt(Math.log(2 / falseFailureRate) / (2 * draws));
}

/**
 * Probabilities of low, low + 1, ..., high, proportional to the weights; what lies outside is
 * negligible.
 */
export interface Mass {
  readonly low: number;
  readonly probabilities: Float64Array;
}

export function massOf(low: number, high: number, weight: (k: number) => number): Mass {
  const weights = Float64Array.from({ length: high - low + 1 }, (_, i) => weight(low + i));
  const total = weights.reduce((sum, entry) => sum + entry, 0);
  return { low, probabilities: weights.map((entry) => entry / total) };
}

export function gaussianMass(sigma: number): Mass {
  const reach = Math.ceil(12 * sigma) + 2;
  return massOf(-reach, reach, (k) => Math.exp(-(k * k) / (2 * sigma * sigma)));
}

export function laplaceMass(scale: number, bound = Math.ceil(40 * scale) + 2): Mass {
  return massOf(-bound, bound, (k) => Math.exp(-Math.abs(k) / scale));
}

/**
 * The largest distance between the share of draws up to k and the probability of it, over all k.
 */
export function distanceToMass(draws: readonly number[], { low, probabilities }: Mass): number {
  const sorted = Float64Array.from(draws).sort();
  let below = 0;
  let cumulative = 0;
  let worst = 0;
  for (let i = 0; i < probabilities.length; i++) {
    cumulative += probabilities[i]!;
    while (below < sorted.length && sorted[below]! <= low + i) below += 1;
    worst = Math.max(worst, Math.abs(below / sorted.length - cumulative));
  }
  return worst;
}

/** The same against a continuous distribution function. */
export function distanceToCdf(draws: readonly number[], cdf: (x: number) => number): number {
  const sorted = Float64Array.from(draws).sort();
  let worst = 0;
  sorted.forEach((draw, i) => {
    const p = cdf(draw);
    worst = Math.max(worst, Math.abs(p - i / sorted.length), Math.abs(p - (i + 1) / sorted.length));
  });
  return worst;
}
