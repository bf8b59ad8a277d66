import { assert } from '../../base/assert.js';
import type { Released, Sensitive } from '../../base/brands.js';
import type { Outcome } from '../../base/outcome.js';
import { privateCentre } from '../../privacy/stages/centre.js';
import type { Mechanisms } from '../../privacy/mechanisms/contract.js';
import { privateScale, slotsForScale } from '../../privacy/stages/scale.js';
import { centreNotFound } from './centred-mean.js';
import type { FinishedSummaries, PooledRows, StudyFacts } from '../contract/estimator.js';
import { scaleNotFound, type ScaleChoice } from './scale-choice.js';

/** A pool of rows, and where they are: both numbers public or released. */
export interface CentredPool {
  readonly pool: Sensitive<PooledRows>;
  readonly centre: Float64Array;
  /** Width of each column. */
  readonly scale: Float64Array;
}

/** What finding scale and centre needs. */
export interface CentredRelease {
  /** Cohort whose rows are pooled. */
  readonly cohort: string;
  readonly facts: StudyFacts;
  readonly choice: ScaleChoice;
  readonly summaries: FinishedSummaries;
  readonly mechanisms: Mechanisms;
}

/**
 * Finds the scale where the plan says so, then the centre, with the events of `chooseScale` and
 * `centreEvents`, and goes on from there. Refuses when either is not found; both refusals are
 * functions of what was released.
 */
export async function releaseAboutCentre(
  { cohort, facts, choice, summaries, mechanisms }: CentredRelease,
  goOn: (centred: CentredPool) => Promise<Released<Outcome>>,
): Promise<Released<Outcome>> {
  const finished = summaries.get(cohort);
  assert(finished !== undefined, 'a release gets the summaries of its plan');
  const pool = finished.map(([only]) => {
    assert(only?.kind === 'pooled', 'the rows come in one pool');
    return only.rows;
  });
  const inScale = async (scale: Float64Array): Promise<Released<Outcome>> => {
    const found = privateCentre(mechanisms, pool, facts.dimension, scale);
    const centre = found.value;
    if (centre.kind === 'failed') return found.map<Outcome>(() => centreNotFound(facts, centre.coordinates));
    return goOn({ pool, centre: centre.centre, scale });
  };
  if (choice.kind === 'given') return inScale(choice.scale);
  const found = privateScale(mechanisms, pool, facts.dimension, slotsForScale(facts.cohort, choice.event));
  const scale = found.value;
  if (scale.kind === 'failed') return found.map<Outcome>(() => scaleNotFound(facts, scale.coordinates));
  return inScale(scale.scale);
}
