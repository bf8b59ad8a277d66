import type { NeighbourPair, TrialPool } from './contract.js';
import { crowds, interleaved, pairsWithin, part, type Crowd, type PairFacts } from './pairs.js';

/** Settings of a search for pairs. */
export interface SearchOptions {
  /**
   * Trials for one estimate of the share of refusals. Default 60. The search runs about 20 times as
   * many.
   */
  readonly glance?: number;
  /** Whether to look for parts of a crowd, which takes most of the trials. Default true. */
  readonly parts?: boolean;
}

const glanceDefault = 60;
const halvings = 9;
/**
 * A multiple of the size at which half of the releases are refused. At this size few are refused,
 * and a release is cheap.
 */
const comfort = 2;

/**
 * Neighbouring pairs for an audit, the most promising ones first. It uses crowds in which nobody
 * else moves and crowds that are spread, both no larger than an answer needs. It also uses parts of
 * them so small that about half of the releases are refused, because there one contributor decides
 * most. No bound counts these trials.
 */
export async function searchPairs(
  facts: PairFacts,
  pool: TrialPool,
  { glance = glanceDefault, parts = true }: SearchOptions = {},
): Promise<readonly NeighbourPair[]> {
  const lists: (readonly NeighbourPair[])[] = [];
  const { dimension } = facts.facts;
  for (const crowd of crowds(facts)) {
    if (!parts) {
      lists.push(pairsWithin(crowd, facts));
      continue;
    }
    const atAll = await refusedShare(crowd, facts, pool, glance);
    // If nearly everything is refused, little can be seen. Rows that all coincide have no scale,
    // for example.
    if (atAll > 0.9) {
      lists.push(pairsWithin(crowd, facts, 'few').slice(0, 2));
      continue;
    }
    const edge = await edgeOf(crowd, facts, pool, { atAll, glance });
    const enough = edge === null ? crowd.count : Math.ceil(comfort * edge.count) + 1;
    lists.push(pairsWithin(enough < crowd.count ? part(crowd, enough, dimension) : crowd, facts));
    if (edge !== null) lists.push(pairsWithin(edge, facts, 'few'));
  }
  return interleaved(lists);
}

/** A pair whose releases take as long as any. Use it to measure the speed of trials. */
export function largestPair(facts: PairFacts): NeighbourPair {
  const [, spread] = crowds(facts);
  return pairsWithin(spread!, facts, 'few')[0]!;
}

/**
 * A part of the crowd for which refusals and answers are about equally frequent; null if there is
 * none.
 */
async function edgeOf(
  crowd: Crowd,
  facts: PairFacts,
  pool: TrialPool,
  { atAll, glance }: { readonly atAll: number; readonly glance: number },
): Promise<Crowd | null> {
  if (atAll > 0.5) return null;
  let refusing = 1;
  let answering = crowd.count;
  const { dimension } = facts.facts;
  for (let step = 0; step < halvings && answering - refusing > 1; step++) {
    const count = Math.floor((refusing + answering) / 2);
    const share = await refusedShare(part(crowd, count, dimension), facts, pool, glance);
    if (share > 0.5) refusing = count;
    else answering = count;
  }
  // No refusal with one or two people: this estimator always answers.
  return refusing === 1 ? null : part(crowd, answering, dimension);
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
