import { InvalidInputError, InvalidParameterError } from './base/errors.js';
import { checkList, checkOptions } from './base/given.js';
import { protocolLimits } from './base/limits.js';
import type { Outcome } from './base/outcome.js';
import type {
  Compute, Estimator, Infeasible, ParameterValues, Participation, Plan, PrivacyTarget,
} from './estimators/contract/estimator.js';
import { checkParticipation, checkRow } from './estimators/contract/given.js';
import { runOffline, type OwnedRows } from './estimators/run.js';
import { checkedPlan, planWithin, type PlanOptions } from './plan.js';
import { statementOf, type PrivacyStatement } from './privacy-statement.js';
import { createMechanisms } from './privacy/mechanisms/index.js';
import { secureNoise } from './random/secure.js';
import type { NoiseSource, WorkRandom } from './random/source.js';
import { seededRandom } from './random/work.js';

/** Options of `estimate`. */
export interface EstimateOptions<Name extends string = string> extends Pick<
  PlanOptions<Name>, 'estimator' | 'epsilon' | 'delta' | 'parameters' | 'participation'
> {
  /**
   * One row per contributor, each a list of as many numbers as there are columns. A row with a
   * number that is not finite is a contributor without data.
   */
  readonly rows: Iterable<ArrayLike<number>>;
  /** Number of columns. Default: the length of the first row. */
  readonly columns?: number;
  /**
   * The public number of contributors to plan for. It must be given with `participation: 'secret'`.
   * Default: the number of rows, which is public with `participation: 'public'`.
   */
  readonly cohort?: number;
}

/**
 * A released value, a release without one, or a plan that is not possible. `privacy` states its
 * cost.
 */
export type Estimate = (Outcome & { readonly privacy: PrivacyStatement }) | Infeasible;

/**
 * Runs one private estimator on rows at hand, with noise from the operating system. Each call
 * spends the privacy that it is asked for: two calls on the same people spend it twice. O(rows)
 * memory.
 * @returns the value with its uncertainty and interval; or a refusal, which is charged as well; or
 *   `infeasible` with what would help, when the numbers leave no plan. Nothing was drawn then.
 * @throws InvalidParameterError naming the option that is missing or out of range,
 *   InvalidInputError for rows that do not fit.
 * @example
 * import { estimate } from 'keelson';
 * import { mean } from 'keelson/estimators';
 * const answer = await estimate({
 *   estimator: mean, rows: [[61, 1.7], [70, 1.8]], epsilon: 1, delta: 1e-6,
 *   participation: 'public', parameters: { spread: [12, 0.1] },
 * });
 * if (answer.kind === 'value') console.log(answer.estimate, answer.interval95);
 * else console.log(answer.kind, answer);
 */
export async function estimate<Name extends string>(
  options: EstimateOptions<Name>,
): Promise<Estimate> {
  checkOptions(
    options, [
      'estimator', 'rows', 'epsilon', 'delta', 'parameters', 'columns', 'cohort', 'participation',
    ],
    'estimate',
  );
  const { estimator, cohort, participation } = options;
  checkParticipation(participation);
  checkCohort(participation, cohort);
  const { rows, dimension } = tableOf(options.rows, options.columns);
  const { target, parameters } = checkedPlan(options, dimension);
  return estimateTable({
    rows, dimension, estimator, target, parameters, cohort, participation, ...systemRandomness(),
  });
}

/** @throws InvalidParameterError where presence is protected and no public number is given. */
export function checkCohort(participation: Participation, cohort: number | undefined): void {
  if (participation !== 'secret' || cohort !== undefined) return;
  throw new InvalidParameterError('cohort is missing: with participation "secret" the number of '
    + 'rows is protected, so give the public number of contributors to plan for');
}

/** Randomness of the operating system for one run. */
export function systemRandomness(): Pick<TableRun, 'noise' | 'assignmentHashes' | 'work'> {
  const noise = secureNoise();
  const seed = new Uint8Array(32);
  noise.fill(seed);
  return { noise, assignmentHashes: noise, work: seededRandom(seed) };
}

/** Options of `estimateTable`. */
export interface TableRun {
  /** Used up by the run. */
  readonly rows: OwnedRows;
  readonly dimension: number;
  readonly estimator: Estimator;
  readonly parameters: ParameterValues;
  readonly target: PrivacyTarget;
  /** Undefined: the number of rows is public. Not so with secret participation. */
  readonly cohort: number | undefined;
  readonly participation: Participation;
  readonly noise: NoiseSource;
  /** They decide which contributors share a group: secret, so from a noise source. */
  readonly assignmentHashes: NoiseSource;
  readonly work: WorkRandom;
  readonly compute?: Compute;
}

/** The plan of a run. */
export function planTable(
  { rows, dimension, estimator, parameters, target, cohort, participation }: Pick<TableRun,
    'dimension' | 'estimator' | 'parameters' | 'target' | 'cohort' | 'participation'
  > & { readonly rows: Pick<OwnedRows, 'count'> },
): Plan | Infeasible {
  // A group without people is planned as for one.
  const size = cohort ?? Math.max(rows.count, 1);
  return planWithin(estimator, parameters, { dimension, cohort: size, participation, target });
}

/**
 * The release of `estimate`, with randomness and threads from the caller. Draws noise: each call is
 * charged.
 * @param plan - of this run, where it was made before.
 */
export async function estimateTable(run: TableRun, plan = planTable(run)): Promise<Estimate> {
  if (plan.kind === 'infeasible') return plan;
  const { rows, dimension, target, cohort, noise, assignmentHashes, work, compute } = run;
  const mechanisms = createMechanisms(plan.events, noise);
  const outcome = await runOffline({
    plan, dimension, rows, mechanisms, assignmentHashes, work,
    ...(compute === undefined ? {} : { compute }),
  });
  const statement = statementOf(plan, target);
  return { ...outcome, privacy: { ...statement, neighbours: neighboursOf(plan, cohort) } };
}

/** The data sets that a run makes hard to tell apart. */
export function neighboursOf({ guarantee }: Plan, cohort: number | undefined): string {
  return cohort === undefined ? contentsOnly : guarantee.neighbours;
}

/**
 * Without a public cohort the plan is made from the number of rows, so one row more or less may
 * change everything that the plan fixes: whatever the plan says for a fixed size, presence is not
 * protected.
 */
const contentsOnly = 'data with one contributor’s values, and with any others in their place; who '
  + 'is present, and so the number of rows, is public';

/** The rows as one table. @throws InvalidInputError for rows that do not fit. */
export function tableOf(
  rows: Iterable<ArrayLike<number>>, columns: number | undefined,
): { readonly rows: OwnedRows; readonly dimension: number } {
  checkList(rows, 'rows is a list of rows, each a list of numbers');
  const list: readonly ArrayLike<number>[] = Array.isArray(rows) ? rows : [...rows];
  if (list.length === 0) {
    throw new InvalidInputError('there are no rows: give one row per contributor');
  }
  if (list.length > protocolLimits.cohortMax) {
    throw new InvalidInputError(`${list.length} rows: at most ${protocolLimits.cohortMax} `
      + 'contributors are supported');
  }
  const dimension = columns ?? list[0]?.length ?? 0;
  const values = new Float64Array(list.length * dimension);
  list.forEach((row, i) => {
    checkRow(row, dimension);
    if (!Array.prototype.every.call(row, (entry) => typeof entry === 'number')) {
      throw new InvalidInputError(
        `row ${i + 1} holds something that is not a number: NaN stands for a missing value`,
      );
    }
    values.set(row, i * dimension);
  });
  return { rows: { count: list.length, values }, dimension };
}
