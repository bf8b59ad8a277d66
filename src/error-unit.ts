import type { ParameterValues, Plan } from './estimators/contract/estimator.js';

/** A unit that people know: an error of a plan times `factor` is in `name`. */
export interface ErrorUnit {
  readonly factor: number;
  /** As it stands behind a number, and after "errors are in". */
  readonly name: string;
}

/** The public numbers of a plan by which its errors are converted. */
export interface PlannedFacts {
  readonly cohort: number;
  readonly parameters: ParameterValues;
  readonly facts: Plan['facts'];
  /** The unit of the only column, where the study states it. */
  readonly unit?: string;
}

const ofCohort = /^shares of the cohort/;

/**
 * The unit of a plan's errors for people: shares of a cohort are people, and spreads of one column
 * whose spread is known are units of that column. Others keep the unit that they have.
 * @param unit - the plan's, such as `spreads`.
 */
export function errorUnit(
  unit: string, { cohort, parameters, facts, unit: ofColumn = 'units of the column' }: PlannedFacts,
): ErrorUnit {
  if (ofCohort.test(unit)) return { factor: cohort, name: unit.replace(ofCohort, 'people') };
  if (unit.startsWith('shares of the contributors, by which')) {
    return { factor: 100, name: unit.replace('shares of the contributors', '% of the people') };
  }
  // Several columns have several spreads, and `auto` has none yet.
  const spread = Number(facts['spread']);
  if (unit === 'spreads' && spread > 0) return { factor: spread, name: ofColumn };
  if (facts['keys'] !== undefined) return { factor: 1, name: unit };
  // Without keys it is that of a share, a mean of values from 0 to 1.
  if (unit.startsWith('half the width of the range')) {
    return { factor: 50, name: 'percentage points' };
  }
  const bounds = [parameters['cap'], parameters['range']].find(Array.isArray)?.map(Number);
  const isOne = bounds?.length === (parameters['cap'] === undefined ? 2 : 1);
  if (unit.startsWith('shares of the total') && isOne) {
    // The most that one person moves a total, who may be absent.
    const reach = Math.max(0, ...bounds) - Math.min(0, ...bounds);
    return { factor: cohort * reach, name: ofColumn };
  }
  return { factor: 1, name: unit };
}
