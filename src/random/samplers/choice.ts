import { assert } from '../../base/assert.js';
import type { Rational } from './discrete-laplace.js';

/** Candidates in their order, in runs whose candidates all have the same score. */
export interface ScoreRuns {
  /** How many candidates each run has; whole numbers. A run of length 0 stands for nothing. */
  readonly lengths: Float64Array;
  readonly scores: Float64Array;
}

/** The loss of a score: a candidate has the weight exp(-loss). */
export interface Losses {
  /** Exact, and not negative. Some score of a run that is not empty has a loss of 0. */
  readonly of: (score: number) => Rational;
  /** The same in doubles, at least (1 - 2^-40) of it and at most (1 + 2^-40) of it. */
  readonly near: (score: number) => number;
}

/** Bits of one uniform number. */
export const uniformBits = 128;
/** A weight has this many bits more than the uniform number, so that the number decides. */
const weightBits = 64;

/**
 * Chooses a candidate with probability proportional to exp(-loss), exactly, by the inverse of the
 * cumulative law at one uniform number U in [0, 1): it is the candidate at which the sum of the
 * weights passes U times their total.
 *
 * Claim: the law is exact, although weights are irrational. U is known to its first bits, and each
 * weight is enclosed between two whole multiples of a small unit. The candidate is returned only
 * when every U with these bits, and all weights within their enclosures, give the same one. So it
 * is the one that infinitely many bits of U would give, and their law is the exact one. Else U gets
 * as many bits again and the enclosures are narrowed.
 * Why it ends: U lies on no boundary between two candidates, but with probability 0, so some number
 * of bits decides. With u bits, a boundary is undecided for a share of at most 2^(2-u) of all U,
 * and there are at most 2^53 of them: 128 bits suffice but for one choice in 2^70.
 *
 * Cost: one addition for each run, and whole-number arithmetic of u + 64 bits for the runs whose
 * weight is at least 2^-(u + 64). No coin is tossed, so how long it takes depends on the runs only.
 * @param draw - a fresh uniform number of `uniformBits` bits.
 * @returns the number of the candidate, from 0.
 */
export function chooseByLoss(draw: () => bigint, runs: ScoreRuns, losses: Losses): number {
  assert(runs.lengths.length === runs.scores.length, 'every run has a length and a score');
  for (let uniform = 0n, bits = 0, wanted = uniformBits; ; wanted *= 2) {
    for (; bits < wanted; bits += uniformBits) uniform = (uniform << BigInt(uniformBits)) | draw();
    const found = candidateAt(uniform, bits, sumsOf(runs, losses, bits + weightBits));
    if (found !== null) return found;
  }
}

/** Sums of weights up to the ends of runs that lie side by side, in units of 2^-bits. */
interface Sums {
  /** Candidates before each run. */
  readonly starts: readonly number[];
  /** Enclosure of the weight of one candidate. */
  readonly weights: readonly Enclosure[];
  /** Enclosures of the weight of all candidates up to the end of the run. */
  readonly ends: readonly Enclosure[];
}

/** The true value is at least `low` and at most `high`. */
export interface Enclosure {
  readonly low: bigint;
  readonly high: bigint;
}

/**
 * Runs that are too light to tell from 0 are put together with those beside them: their weight is
 * between 0 and 1 unit a candidate.
 */
function sumsOf({ lengths, scores }: ScoreRuns, losses: Losses, bits: number): Sums {
  const starts: number[] = [];
  const weights: Enclosure[] = [];
  const ends: Enclosure[] = [];
  let [before, light, low, high] = [0, 0, 0n, 0n];
  const close = (length: number, weight: Enclosure): void => {
    starts.push(before);
    weights.push(weight);
    low += BigInt(length) * weight.low;
    high += BigInt(length) * weight.high;
    ends.push({ low, high });
    before += length;
  };
  // exp(-loss) is below 2^-bits from a loss of bits ln 2 on.
  const heaviest = bits * Math.LN2 * (1 + 2 ** -30);
  const isLight = (score: number): boolean => losses.near(score) > heaviest;
  const known = weightsOf(scores.filter((score, i) => lengths[i]! > 0 && !isLight(score)),
    losses, bits);
  for (let i = 0; i < lengths.length; i++) {
    const length = lengths[i]!;
    const score = scores[i]!;
    if (length === 0) continue;
    if (isLight(score)) {
      light += length;
      continue;
    }
    if (light > 0) close(light, tooLight);
    light = 0;
    close(length, known.get(score)!);
  }
  if (light > 0) close(light, tooLight);
  assert(low > 0n, 'a choice has a candidate, and the best one loses nothing');
  return { starts, weights, ends };
}

const tooLight: Enclosure = { low: 0n, high: 1n };
const nothing: Enclosure = { low: 0n, high: 0n };

/**
 * Enclosures of exp(-loss) in units of 2^-bits.
 *
 * Scores are mostly ranks, whose losses differ by the same few steps, and the exponential of a step
 * costs much more than a product. So the weights are made from the heaviest to the lightest, each
 * from the one before it and the exponential of the step between them. A product of enclosures of
 * numbers up to 1 is as wide as both together, and a unit more: the guard bits take 2^50 of them.
 */
function weightsOf(
  scores: Float64Array, losses: Losses, bits: number,
): ReadonlyMap<number, Enclosure> {
  const unit = BigInt(bits) + guardBits;
  const steps = new Map<string, Enclosure>();
  const known = new Map<number, Enclosure>();
  let before: Rational = { numerator: 0n, denominator: 1n };
  let weight: Enclosure = { low: 1n << unit, high: 1n << unit };
  const heaviestFirst = [...new Set(scores)].sort((a, b) => losses.near(a) - losses.near(b));
  for (const score of heaviestFirst) {
    const loss = losses.of(score);
    const step = difference(loss, before);
    // Losses that are equal in doubles may be in the wrong order.
    if (step.numerator >= 0n) {
      const key = `${step.numerator}/${step.denominator}`;
      const factor = steps.get(key) ?? guardedExpOfMinus(step, unit);
      steps.set(key, factor);
      weight = {
        low: (weight.low * factor.low) >> unit, high: roundedUp(weight.high * factor.high, unit),
      };
    } else {
      weight = guardedExpOfMinus(loss, unit);
    }
    known.set(score, withoutGuard(weight));
    before = loss;
  }
  return known;
}

function difference(larger: Rational, smaller: Rational): Rational {
  return larger.denominator === smaller.denominator
    ? { numerator: larger.numerator - smaller.numerator, denominator: larger.denominator }
    : {
      numerator: larger.numerator * smaller.denominator - smaller.numerator * larger.denominator,
      denominator: larger.denominator * smaller.denominator,
    };
}

/** The candidate at the uniform number with these first bits; null if these do not decide. */
function candidateAt(
  uniform: bigint, uniformLength: number, { starts, weights, ends }: Sums,
): number | null {
  const shift = BigInt(uniformLength);
  const total = ends.at(-1)!;
  // U times the total is at least `least`, and below `most`.
  const least = (uniform * total.low) >> shift;
  const most = -(-((uniform + 1n) * total.high) >> shift);
  let at = 0;
  while (ends[at]!.high <= least) at += 1;
  const before = at === 0 ? nothing : ends[at - 1]!;
  const weight = weights[at]!;
  // All sums before this candidate are surely at most `least`, and the sum with it at least `most`.
  const place = (least - before.high) / weight.high;
  return before.low + (place + 1n) * weight.low >= most ? starts[at]! + Number(place) : null;
}

/** Bits beyond those that are asked for: what rounding loses stays below them. */
const guardBits = 64n;

/**
 * An enclosure of exp(-loss) in units of 2^-bits, at most 2 units wide for losses below 2^20.
 *
 * Why: y = loss / 2^s is at most 2^-8. The series 1 - y + y^2/2 - ... alternates and its terms
 * fall, so its sums are below exp(-y) where they end in an odd power and above it where they end
 * in an even one. Each squaring of the two ends halves s. All is in whole numbers, where low ends
 * are rounded down and high ends up. A squaring doubles the width at most, and adds a unit: after s
 * of them it is below 2^s times some tens of units, which the guard bits take.
 */
export function expOfMinus(loss: Rational, bits: number): Enclosure {
  return withoutGuard(guardedExpOfMinus(loss, BigInt(bits) + guardBits));
}

const withoutGuard = ({ low, high }: Enclosure): Enclosure =>
  ({ low: low >> guardBits, high: roundedUp(high, guardBits) });

/** An enclosure of exp(-loss) in units of 2^-unit. */
function guardedExpOfMinus({ numerator, denominator }: Rational, unit: bigint): Enclosure {
  assert(numerator >= 0n && denominator > 0n, 'a loss is not negative');
  if (numerator === 0n) return { low: 1n << unit, high: 1n << unit };
  const halvings = BigInt(Math.max(0, bitsOf(numerator) - bitsOf(denominator) + 9));
  const scaled = numerator << unit;
  const divisor = denominator << halvings;
  let { low, high } = seriesOfMinus(
    { low: scaled / divisor, high: scaled / divisor + 1n }, unit,
  );
  for (let i = 0n; i < halvings; i++) {
    low = (low * low) >> unit;
    high = roundedUp(high * high, unit);
  }
  return { low, high };
}

/** The series of exp(-y), y at most 2^-8, in units of 2^-unit. */
function seriesOfMinus(y: Enclosure, unit: bigint): Enclosure {
  const one = 1n << unit;
  let [low, high] = [one, one];
  let term: Enclosure = { low: one, high: one };
  const next = (power: bigint): void => {
    term = {
      low: ((term.low * y.low) >> unit) / power,
      high: roundedUp(term.high * y.high, unit) / power + 1n,
    };
  };
  for (let power = 1n; ; power += 2n) {
    next(power);
    low = low - term.high;
    high = high - term.low;
    const belowAll = low;
    next(power + 1n);
    low = low + term.low;
    high = high + term.high;
    // The sum that ends in an odd power is the low end, the next one the high end.
    if (term.high <= 2n) return { low: belowAll, high };
  }
}

const roundedUp = (value: bigint, shift: bigint): bigint => -(-value >> shift);

const bitsOf = (value: bigint): number => value.toString(2).length;
