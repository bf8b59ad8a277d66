import { ln, pow } from '../base/elementary.js';
import { lowerBound } from './clopper-pearson.js';
import type { OutputBlock, Side } from './contract.js';
import { learnStatistics, type Statistic } from './statistics.js';

/** A set of outputs. One side is expected to be in it far more often than the other. */
export interface OutputEvent {
  readonly statistic: Statistic | null;
  /** Contains answers with a score of at least this (at most, if `above` is false). */
  readonly threshold: number;
  readonly above: boolean;
  /** Refusals in the set. */
  readonly refusals: ReadonlySet<string>;
  /** The side that is in it more often. */
  readonly over: Side;
}

/** How often each side was in an event. A fair coin chose the side of each trial. */
export interface EventCounts {
  readonly hits: Readonly<Record<Side, number>>;
  readonly trials: Readonly<Record<Side, number>>;
}

/** The outputs of both sides. */
export type Outputs = Readonly<Record<Side, OutputBlock>>;

const ranksPerFactor = 6;
const leastRank = 4;

/** The name of a refusal: its reason and its text. */
function refusalOf({ width, values }: OutputBlock, row: number): string {
  return `${values[row * width]}/${values[row * width + 1]}`;
}

/** Number of outputs of a block in the event. */
export function countHits(event: OutputEvent, block: OutputBlock): number {
  const scores = event.statistic?.score(block);
  let hits = 0;
  for (let row = 0; row < block.count; row++) {
    if (block.values[row * block.width] !== 0) {
      hits += event.refusals.has(refusalOf(block, row)) ? 1 : 0;
    } else if (scores !== undefined) hits += isBeyond(event, scores[row]!) ? 1 : 0;
  }
  return hits;
}

function isBeyond({ above, threshold }: OutputEvent, score: number): boolean {
  return above ? score >= threshold : score <= threshold;
}

/**
 * The lower bound on epsilon that counts give for a claim's delta. A fair coin chose the side of
 * every trial. So of m hits in n trials, the number on one side is binomial: m draws at r = P / (P
 * + Q), where P and Q are the probabilities of the event on the two sides. With lower bounds for r
 * and for P + Q = 2 P(hit) from those counts,
 *
 *   (P - delta) / Q = (r - delta / (P + Q)) / (1 - r),
 *
 * which increases with both. One proportion gives a tighter bound than two separate counts, by
 * about a factor sqrt 2. `failure` is for both bounds together. Nearly all of it goes to r, because
 * P + Q matters only through delta.
 * -Infinity if the counts show nothing.
 */
export function epsilonBound(
  { hits, trials }: EventCounts, over: Side, delta: number, failure: number,
): number {
  const both = hits.left + hits.right;
  if (both === 0) return -Infinity;
  const isPure = delta === 0;
  const share = lowerBound(hits[over], both, isPure ? failure : 0.9 * failure);
  const sum = isPure ? 2 : 2 * lowerBound(both, trials.left + trials.right, 0.1 * failure);
  const surely = share - delta / sum;
  return surely <= 0 ? -Infinity : ln(surely / (1 - share));
}

export function other(side: Side): Side {
  return side === 'left' ? 'right' : 'left';
}

/** An event, and the bound that it is expected to prove. */
export interface Candidate {
  readonly event: OutputEvent;
  readonly expected: number;
}

export interface ChoiceOptions {
  readonly delta: number;
  /** Failure probability of each event's bound in the later count. */
  readonly failure: number;
  /** Trials per side in the later count. */
  readonly trials: number;
  /** Entries of the estimate to learn from; absent: all that is published. */
  readonly entries?: readonly number[] | undefined;
}

/**
 * Learns statistics from outputs. For each statistic and each order of the sides, picks the event
 * with the largest expected bound in a count of `trials` fresh outputs per side. Largest first.
 */
export function chooseEvents(outputs: Outputs, asked: ChoiceOptions): readonly Candidate[] {
  // Different outputs choose the thresholds. Otherwise overfitted statistics would look best.
  const lessons: Outputs = {
    left: everySecond(outputs.left, 0), right: everySecond(outputs.right, 0),
  };
  const tests: Outputs = {
    left: everySecond(outputs.left, 1), right: everySecond(outputs.right, 1),
  };
  const statistics: readonly (Statistic | null)[] =
    learnStatistics(lessons.left, lessons.right, asked.entries);
  const found = [...statistics, null].flatMap((statistic) =>
    (['left', 'right'] as const).map((over) => bestEvent(tests, statistic, over, asked)));
  return found.filter((candidate) => candidate !== null)
    .sort((one, two) => two.expected - one.expected);
}

function everySecond({ count, width, values }: OutputBlock, from: number): OutputBlock {
  const half = Math.floor(count / 2);
  const chosen = new Float64Array(half * width);
  for (let i = 0; i < half; i++) {
    const row = 2 * i + from;
    chosen.set(values.subarray(row * width, (row + 1) * width), i * width);
  }
  return { count: half, width, values: chosen };
}

function bestEvent(
  outputs: Outputs, statistic: Statistic | null, over: Side, asked: ChoiceOptions,
): Candidate | null {
  const under = other(over);
  const refused = { over: refusalCounts(outputs[over]), under: refusalCounts(outputs[under]) };
  const favoured = new Set([...refused.over]
    .filter(([reason, count]) =>
      count / outputs[over].count > (refused.under.get(reason) ?? 0) / outputs[under].count)
    .map(([reason]) => reason));
  const total = (counts: ReadonlyMap<string, number>): number =>
    [...favoured].reduce((sum, reason) => sum + (counts.get(reason) ?? 0), 0);
  const withRefusals = { over: total(refused.over), under: total(refused.under) };
  let best: Candidate | null = null;
  const consider = (hits: Hits, event: OutputEvent, isSmooth = false): void => {
    const sizes = { over: outputs[over].count, under: outputs[under].count };
    const expected = expectedBound(isSmooth ? hits : darker(hits), sizes, asked);
    if (best === null || expected > best.expected) best = { event, expected };
  };
  const none = { statistic: null, threshold: 0, above: true, over };
  if (statistic === null) {
    if (favoured.size > 0) consider(withRefusals, { ...none, refusals: favoured });
    return best;
  }
  for (const above of [true, false]) {
    const beyond = tails(statistic.score(outputs[over]), statistic.score(outputs[under]), above);
    for (const { threshold, hits, smooth } of beyond) {
      const event = { statistic, threshold, above, over };
      consider(hits, { ...event, refusals: new Set() });
      // High scores point to the left side.
      if (statistic.isLikelihood && above === (over === 'left')) {
        consider(smooth, { ...event, refusals: new Set() }, true);
      }
      if (favoured.size > 0) {
        const both = {
          over: hits.over + withRefusals.over, under: hits.under + withRefusals.under,
        };
        consider(both, { ...event, refusals: favoured });
      }
    }
  }
  return best;
}

function refusalCounts(block: OutputBlock): Map<string, number> {
  const counts = new Map<string, number>();
  for (let row = 0; row < block.count; row++) {
    if (block.values[row * block.width] === 0) continue;
    const reason = refusalOf(block, row);
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return counts;
}

interface Hits {
  readonly over: number;
  readonly under: number;
}

interface Tail {
  readonly threshold: number;
  readonly hits: Hits;
  /** The same hits, divided between the sides by their scores instead of by their true side. */
  readonly smooth: Hits;
}

/**
 * Events of growing size from one end of the scores. About 4, 5, 6, ... scores lie beyond their
 * thresholds.
 */
function* tails(over: Float64Array, under: Float64Array, above: boolean): Generator<Tail> {
  const sign = above ? -1 : 1;
  const sorted = (scores: Float64Array): Float64Array =>
    scores.filter((score) => !Number.isNaN(score)).map((score) => sign * score).sort();
  const sortedOver = sorted(over);
  const sortedUnder = sorted(under);
  // Logistic regression with equal weights: over all scores s beyond the threshold, the shares of
  // the sides are sums of 1 / (1 + e^s).
  const shares = (scores: Float64Array): Float64Array => {
    let sum = 0;
    return Float64Array.of(0, ...scores.map((score) => (sum += 1 / (1 + Math.exp(score)))));
  };
  const [shareOver, shareUnder] = [shares(sortedOver), shares(sortedUnder)];
  for (let rank = leastRank;
      rank <= sortedOver.length; rank = Math.ceil(rank * pow(2, 1 / ranksPerFactor))) {
    const at = sortedOver[rank - 1]!;
    const hits = { over: atMost(sortedOver, at), under: atMost(sortedUnder, at) };
    const smooth = shareOver[hits.over]! + shareUnder[hits.under]!;
    yield {
      threshold: sign * at, hits, smooth: { over: smooth, under: hits.over + hits.under - smooth },
    };
  }
}

/** How many entries of an ascending list are at most `value`. */
function atMost(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Two standard deviations worse than counted, because the hits were chosen from many. */
function darker({ over, under }: Hits): Hits {
  return { over: Math.max(0, over - 2 * Math.sqrt(over)), under: under + 2 * Math.sqrt(under) + 1 };
}

/** The bound that a fresh count should prove, with Wilson's bound for the proportion. */
function expectedBound(hits: Hits, sizes: Hits, { delta, failure, trials }: ChoiceOptions): number {
  const more = (hits.under / sizes.under) * trials;
  const less = (hits.over / sizes.over) * trials;
  const both = more + less;
  if (!(both > 0)) return -Infinity;
  const square = -2 * ln(failure);
  const seen = less / both;
  const spread = Math.sqrt((square * seen * (1 - seen)) / both + square ** 2 / (4 * both ** 2));
  const share = (seen + square / (2 * both) - spread) / (1 + square / both);
  const fewest = both + square / 2 - Math.sqrt(square * (both + square / 4));
  const surely = share - (delta * trials) / Math.max(fewest, 1e-9);
  return surely <= 0 ? -Infinity : ln(surely / (1 - share));
}
