import { InvalidParameterError } from '../base/errors.js';
import type { AuditResult, Claim, NeighbourPair, OutputBlock, Side, TrialPool } from './contract.js';
import {
  chooseEvents, countHits, epsilonBound, type Candidate, type EventCounts, type OutputEvent, type Outputs,
} from './events.js';

/** What to audit, and how long. */
export interface AuditAsked {
  readonly claim: Claim;
  /** At least one. */
  readonly pairs: readonly NeighbourPair[];
  readonly pool: TrialPool;
  /** Releases to run in all, both sides of all pairs together. */
  readonly trials: number;
  readonly onProgress?: (done: number, total: number) => void;
}

/** The bound may be above the truth with this probability. */
export const auditFailure = 1e-6;
/** Fewer could not prove anything about any estimator. */
export const auditTrialsMin = 2000;
/** Releases per request. */
const chunk = 1000;
/** Of all trials: a first look at every pair, a second at the pairs that looked best. The rest counts. */
const shares = { first: 0.2, second: 0.2 } as const;
const secondRound = 4;
const eventsCounted = 4;
/** Outputs of a side that are kept to learn from. */
const keptMax = 60_000;

/**
 * A lower confidence bound on the epsilon of a release at the claim's delta.
 *
 * Claim. With probability at least 1 - 1e-6 over the audit's own noise, the release is not (epsilon', delta)-DP for
 * any epsilon' < bound, so bound <= epsilon whenever the estimator keeps its promise.
 * Why: pairs, statistics, thresholds and orders are all chosen from outputs of the first two rounds. The last round
 * runs fresh releases on the chosen pair, whose number was fixed before; each of at most four events has two
 * Clopper-Pearson bounds, and each of these eight at most is allowed 1e-6 / 8. For any event,
 * epsilon >= log((P - delta) / P').
 *
 * @throws InvalidParameterError on fewer trials than `auditTrialsMin`, or no pair.
 */
export async function audit(asked: AuditAsked): Promise<AuditResult> {
  const { claim, pairs, trials } = asked;
  if (!(trials >= auditTrialsMin && Number.isSafeInteger(trials))) {
    throw new InvalidParameterError(`an audit needs at least ${auditTrialsMin} trials`, { trials });
  }
  if (pairs.length === 0) throw new InvalidParameterError('an audit needs at least one pair of neighbours', {});
  const search = new Search(asked);
  const { pair, events } = await search.chosen();
  const perSide = Math.max(1, Math.floor((trials - search.done) / 2));
  const failure = auditFailure / (2 * eventsCounted);
  const counts = await search.count(pair, events, perSide);
  let bound = 0;
  let best = events[0]?.event;
  events.forEach(({ event }, i) => {
    const found = epsilonBound(counts[i]!, event.over, claim.delta, failure);
    if (found > bound) [bound, best] = [found, event];
  });
  return {
    claim,
    bound,
    confidence: 1 - auditFailure,
    trials: search.done,
    trialsCounted: 2 * perSide,
    pair: pair.name,
    event: best === undefined ? 'none' : nameOf(best),
    pairsTried: pairs.length,
    caught: bound > claim.epsilon,
  };
}

function nameOf({ statistic, refusals, over }: OutputEvent): string {
  const parts = [
    ...(statistic === null ? [] : [`${statistic.name} past a threshold`]),
    ...(refusals.size === 0 ? [] : ['refused']),
  ];
  return `${parts.join(' or ')}, likelier on the ${over === 'left' ? 'first' : 'second'} side`;
}

interface Ranked {
  readonly pair: NeighbourPair;
  readonly outputs: Outputs;
  readonly events: readonly Candidate[];
  readonly best: number;
}

class Search {
  done = 0;

  constructor(private readonly asked: AuditAsked) {}

  /** The pair that looks worst for the claim, and the events to count on it. */
  async chosen(): Promise<{ readonly pair: NeighbourPair; readonly events: readonly Candidate[] }> {
    const { pairs } = this.asked;
    const first = await this.#look(pairs.map((pair) => ({ pair })), shares.first, 'first');
    const few = first.slice(0, secondRound);
    const second = pairs.length === 1 ? few : await this.#look(few, shares.second, 'second');
    const [found] = second;
    return { pair: found!.pair, events: found!.events.slice(0, eventsCounted) };
  }

  /** Hits of fresh outputs in each event. Outputs are counted as they come and not kept. */
  async count(pair: NeighbourPair, events: readonly Candidate[], perSide: number): Promise<readonly EventCounts[]> {
    const hits = events.map(() => ({ left: 0, right: 0 }));
    const each = (side: Side) => (block: OutputBlock): void => {
      events.forEach(({ event }, i) => {
        hits[i]![side] += countHits(event, block);
      });
    };
    const wanted = (['left', 'right'] as const)
      .map((side) => ({ pair, side, trials: perSide, label: 'count', take: each(side) }));
    await this.#run(wanted);
    return hits.map((found) => ({ hits: found, trials: { left: perSide, right: perSide } }));
  }

  async #look(
    entries: readonly { readonly pair: NeighbourPair; readonly outputs?: Outputs }[],
    share: number,
    label: string,
  ): Promise<readonly Ranked[]> {
    const { trials, claim } = this.asked;
    const perSide = Math.max(10, Math.floor((share * trials) / entries.length / 2));
    const taken = entries.map(() => ({ left: [] as OutputBlock[], right: [] as OutputBlock[] }));
    const wanted = entries.flatMap(({ pair }, i) => (['left', 'right'] as const)
      .map((side) => ({ pair, side, trials: perSide, label, take: keepIn(taken[i]![side]) })));
    await this.#run(wanted);
    const choice = {
      delta: claim.delta,
      failure: auditFailure / (2 * eventsCounted),
      trials: Math.floor((trials * (1 - shares.first - shares.second)) / 2),
    };
    const ranked = entries.map(({ pair, outputs }, i): Ranked => {
      const all: Outputs = {
        left: joined(outputs?.left, taken[i]!.left),
        right: joined(outputs?.right, taken[i]!.right),
      };
      const events = chooseEvents(all, choice);
      return { pair, outputs: all, events, best: events[0]?.expected ?? -Infinity };
    });
    return ranked.sort((one, two) => (two.best > one.best ? 1 : two.best < one.best ? -1 : 0));
  }

  /** Runs requests in chunks, as many at once as the pool likes; takers see their chunks in order. */
  async #run(wanted: readonly {
    readonly pair: NeighbourPair;
    readonly side: Side;
    readonly trials: number;
    readonly label: string;
    readonly take: (block: OutputBlock) => void;
  }[]): Promise<void> {
    const { pool, trials, onProgress } = this.asked;
    const running: { readonly block: Promise<OutputBlock>; readonly take: (block: OutputBlock) => void }[] = [];
    const settle = async (): Promise<void> => {
      const { block, take } = running.shift()!;
      const outputs = await block;
      take(outputs);
      this.done += outputs.count;
      onProgress?.(this.done, trials);
    };
    for (const { pair, side, trials: count, label, take } of wanted) {
      for (let start = 0; start < count; start += chunk) {
        while (running.length >= pool.parallelism) await settle();
        const size = Math.min(chunk, count - start);
        const request = { pair, side, trials: size, label: `${label}/${pair.name}/${side}/${start}` };
        const block = pool.run(request);
        // A failure is thrown where the block is awaited; those behind it must not count as unhandled meanwhile.
        block.catch(() => {});
        running.push({ block, take });
      }
    }
    while (running.length > 0) await settle();
  }
}

function keepIn(list: OutputBlock[]): (block: OutputBlock) => void {
  let kept = 0;
  return (block) => {
    if (kept >= keptMax) return;
    list.push(block);
    kept += block.count;
  };
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
