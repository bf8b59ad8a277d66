import type { NeighbourPair, TrialPool } from './contract.js';
import { crowds, pairsWithin, part, type Crowd, type PairFacts } from './pairs.js';

/** Trials by which the share of refusals is judged. */
const glance = 60;
const halvings = 9;

/**
 * Neighbouring pairs to audit an estimator with: within crowds that stand still and crowds that are spread, and within
 * parts of them so small that about half the releases are refused, where one contributor decides most.
 * Costs some 600 trials a crowd to find these parts; none of them is counted in a bound.
 */
export async function searchPairs(facts: PairFacts, pool: TrialPool): Promise<readonly NeighbourPair[]> {
  const found: NeighbourPair[] = [];
  for (const crowd of crowds(facts)) {
    const atAll = await refusedShare(crowd, facts, pool);
    // Where nearly everything is refused, as when rows that all coincide have no scale, there is little to see.
    if (atAll > 0.9) {
      found.push(...pairsWithin(crowd, facts, 'few').slice(0, 2));
      continue;
    }
    found.push(...pairsWithin(crowd, facts));
    const edge = await edgeOf(crowd, facts, pool, atAll);
    if (edge !== null) found.push(...pairsWithin(edge, facts, 'few'));
  }
  return found;
}

/** A part of the crowd for which refusal and answer are about as likely; null when there is none. */
async function edgeOf(crowd: Crowd, facts: PairFacts, pool: TrialPool, atAll: number): Promise<Crowd | null> {
  if (atAll > 0.5) return null;
  let refusing = 1;
  let answering = crowd.count;
  const { dimension } = facts.facts;
  for (let step = 0; step < halvings && answering - refusing > 1; step++) {
    const count = Math.floor((refusing + answering) / 2);
    const share = await refusedShare(part(crowd, count, dimension), facts, pool);
    if (share > 0.5) refusing = count;
    else answering = count;
  }
  // Down to a person or two without refusing: this estimator always answers.
  return refusing === 1 ? null : part(crowd, answering, dimension);
}

async function refusedShare(crowd: Crowd, facts: PairFacts, pool: TrialPool): Promise<number> {
  const [pair] = pairsWithin(crowd, facts);
  const block = await pool.run({ pair: pair!, side: 'left', trials: glance, label: `glance/${crowd.name}` });
  let refused = 0;
  for (let row = 0; row < block.count; row++) if (block.values[row * block.width] !== 0) refused += 1;
  return refused / block.count;
}
