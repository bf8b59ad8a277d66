import { ln } from '../../../base/elementary.js';
import type { Finding, Outcome } from '../../../base/outcome.js';
import type { NamedPart } from '../../../base/parts.js';
import { quantilesOfRunning } from '../../../base/running-counts.js';
import { normalUpperQuantile } from '../../../numerics/normal.js';
import type { StudyFacts } from '../../contract/estimator.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { reportedFromOf } from '../../contract/outside.js';

/** A column, and the quantiles and running counts that are asked of it. */
export interface DistributionOptions {
  readonly column: number;
  /** Ascending, at least two. */
  readonly edges: readonly number[];
  /** Ascending. */
  readonly probabilities: readonly number[];
}

/** Public numbers with which an answer is read from noisy running counts. */
export interface Reading extends DistributionOptions {
  readonly cohort: number;
  /** Standard deviation of each running count, in contributors; the last is that of all. */
  readonly below: Float64Array;
  /** Standard deviation of the last running count minus each. */
  readonly above: Float64Array;
  /** Standard deviation of the number of values beyond the outermost edges. */
  readonly outside: number;
}

/**
 * How many standard deviations a simultaneous 95 % band has on each side: for `numbers` numbers the
 * probability that any is farther off is at most numbers * 2 exp(-t^2 / 2) = 5 %. The discrete
 * Gaussian, and sums of it with weights, are sub-Gaussian with their stated deviation (Canonne,
 * Kamath and Steinke 2020), so this holds for dependent numbers and any number of contributors.
 */
export function bandFactor(numbers: number): number {
  return Math.sqrt(2 * ln(2 * numbers / 0.05));
}

/** The parts of an answer, in their order. */
export function partsOf(quantiles: number, counts: number): readonly NamedPart[] {
  return [{ name: 'quantiles', shape: [quantiles] }, { name: 'below', shape: [counts] }];
}

/** The answer: quantiles, then the running counts themselves. Everything is post-processing. */
export function answerOf(reading: Reading, running: Float64Array, facts: StudyFacts): Outcome {
  const { edges, probabilities, cohort } = reading;
  const below = Array.from(running);
  if (!(below.at(-1)! >= cohort / 4)) return participationBelowPlan(facts);
  const quantiles = quantilesOfRunning(below, edges, probabilities);
  const intervals = quantiles.map((value, i) =>
    intervalOf(reading, below, { value, probability: probabilities[i]! }));
  const factor = bandFactor(below.length);
  const half = reading.below.map((deviation) => factor * deviation);
  const findings = outsideFindings(reading, below);
  return {
    kind: 'value',
    estimate: [...quantiles, ...below],
    shape: [quantiles.length + below.length],
    parts: partsOf(quantiles.length, below.length),
    uncertainty: { kind: 'none' },
    interval95: {
      low: [...intervals.map(([low]) => low), ...below.map((count, i) => count - half[i]!)],
      high: [...intervals.map(([, high]) => high), ...below.map((count, i) => count + half[i]!)],
    },
    ...(findings.length > 0 && { findings }),
  };
}

/**
 * The interval of a quantile, at 95 % for all probabilities together.
 *
 * Let F_i be the true number below edge i and N that of all. The quantile at p is at most edge i
 * where F_i - p N >= 0, and at least edge i elsewhere. F_i - p N = (1 - p) F_i + p (F_i - N), so
 * its noise is at most (1 - p) |that of F_i| + p |that of N - F_i|. A band over these two numbers
 * for each edge holds for every p at once. The interval ends at the nearest edges of which the side
 * is certain. Where that is no edge on one side, it is open on this side: the quantile may be that
 * of people beyond the outermost edge.
 */
function intervalOf(
  { edges, below: deviations, above }: Reading, below: readonly number[],
  { value, probability }: { readonly value: number; readonly probability: number },
): readonly [number, number] {
  const factor = bandFactor(2 * below.length);
  const all = below.at(-1)!;
  let [low, high] = [-Infinity, Infinity];
  edges.forEach((edge, i) => {
    const half = factor * ((1 - probability) * deviations[i]! + probability * above[i]!);
    const excess = below[i]! - probability * all;
    if (excess + half < 0) low = Math.max(low, edge);
    if (excess - half >= 0) high = Math.min(high, edge);
  });
  // Where noise left the band, ends may cross; the interval then holds both, and the estimate.
  return [Math.min(low, high, value), Math.max(low, high, value)];
}

function outsideFindings(
  { column, outside }: Reading, below: readonly number[],
): readonly Finding[] {
  const people = below[0]! + below.at(-1)! - below.at(-2)!;
  const reportedFrom = reportedFromOf(1, {
    upperQuantile: (probability) => outside * normalUpperQuantile(probability),
  });
  return people <= reportedFrom ? []
    : [{ reason: 'values-clipped', columns: [column], amounts: [people] }];
}
