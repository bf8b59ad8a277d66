import { assert } from '../../base/assert.js';
import type { Released, Sensitive } from '../../base/brands.js';
import type { Outcome } from '../../base/outcome.js';
import type { Mechanisms } from '../../privacy/mechanisms/contract.js';
import { privateScaleOn, slotsForScale } from '../../privacy/stages/scale.js';
import type { Compute, FinishedSummaries, PooledRows } from '../contract/estimator.js';
import { scaleNotFound, type ScaleChoice } from './scale-choice.js';

/** The rows of a pooled cohort. */
export function poolOf(summaries: FinishedSummaries, cohort: string): Sensitive<PooledRows> {
  const finished = summaries.get(cohort);
  assert(finished !== undefined, 'a release gets the summaries of its plan');
  return finished.map(([only]) => {
    assert(only?.kind === 'pooled', 'the rows come in one pool');
    return only.rows;
  });
}

/** Releases in the scale that is given, or in the one that is found first; refuses when none is found. */
export async function releaseWithScale(
  choice: ScaleChoice, compute: Compute, mechanisms: Mechanisms, pool: Sensitive<PooledRows>,
  releaseIn: (pool: Sensitive<PooledRows>, scale: Float64Array) => Promise<Released<Outcome>>,
): Promise<Released<Outcome>> {
  if (choice.kind === 'given') return releaseIn(pool, choice.scale);
  const { facts } = choice;
  const found = await privateScaleOn(compute, mechanisms, pool, slotsForScale(facts.cohort, choice.event));
  const scale = found.value;
  if (scale.kind === 'failed') return found.map<Outcome>(() => scaleNotFound(facts, scale.coordinates));
  return releaseIn(pool, scale.scale);
}
