import { assert } from '../../base/assert.js';
import type { Released, Sensitive } from '../../base/brands.js';
import type { Outcome } from '../../base/outcome.js';
import type { Mechanisms } from '../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../privacy/stages/rows.js';
import { privateScaleOn, slotsForScale } from '../../privacy/stages/scale.js';
import type {
  CohortPlan, Compute, FinishedSummaries, PooledRows,
} from '../contract/estimator.js';
import { scaleNotFound, type ScaleChoice } from './scale-choice.js';

/** The cohort of estimators that keep all rows in one pool. */
export const rowsCohort = 'rows';

/** A cohort whose rows are kept until the release. @param share - of the contributors. */
export function pooledCohort(name = rowsCohort, share = 1): CohortPlan {
  return { name, share, unit: 'row', mode: 'pooled', groups: 1 };
}

/** The rows of a pooled cohort. */
export function poolOf(summaries: FinishedSummaries, cohort = rowsCohort): Sensitive<PooledRows> {
  const finished = summaries.get(cohort);
  assert(finished !== undefined, 'a release gets the summaries of its plan');
  return finished.map(([only, ...more]) => {
    assert(only?.kind === 'pooled' && more.length === 0, 'the rows come in one pool');
    return only.rows;
  });
}

/**
 * The rows divided by a scale. One contributor stays one row. An entry that leaves the range of
 * doubles makes its row the null row.
 */
export function rowsInScale(
  { count, dimension, values }: PooledRows, scale: Float64Array,
): RowBlock {
  const scaled = new Float64Array(count * dimension);
  for (let i = 0; i < scaled.length; i++) scaled[i] = values[i]! / scale[i % dimension]!;
  return { count, dimension, values: scaled };
}

/**
 * Releases in the scale that is given, or in the one that is found first; refuses when none is
 * found.
 */
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
