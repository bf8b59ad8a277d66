import type { Finding } from '../../../base/outcome.js';
import { deviations95 } from '../../../numerics/normal.js';
import type { CountNoise } from '../tables/count-noise.js';
import { nextBelow } from './doubles.js';
import { shortWithin } from './edges.js';

/** An answer is rounded by at most this part of the cell that it is in. */
const roundedBy = 1 / 64;
/** The fourth cumulant of Laplace noise, in squares of its variance. */
const laplaceExcess = 3;

/** One quantile as the noisy cells show it. */
export interface CertifiedQuantile {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

/**
 * How far the noisy rank of an edge may be from that of the quantile: with D = L - p N for L people
 * below the edge and N in all, both as sums of noisy cells, D is below -margin with probability at
 * most .025 where the edge is above the quantile, and above margin where it is below.
 *
 * Why. Of a random sample, the people below the quantile are a binomial number of mean p N, of
 * variance N p (1 - p). The noise of D is (1 - p) times that of the cells below the edge minus p
 * times that of those above. Both are near a normal number; Laplace noise has a fourth cumulant,
 * by which the quantile of the sum grows (Cornish and Fisher).
 */
export function marginAt(
  noise: CountNoise, probability: number,
  { people, below, above }: {
    readonly people: number; readonly below: number; readonly above: number;
  },
): number {
  const [left, right] = [1 - probability, probability];
  const ofNoise = noise.standardDeviation ** 2 * cellsOfNoise(probability, below, above);
  const variance = Math.max(0, people) * left * right + ofNoise;
  const parts = noise.standardDeviation ** 2 / variance;
  const fourth = noise.event.kind === 'gaussian' ? 0 : laplaceExcess * parts ** 2
    * ((left * left) ** 2 * below + (right * right) ** 2 * above);
  const farther = deviations95 * (deviations95 ** 2 - 3) / 24;
  return (deviations95 + fourth * farther) * Math.sqrt(variance);
}

/** The standard deviation of the noise of D at an edge. */
export function noiseAt(
  { standardDeviation }: CountNoise, probability: number, below: number, above: number,
): number {
  return standardDeviation * Math.sqrt(cellsOfNoise(probability, below, above));
}

/** The variance of the noise of D at an edge, in that of one cell. */
function cellsOfNoise(probability: number, below: number, above: number): number {
  return (1 - probability) ** 2 * below + probability ** 2 * above;
}

/**
 * A quantile from noisy cells. Its lower end is an edge that is surely not above it: from the
 * lowest edge on, one after the other, as long as D <= -margin; and the upper end alike from above,
 * as long as D >= margin, one double below its edge. An end of which not even the outermost edge
 * holds is open. The answer is where D, made monotone, passes 0.
 *
 * Claim. Each end is beyond the quantile of the people's law with probability at most .025, for any
 * law, and whatever edges were chosen, to the order of `marginAt` and of the dependence of an
 * edge's place among the others on the sample.
 * Proof for the lower end. Let v be the lowest edge above the quantile q, if there is one. The end
 * is above q only if v passed, since no edge is reached but through those before it. All who have
 * at most q are below v, and their number B is binomial of mean at least p N. So v passes only if
 * B - p N + noise <= -margin, where noise is that of v's own sums. It is drawn after the edges, so
 * it does not depend on them. No second test can fail, so there is nothing to correct for the
 * number of edges. For the upper end: those below an edge at most q have less than q, a binomial
 * number of mean at most p N.
 * @param counts - noisy, one more than edges.
 */
export function certifiedQuantile(
  edges: Float64Array, counts: Float64Array, noise: CountNoise, probability: number,
): CertifiedQuantile {
  const people = counts.reduce((sum, count) => sum + count, 0);
  let lower = 0;
  const ranks = Float64Array.from(edges, (_, i) => {
    lower += counts[i]!;
    return lower - probability * people;
  });
  const isBeyond = (i: number): boolean => Math.abs(ranks[i]!)
    >= marginAt(noise, probability, { people, below: i + 1, above: edges.length - i });
  let [first, last] = [0, edges.length - 1];
  while (first < edges.length && ranks[first]! < 0 && isBeyond(first)) first += 1;
  while (last >= 0 && ranks[last]! > 0 && isBeyond(last)) last -= 1;
  const low = first === 0 ? -Infinity : edges[first - 1]!;
  const high = last === edges.length - 1 ? Infinity : Math.max(low, nextBelow(edges[last + 1]!));
  const estimate = Math.min(high, Math.max(low, crossingOf(edges, ranks)));
  return { estimate, low, high };
}

/** Where ranks pass 0: the mean of the highest so far and the lowest from here on never falls. */
function crossingOf(edges: Float64Array, ranks: Float64Array): number {
  const highest = ranks.slice();
  const lowest = ranks.slice();
  for (let i = 1; i < ranks.length; i++) {
    highest[i] = Math.max(highest[i - 1]!, highest[i]!);
    const from = ranks.length - 1 - i;
    lowest[from] = Math.min(lowest[from]!, lowest[from + 1]!);
  }
  const monotone = highest.map((rank, i) => (rank + lowest[i]!) / 2);
  const next = monotone.findIndex((rank) => rank >= 0);
  if (next <= 0) return next === 0 ? edges[0]! : edges.at(-1)!;
  const [from, to] = [edges[next - 1]!, nextBelow(edges[next]!)];
  if (!(to > from)) return from;
  const part = monotone[next - 1]! / (monotone[next - 1]! - monotone[next]!);
  const value = from + part * (to - from);
  return Math.min(to, Math.max(from, shortWithin(value, (to - from) * roundedBy)));
}

/**
 * The finding about an open end: how many people noise and chance hide, the side, and the other
 * end, if there is one. For nothing: all of it is released.
 */
export function openEnds(
  { low, high }: CertifiedQuantile, column: number, hidden: number,
): readonly Finding[] {
  const finding = (amounts: readonly number[]): readonly Finding[] =>
    [{ reason: 'end-unseen', columns: [column], amounts }];
  if (low === -Infinity) {
    return finding(high === Infinity ? [hidden, 0] : [hidden, -1, high]);
  }
  return high === Infinity ? finding([hidden, 1, low]) : [];
}
