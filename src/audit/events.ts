import { lowerBound, upperBound } from './clopper-pearson.js';
import type { OutputBlock, Side } from './contract.js';
import { learnStatistics, type Statistic } from './statistics.js';

/** A set of outputs that one side is thought to land in far more often than the other. */
export interface OutputEvent {
  readonly statistic: Statistic | null;
  /** Answers with a score of at least this (at most, when not `above`) are in. */
  readonly threshold: number;
  readonly above: boolean;
  /** Refusals that are in. */
  readonly refusals: ReadonlySet<string>;
  /** The side that lands in it more often. */
  readonly over: Side;
}

/** How often each side landed in an event. */
export interface EventCounts {
  readonly hits: Readonly<Record<Side, number>>;
  readonly trials: Readonly<Record<Side, number>>;
}

/** The sides' outputs. */
export type Outputs = Readonly<Record<Side, OutputBlock>>;

const ranksPerFactor = 6;
const leastRank = 4;

/** What a refusal is known by: its reason and its text. */
function refusalOf({ width, values }: OutputBlock, row: number): string {
  return `${values[row * width]}/${values[row * width + 1]}`;
}

/** Outputs of a block in the event. */
export function countHits(event: OutputEvent, block: OutputBlock): number {
  const scores = event.statistic?.score(block);
  let hits = 0;
  for (let row = 0; row < block.count; row++) {
    if (block.values[row * block.width] !== 0) hits += event.refusals.has(refusalOf(block, row)) ? 1 : 0;
    else if (scores !== undefined) hits += isBeyond(event, scores[row]!) ? 1 : 0;
  }
  return hits;
}

function isBeyond({ above, threshold }: OutputEvent, score: number): boolean {
  return above ? score >= threshold : score <= threshold;
}

/**
 * The lower bound on epsilon that counts give for a claim's delta: log((p - delta) / q), p at least and q at most what
 * the counts allow, each with failure probability `failure`. -Infinity when they show nothing.
 */
export function epsilonBound({ hits, trials }: EventCounts, over: Side, delta: number, failure: number): number {
  const under = other(over);
  const surely = lowerBound(hits[over], trials[over], failure) - delta;
  return surely <= 0 ? -Infinity : Math.log(surely / upperBound(hits[under], trials[under], failure));
}

export function other(side: Side): Side {
  return side === 'left' ? 'right' : 'left';
}

/** An event with what it is expected to prove. */
export interface Candidate {
  readonly event: OutputEvent;
  readonly expected: number;
}

export interface ChoiceAsked {
  readonly delta: number;
  /** Failure probability of each bound in the count to come. */
  readonly failure: number;
  /** Trials of each side in the count to come. */
  readonly trials: number;
}

/**
 * Learns statistics from outputs and picks, for each statistic and each order of the sides, the event that should
 * give the largest bound in a count of `trials` fresh outputs a side. Largest first.
 */
export function chooseEvents(outputs: Outputs, asked: ChoiceAsked): readonly Candidate[] {
  const statistics: readonly (Statistic | null)[] = learnStatistics(outputs.left, outputs.right);
  const found = [...statistics, null].flatMap((statistic) =>
    (['left', 'right'] as const).map((over) => bestEvent(outputs, statistic, over, asked)));
  return found.filter((candidate) => candidate !== null).sort((one, two) => two.expected - one.expected);
}

function bestEvent(outputs: Outputs, statistic: Statistic | null, over: Side, asked: ChoiceAsked): Candidate | null {
  const under = other(over);
  const refused = { over: refusalCounts(outputs[over]), under: refusalCounts(outputs[under]) };
  const favoured = new Set([...refused.over]
    .filter(([reason, count]) => count / outputs[over].count > (refused.under.get(reason) ?? 0) / outputs[under].count)
    .map(([reason]) => reason));
  const total = (counts: ReadonlyMap<string, number>): number =>
    [...favoured].reduce((sum, reason) => sum + (counts.get(reason) ?? 0), 0);
  const withRefusals = { over: total(refused.over), under: total(refused.under) };
  let best: Candidate | null = null;
  const consider = (hits: { readonly over: number; readonly under: number }, event: OutputEvent): void => {
    const sizes = { over: outputs[over].count, under: outputs[under].count };
    const expected = expectedBound(hits, sizes, asked);
    if (best === null || expected > best.expected) best = { event, expected };
  };
  const none = { statistic: null, threshold: 0, above: true, over };
  if (statistic === null) {
    if (favoured.size > 0) consider(withRefusals, { ...none, refusals: favoured });
    return best;
  }
  for (const above of [true, false]) {
    const beyond = tails(statistic.score(outputs[over]), statistic.score(outputs[under]), above);
    for (const { threshold, hits } of beyond) {
      const event = { statistic, threshold, above, over };
      consider(hits, { ...event, refusals: new Set() });
      if (favoured.size > 0) {
        const both = { over: hits.over + withRefusals.over, under: hits.under + withRefusals.under };
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

interface Tail {
  readonly threshold: number;
  readonly hits: { readonly over: number; readonly under: number };
}

/** Events of growing size from one end of the scores: at thresholds that about 4, 5, 6, ... scores are beyond. */
function* tails(over: Float64Array, under: Float64Array, above: boolean): Generator<Tail> {
  const sign = above ? -1 : 1;
  const sortedOver = over.filter((score) => !Number.isNaN(score)).map((score) => sign * score).sort();
  const sortedUnder = under.filter((score) => !Number.isNaN(score)).map((score) => sign * score).sort();
  for (let rank = leastRank; rank <= sortedOver.length; rank = Math.ceil(rank * 2 ** (1 / ranksPerFactor))) {
    const at = sortedOver[rank - 1]!;
    yield { threshold: sign * at, hits: { over: atMost(sortedOver, at), under: atMost(sortedUnder, at) } };
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

/**
 * What a fresh count should prove. Chosen from many, so the seen frequencies are taken a deviation worse than seen; the
 * confidence bounds are those of a Poisson count.
 */
function expectedBound(
  hits: { readonly over: number; readonly under: number },
  sizes: { readonly over: number; readonly under: number },
  { delta, failure, trials }: ChoiceAsked,
): number {
  const deviations = Math.sqrt(-2 * Math.log(failure));
  const more = ((hits.under + Math.sqrt(hits.under) + 0.7) / sizes.under) * trials;
  const less = (Math.max(0, hits.over - Math.sqrt(hits.over)) / sizes.over) * trials;
  const spread = (count: number): number => deviations * Math.sqrt(count + deviations ** 2 / 4);
  const upper = Math.min(trials, more + deviations ** 2 / 2 + spread(more));
  const lower = less + deviations ** 2 / 2 - spread(less) - delta * trials;
  return lower <= 0 ? -Infinity : Math.log(lower / upper);
}
