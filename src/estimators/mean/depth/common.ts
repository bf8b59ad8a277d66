import { ln } from '../../../base/elementary.js';
import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { countGrid, laplaceEvent } from '../../../privacy/accounting/calibration.js';
import type { GaussianEvent, LaplaceEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type {
  Infeasible, PooledRows, PrivacyTarget, StudyFacts,
} from '../../contract/estimator.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
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
  const epsilon = shareOf(target.epsilon, share);
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
    ? 3.1 * event.sigma : event.scale * ln(500)));
}

/** A refusal when fewer than a quarter of the planned contributors seem to have come. */
export function refusalOfFew(
  mechanisms: Mechanisms, rows: Sensitive<PooledRows>, event: GaussianEvent | LaplaceEvent,
  facts: StudyFacts,
): Released<Outcome | undefined> {
  const count = rows.map((pool) => Float64Array.of(pool.count));
  const { kind, name } = event;
  const noisy = kind === 'gaussian'
    ? mechanisms.gaussian(name, count) : mechanisms.laplace(name, count);
  return noisy.map(([present]): Outcome | undefined =>
    (present! >= facts.cohort / 4 ? undefined : participationBelowPlan(facts)));
}
