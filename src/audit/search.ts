import type { NeighbourPair, TrialPool } from './contract.js';
import { crowds, interleaved, pairsWithin, part, type Crowd, type PairFacts } from './pairs.js';

/** How a search for pairs goes about. */
export interface SearchOptions {
  /** Trials by which a share of refusals is judged; default 60. The search costs some 20 times as many. */
  readonly glance?: number;
}

const glanceDefault = 60;
const halvings = 9;
/** Of the size at which half the releases are refused: hardly any is, and a release is as cheap as it can be. */
const comfort = 2;

/**
 * Neighbouring pairs to audit an estimator with, those likeliest to tell something first: within crowds that stand
 * still and crowds that are spread, no larger than an answer takes, and within parts of them so small that about half
 * the releases are refused, where one contributor decides most. None of the trials is counted in a bound.
 */
export async function searchPairs(
  facts: PairFacts,
  pool: TrialPool,
  { glance = glanceDefault }: SearchOptions = {},
): Promise<readonly NeighbourPair[]> {
  const lists: (readonly NeighbourPair[])[] = [];
  const { dimension } = facts.facts;
  for (const crowd of crowds(facts)) {
    const atAll = await refusedShare(crowd, facts, pool, glance);
    // Where nearly everything is refused, as when rows that all coincide have no scale, there is little to see.
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

/** A pair on which a release takes as long as on any, to judge the speed of trials by. */
export function largestPair(facts: PairFacts): NeighbourPair {
  const [, spread] = crowds(facts);
  return pairsWithin(spread!, facts, 'few')[0]!;
}

/** A part of the crowd for which refusal and answer are about as likely; null when there is none. */
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
  // Down to a person or two without refusing: this estimator always answers.
  return refusing === 1 ? null : part(crowd, answering, dimension);
}

async function refusedShare(crowd: Crowd, facts: PairFacts, pool: TrialPool, glance: number): Promise<number> {
  const [pair] = pairsWithin(crowd, facts, 'few');
  const block = await pool.run({ pair: pair!, side: 'left', trials: glance, label: `glance/${crowd.name}` });
  let refused = 0;
  for (let row = 0; row < block.count; row++) if (block.values[row * block.width] !== 0) refused += 1;
  return refused / block.count;
}
