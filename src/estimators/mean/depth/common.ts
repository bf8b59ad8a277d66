import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { countGrid, laplaceEvent } from '../../../privacy/accounting/calibration.js';
import { pureForRho } from '../../../privacy/accounting/conversion.js';
import type { GaussianEvent, LaplaceEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type {
  Infeasible, PooledRows, PrivacyTarget, StudyFacts,
} from '../../contract/estimator.js';
import { participationBelowPlan } from '../../pooled/centred-mean.js';
import { rowsCohort } from '../../pooled/pool.js';
import { countEvent } from '../../pooled/query-events.js';
import { columnsMaximum } from './directions.js';

/** The plan of too many columns. */
export function tooManyColumns({ dimension }: StudyFacts): Infeasible | null {
  if (dimension <= columnsMaximum) return null;
  return {
    kind: 'infeasible',
    reason: `there are ${dimension} columns, and candidates can be laid out in at most `
      + `${columnsMaximum}`,
    remedy: 'fewer columns, or populous-mean',
  };
}

/**
 * Noise for the number of those present, which changes by at most 1 between neighbours: Gaussian,
 * or Laplace where the target is pure.
 */
export function presentEvent(target: PrivacyTarget, share: number): GaussianEvent | LaplaceEvent {
  if (target.isPure !== true) return countEvent('present', shareOf(target.rho, share));
  const epsilon = pureForRho(target.rho) * share;
  return laplaceEvent({
    name: 'present', cohort: rowsCohort, dimension: 1, sensitivity: 1, epsilon,
    grid: countGrid(1 / epsilon),
  });
}

/**
 * With fewer contributors, noise alone may pass for a quarter of them, or hide as many, one time in
 * a thousand.
 */
export function cohortForPresent(event: GaussianEvent | LaplaceEvent): number {
  return Math.ceil(4 * (event.kind === 'gaussian'
    ? 3.1 * event.sigma : event.scale * Math.log(500)));
}

/** A refusal when fewer than a quarter of the planned contributors seem to have come. */
export function refusalOfFew(
  mechanisms: Mechanisms, rows: Sensitive<PooledRows>, event: GaussianEvent | LaplaceEvent,
  facts: StudyFacts,
): Released<Outcome | undefined> {
  const count = rows.map((pool) => Float64Array.of(pool.count));
  const { kind, name } = event;
  const noisy = kind === 'gaussian' ? mechanisms.gaussian(name, count) : mechanisms.laplace(name, count);
  return noisy.map(([present]): Outcome | undefined => present! >= cohort / 4 ? undefined : {
    kind: 'refused',
    reason: 'participation-below-plan',
    text: `the noisy count is below a quarter of the ${cohort} contributors planned for: `
      + 'plan for a smaller cohort or wait longer',
  });
}

/** The refusal of a release that found no place with enough rows. */
export function placeNotFound({ cohort }: StudyFacts, columns: readonly number[]): Outcome {
  return {
    kind: 'refused',
    reason: 'centre-not-found',
    text: 'no stretch of four scales held enough rows in column '
      + `${columns.map((j) => j + 1).join(', ')} (counted from 1). `
      + `Either far fewer contributors came than the ${cohort} planned for: lower cohort, or wait `
      + 'longer. Or their rows vary by more than one scale: raise scale.',
  };
}

export function onlyPool(summaries: FinishedSummaries): Sensitive<PooledRows> {
  const finished = summaries.get(wholeCohort.name);
  assert(finished !== undefined, 'a release gets the summaries of its plan');
  return finished.map(([only]) => {
    assert(only?.kind === 'pooled', 'the rows come in one pool');
    return only.rows;
  });
}

/** Dividing by a scale keeps one contributor one row; an entry that leaves the doubles makes it the null row. */
export function rowsInScale({ count, dimension, values }: PooledRows, scale: Float64Array): RowBlock {
  const scaled = new Float64Array(count * dimension);
  for (let i = 0; i < scaled.length; i++) scaled[i] = values[i]! / scale[i % dimension]!;
  return { count, dimension, values: scaled };
}

/** A chosen candidate in data units. */
export function chosenPlace(place: Float64Array, scale: Float64Array, spacing: number): Outcome {
  const estimate = Array.from(place, (entry, j) => entry * scale[j]!);
  if (!estimate.every((entry) => Number.isFinite(entry))) {
    return {
      kind: 'refused', reason: 'numerical-failure', text: 'the chosen place times scale is beyond the range of doubles',
    };
  }
  const widest = scale.reduce((left, right) => Math.max(left, right));
  return {
    kind: 'value', estimate, shape: [estimate.length], uncertainty: { kind: 'grid', spacing: spacing * widest },
  };
}
