import { normalQuantile } from '../numerics/normal.js';
import type { NeighbourPair, TrialPool } from './contract.js';
import {
  crowds, divideGroups, interleaved, pairsWithin, part, type Crowd, type PairFacts,
} from './pairs.js';

/** Settings of a search for pairs. */
export interface SearchOptions {
  /**
   * Trials for one estimate of the share of refusals. Default 60. The search runs about 20 times as
   * many.
   */
  readonly glance?: number;
  /** True if parts of a crowd are searched, which takes most of the trials. Default true. */
  readonly parts?: boolean;
}

const glanceDefault = 60;
const halvings = 9;
/** No failure rarer than this is looked for. */
const rareFailure = 1e-9;
/**
 * A multiple of the size at which half of the releases are refused. At this size few are refused,
 * and a release is cheap.
 */
const comfort = 2;

/**
 * Neighbouring pairs for an audit, the most promising ones first. It uses crowds in which nobody
 * else moves and crowds that are spread, both no larger than an answer needs. It also uses parts of
 * them so small that about half of the releases are refused, because there one contributor decides
 * most. Where groups have to agree, it also looks for so few that do. No bound counts these trials.
 */
export async function searchPairs(
  facts: PairFacts,
  pool: TrialPool,
  { glance = glanceDefault, parts = true }: SearchOptions = {},
): Promise<readonly NeighbourPair[]> {
  const lists: (readonly NeighbourPair[])[] = [];
  if (parts) lists.push(...await pairsOfGroups(facts, pool, glance));
  const { dimension } = facts.facts;
  for (const crowd of crowds(facts)) {
    if (!parts) {
      lists.push(pairsWithin(crowd, facts));
      continue;
    }
    const atAll = await refusedShare(crowd, facts, pool, glance);
    // If nearly everything is refused, little can be seen. Rows that all coincide have no spread,
    // for example.
    if (atAll > 0.9) {
      lists.push(pairsWithin(crowd, facts, 'few').slice(0, 2));
      continue;
    }
    const edge = await edgeOf({
      crowdOf: (count) => part(crowd, count, dimension), refusing: 1, answering: crowd.count, atAll,
    }, facts, pool, glance);
    const enough = edge === null ? crowd.count : Math.ceil(comfort * edge) + 1;
    lists.push(pairsWithin(enough < crowd.count ? part(crowd, enough, dimension) : crowd, facts));
    if (edge !== null) lists.push(pairsWithin(part(crowd, edge, dimension), facts, 'few'));
  }
  return interleaved(lists);
}

/** Pairs for estimators that ask what most groups found: at three shares of groups that agree. */
async function pairsOfGroups(
  facts: PairFacts, pool: TrialPool, glance: number,
): Promise<readonly (readonly NeighbourPair[])[]> {
  const divided = divideGroups(facts);
  if (divided === null) return [];
  const { groups, crowdOf } = divided;
  const atAll = await refusedShare(crowdOf(groups), facts, pool, glance);
  const refusing = Math.floor(groups / 2);
  const edge = await edgeOf({ crowdOf, refusing, answering: groups, atAll }, facts, pool, glance);
  return edge === null ? [] : agreeingMore(facts).map((more) =>
    pairsWithin(crowdOf(Math.min(groups, edge + more)), facts, 'few'));
}

/**
 * Groups beyond those for which a threshold test passes half the time, so many that it fails as
 * seldom as twice the claim's delta, half as many, and none. One group moves what is tested by the
 * sensitivity at most. A rare failure tells the sides apart best.
 */
function agreeingMore({ plan, facts }: PairFacts): readonly number[] {
  const reach = normalQuantile(1 - Math.max(2 * facts.target.delta, rareFailure));
  const test = plan.events.find(({ kind }) => kind === 'gaussian-threshold');
  if (test?.kind !== 'gaussian-threshold') return [0];
  const most = reach * test.sigma / test.sensitivity;
  return [...new Set([most, most / 2, 0].map(Math.ceil))];
}

/** A pair whose releases take as long as any. Use it to measure the speed of trials. */
export function largestPair(facts: PairFacts): NeighbourPair {
  const [, spread] = crowds(facts);
  return pairsWithin(spread!, facts, 'few')[0]!;
}

/** Crowds by size: at `refusing` most releases are refused, and at `answering` a share `atAll`. */
interface Sizes {
  readonly crowdOf: (size: number) => Crowd;
  readonly refusing: number;
  readonly answering: number;
  readonly atAll: number;
}

/**
 * The size at which refusals and answers are about equally frequent; null if there is none.
 */
async function edgeOf(
  sizes: Sizes, facts: PairFacts, pool: TrialPool, glance: number,
): Promise<number | null> {
  if (sizes.atAll > 0.5) return null;
  let { refusing, answering } = sizes;
  for (let step = 0; step < halvings && answering - refusing > 1; step++) {
    const size = Math.floor((refusing + answering) / 2);
    const share = await refusedShare(sizes.crowdOf(size), facts, pool, glance);
    if (share > 0.5) refusing = size;
    else answering = size;
  }
  // No refusal at the smallest sizes: this estimator always answers.
  return refusing === sizes.refusing ? null : answering;
}

async function refusedShare(
  crowd: Crowd, facts: PairFacts, pool: TrialPool, glance: number,
): Promise<number> {
  const [pair] = pairsWithin(crowd, facts, 'few');
  const block =
    await pool.run({ pair: pair!, side: 'left', trials: glance, label: `glance/${crowd.name}` });
  let refused = 0;
  for (let row = 0;
      row < block.count; row++) if (block.values[row * block.width] !== 0) refused += 1;
  return refused / block.count;
}
