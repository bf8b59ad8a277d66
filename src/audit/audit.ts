import { InvalidParameterError } from '../base/errors.js';
import { RandomBits } from '../random/bits.js';
import type { NoiseSource } from '../random/source.js';
import type {
  AuditResult, Claim, NeighbourPair, OutputBlock, Side, TrialPool,
} from './contract.js';
import {
  chooseEvents, countHits, epsilonBound, type Candidate, type EventCounts, type OutputEvent,
  type Outputs,
} from './events.js';
import { auditKnownNoise, type KnownNoiseOptions } from './known-noise.js';

/** The claim and the pairs to audit, and how many releases to spend on them. */
export interface AuditOptions {
  readonly claim: Claim;
  /** At least one. The most promising pairs come first. */
  readonly pairs: readonly NeighbourPair[];
  readonly pool: TrialPool;
  /**
   * Releases to run in all, over both sides of all pairs. With `losses` it may be 0: then no
   * outputs are counted.
   */
  readonly trials: number;
  /** Choose the side of each counted trial. Independent of the releases' noise. */
  readonly coins: NoiseSource;
  /**
   * Called once, before the first counted trial. It returns how many trials to count, for callers
   * with a time limit. Default: all that are left.
   */
  readonly affordable?: (left: number) => number;
  /** Releases per request; default 1,000. */
  readonly chunk?: number;
  readonly onProgress?: (done: number, total: number) => void;
  /** Also compare exact privacy losses. `trials` are not those of the sampled part. */
  readonly losses?: Pick<KnownNoiseOptions, 'pool' | 'trials' | 'affordable'>;
}

/** Probability that the bound is above the true epsilon. */
const auditFailure = 1e-6;
/** The part for exact losses. Counted outputs have the rest: all of it without losses. */
const knownFailure = auditFailure / 2;
const sampledFailure = ({ losses }: Pick<AuditOptions, 'losses'>): number =>
  (losses === undefined ? auditFailure : auditFailure - knownFailure);
/** With fewer trials no estimator could be caught. */
export const auditTrialsMin = 500;
/**
 * Shares of the trials: a first exploring round over every pair, a second over the best pairs, and
 * in a long audit a third over the best two. The rest is counted.
 */
const shares = { first: 0.2, second: 0.2, third: 0.1 } as const;
/** Trials per side in an exploring round. Fewer show nothing. */
const lookMin = 25;
const lookMax = { first: 3_000, second: 15_000, third: 60_000 } as const;
const secondRound = 4;
const thirdRound = 2;
/** With fewer trials a third round would show no more than the second did. */
const longAudit = 200_000;
const eventsCounted = 2;

/**
 * A lower confidence bound on the epsilon of a release at the claim's delta.
 *
 * Claim: with probability at least 1 - 1e-6 over the audit's own randomness, the release is not
 * (epsilon', delta)-DP for any epsilon' < bound. So bound <= epsilon if the estimator keeps its
 * promise.
 * Why: pairs, statistics, thresholds and orders are chosen only from outputs of the first two
 * rounds. The last round runs fresh releases on the chosen pair. Their number is fixed before the
 * first of them, and a fair coin chooses the side of each. At most two events are counted. Each has
 * one bound (`epsilonBound`). For any event, epsilon >= log((P - delta) / Q). The bound by exact
 * losses (known-noise) may fail with probability 1e-6 / 2, and both of the others with the rest. It
 * assumes that noise has the law of its event, and counted outputs assume nothing.
 *
 * @throws InvalidParameterError on fewer trials than `auditTrialsMin`, or on no pairs.
 */
export async function audit(asked: AuditOptions): Promise<AuditResult> {
  const { claim, pairs, trials } = asked;
  const isCounting = trials !== 0 || asked.losses === undefined;
  if (isCounting && !(trials >= auditTrialsMin && Number.isSafeInteger(trials))) {
    throw new InvalidParameterError(`an audit needs at least ${auditTrialsMin} trials`, { trials });
  }
  if (pairs.length === 0) {
    throw new InvalidParameterError('an audit needs at least one pair of neighbours', {});
  }
  const known = asked.losses === undefined ? null
    : await auditKnownNoise({ ...asked.losses, claim, pairs, failure: knownFailure });
  const sampled = isCounting ? await sampledBound(asked) : uncounted;
  const bound = Math.max(sampled.bound, known?.bound ?? 0);
  return {
    ...sampled, claim, bound, sampled: sampled.bound, known, confidence: 1 - auditFailure,
    caught: bound > claim.epsilon,
  };
}

type Sampled = Pick<
  AuditResult, 'bound' | 'trials' | 'trialsCounted' | 'pair' | 'event' | 'pairsTried'
>;

const uncounted: Sampled = {
  bound: 0, trials: 0, trialsCounted: 0, pair: 'none', event: 'none', pairsTried: 0,
};

async function sampledBound(asked: AuditOptions): Promise<Sampled> {
  const search = new Search(asked);
  const { pair, events } = await search.chosen();
  const failure = sampledFailure(asked) / eventsCounted;
  const counts = await search.count(pair, events);
  let bound = 0;
  let best = events[0]?.event;
  events.forEach(({ event }, i) => {
    const found = epsilonBound(counts[i]!, event.over, asked.claim.delta, failure);
    if (found > bound) [bound, best] = [found, event];
  });
  return {
    bound,
    trials: search.done,
    trialsCounted: search.counted,
    pair: pair.name,
    event: best === undefined ? 'none' : nameOf(best),
    pairsTried: search.pairsTried,
  };
}

function nameOf({ statistic, refusals, over }: OutputEvent): string {
  const parts = [
    ...(statistic === null ? [] : [`${statistic.name} past a threshold`]),
    ...(refusals.size === 0 ? [] : ['refused']),
  ];
  return `${parts.join(' or ')}, likelier on the ${over === 'left' ? 'first' : 'second'} side`;
}

/** The number of heads among `trials` fair coins. O(trials / 32). */
function heads(trials: number, coins: NoiseSource): number {
  const bits = new RandomBits(coins);
  let count = 0;
  for (let left = trials; left > 0; left -= 32) {
    let word = bits.word();
    if (left < 32) word >>>= 32 - left;
    for (; word !== 0; word &= word - 1) count += 1;
  }
  return count;
}

interface Ranked {
  readonly pair: NeighbourPair;
  readonly outputs: Outputs;
  readonly events: readonly Candidate[];
  readonly best: number;
}

interface Wanted {
  readonly pair: NeighbourPair;
  readonly side: Side;
  readonly trials: number;
  readonly label: string;
  readonly take: (block: OutputBlock) => void;
}

class Search {
  done = 0;
  counted = 0;
  pairsTried = 0;

  constructor(private readonly asked: AuditOptions) {}

  /** The pair that looks worst for the claim, and the events to count on it. */
  async chosen(): Promise<{ readonly pair: NeighbourPair; readonly events: readonly Candidate[] }> {
    const { trials } = this.asked;
    const most = Math.max(1, Math.floor((shares.first * trials) / (2 * lookMin)));
    const pairs = this.asked.pairs.slice(0, most);
    this.pairsTried = pairs.length;
    const first = await this.#look(pairs.map((pair) => ({ pair })), 'first');
    let found: readonly Ranked[] = first.slice(0, secondRound);
    if (pairs.length > 1) found = await this.#look(found, 'second');
    if (pairs.length > 1 && trials >= longAudit) {
      found = await this.#look(found.slice(0, thirdRound), 'third');
    }
    const { pair, events } = found[0]!;
    return { pair, events: events.slice(0, eventsCounted) };
  }

  /** Hits of fresh outputs in each event. Outputs are counted as they arrive and are not kept. */
  async count(pair: NeighbourPair, events: readonly Candidate[]): Promise<readonly EventCounts[]> {
    const { trials, affordable, coins } = this.asked;
    this.counted = Math.max(1, Math.floor(affordable?.(trials - this.done) ?? trials - this.done));
    const left = heads(this.counted, coins);
    const sides = { left, right: this.counted - left };
    const hits = events.map(() => ({ left: 0, right: 0 }));
    const each = (side: Side) => (block: OutputBlock): void => {
      events.forEach(({ event }, i) => {
        hits[i]![side] += countHits(event, block);
      });
    };
    await this.#run((['left', 'right'] as const)
      .map((side) => ({ pair, side, trials: sides[side], label: 'count', take: each(side) })),
      this.done + this.counted);
    return hits.map((found) => ({ hits: found, trials: sides }));
  }

  async #look(
    entries: readonly { readonly pair: NeighbourPair; readonly outputs?: Outputs }[],
    round: keyof typeof shares,
  ): Promise<readonly Ranked[]> {
    const { trials, claim } = this.asked;
    const share = Math.floor((shares[round] * trials) / entries.length / 2);
    const perSide = Math.max(10, Math.min(share, lookMax[round]));
    const taken = entries.map(() => ({ left: [] as OutputBlock[], right: [] as OutputBlock[] }));
    const wanted = entries.flatMap(({ pair }, i) => (['left', 'right'] as const)
      .map((side) => ({ pair, side, trials: perSide, label: round, take: (block: OutputBlock) => {
        taken[i]![side].push(block);
      } })));
    await this.#run(wanted, trials);
    const choice = {
      delta: claim.delta,
      failure: sampledFailure(this.asked) / eventsCounted,
      trials: Math.floor((trials - this.done) / 2),
    };
    const ranked = entries.map(({ pair, outputs }, i): Ranked => {
      const all: Outputs = {
        left: joined(outputs?.left, taken[i]!.left),
        right: joined(outputs?.right, taken[i]!.right),
      };
      const events = chooseEvents(all, { ...choice, entries: pair.entries });
      return { pair, outputs: all, events, best: events[0]?.expected ?? -Infinity };
    });
    return ranked.sort((one, two) => (two.best > one.best ? 1 : two.best < one.best ? -1 : 0));
  }

  /**
   * Runs requests in chunks, as many at once as the pool allows. Each taker gets its chunks in
   * order.
   */
  async #run(wanted: readonly Wanted[], total: number): Promise<void> {
    const { pool, onProgress, chunk = 1000 } = this.asked;
    const running: {
      readonly block: Promise<OutputBlock>; readonly take: (block: OutputBlock) => void;
    }[] = [];
    const settle = async (): Promise<void> => {
      const { block, take } = running.shift()!;
      const outputs = await block;
      take(outputs);
      this.done += outputs.count;
      onProgress?.(this.done, total);
    };
    for (const { pair, side, trials: count, label, take } of wanted) {
      for (let start = 0; start < count; start += chunk) {
        while (running.length >= pool.parallelism) await settle();
        const size = Math.min(chunk, count - start);
        const request = {
          pair, side, trials: size, label: `${label}/${pair.name}/${side}/${start}`,
        };
        const block = pool.run(request);
        // A failure is thrown where the block is awaited. Until then it must not count as
        // unhandled.
        block.catch(() => {});
        running.push({ block, take });
      }
    }
    while (running.length > 0) await settle();
  }
}

function joined(before: OutputBlock | undefined, blocks: readonly OutputBlock[]): OutputBlock {
  const all = before === undefined ? blocks : [before, ...blocks];
  const width = all[0]!.width;
  const values = new Float64Array(all.reduce((sum, block) => sum + block.values.length, 0));
  let offset = 0;
  for (const block of all) {
    values.set(block.values, offset);
    offset += block.values.length;
  }
  return { count: values.length / width, width, values };
}
