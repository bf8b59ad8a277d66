import { InvalidParameterError } from '../../base/errors.js';
import { checkObject, checkWhole, kindOf } from '../../base/given.js';
import { protocolLimits } from '../../base/limits.js';
import { questionLimits } from '../../base/questions.js';
import type {
  Estimator, Infeasible, KeyFacts, ParameterSpec, ParameterValues, Participation, Plan, StudyFacts,
} from './estimator.js';

/**
 * How many columns a row has besides the place of its key, and besides the number of keys of its
 * contributor where the answer is keys alone. Parameters of a keyed question are
 * parsed with this as `dimension`, or with 1 where it is 0.
 */
export function columnsOf({ dimension, keys }: Pick<StudyFacts, 'dimension' | 'keys'>): number {
  if (keys === undefined) return dimension;
  return dimension - (keys.list === 'discovered' && keys.answer === 'groups' ? 2 : 1);
}

/**
 * The estimator, frozen, with a plan that first checks what callers without types may get wrong:
 * O(parameters). `Name` is its name where that is one of Keelson's own, for the types of its
 * parameters: test/types holds it.
 */
export function defineEstimator<Name extends string = string>(
  estimator: Estimator,
): Estimator<Name> {
  return Object.freeze({
    ...estimator,
    name: estimator.name as Name,
    plan: (values: ParameterValues, facts: StudyFacts) => {
      checkFacts(facts);
      if (facts.keys !== undefined) checkKeys(estimator, facts.keys);
      checkParsed(estimator, values, Math.max(1, columnsOf(facts)));
      return estimator.plan(values, facts);
    },
  });
}

/** @throws InvalidParameterError naming the fact and its range. */
function checkFacts(facts: StudyFacts): void {
  checkObject(facts, 'the facts of a plan are { dimension, cohort, participation, target }');
  checkDimension(facts.dimension);
  checkWhole(
    facts.cohort, 'cohort, the public number of contributors,', 1, protocolLimits.cohortMax,
  );
  const { participation, target } = facts;
  if (participation !== 'secret' && participation !== 'public') {
    throw new InvalidParameterError(
      'participation is neither "secret" nor "public": give one of them',
    );
  }
  checkObject(target, 'target is what privacyTarget({ epsilon, delta }) returns');
  const { rho, delta, epsilon, deltaTotal } = target;
  const amounts = [rho, delta, epsilon, deltaTotal];
  if (amounts.every((amount) => amount >= 0 && amount < Infinity)) return;
  throw new InvalidParameterError(
    'target has no rho, delta, epsilon and deltaTotal: '
    + 'make it with privacyTarget({ epsilon, delta })',
  );
}

/** @throws InvalidParameterError for keys that the estimator cannot split its answer by. */
function checkKeys({ name, keyed = [] }: Estimator, keys: KeyFacts): void {
  checkObject(keys, 'groups, the groups of a question, are { list, groupsMax, count }');
  if (!keyed.includes(keys.list)) {
    throw new InvalidParameterError(
      `estimator ${name} cannot split its answer by groups that are ${keys.list}: `
      + 'leave by out, or choose an estimator that can, such as count',
      { path: 'by', list: keys.list },
    );
  }
  checkWhole(keys.groupsMax, 'groupsMax, the groups of one contributor,', 1, questionLimits.keys);
  if (keys.list === 'public') {
    checkWhole(keys.count, 'count, the number of public groups,', 1, questionLimits.keys);
  } else {
    checkWhole(keys.top, 'top, the groups that are shown at most,', 1, questionLimits.keys);
    checkWhole(
      keys.prefilter, 'prefilter, the contributors of a group at least,', 1,
      protocolLimits.cohortMax,
    );
  }
}

/**
 * @throws InvalidParameterError when parameters are missing, or not in the form of
 *   `parseParameters`.
 */
function checkParsed(
  { name, parameters }: Estimator, values: ParameterValues, dimension: number,
): void {
  const remedy =
    'give what parseParameters(estimator.parameters, { ... }, { dimension }) returns';
  checkObject(values, `the parameters of ${name} are an object: ${remedy}`);
  const wrong = parameters.find((spec) => !isParsed(spec, values[spec.name], dimension));
  if (wrong === undefined) return;
  throw new InvalidParameterError(`parameters.${wrong.name} of ${name} is not parsed: ${remedy}`, {
    path: `parameters.${wrong.name}`,
  });
}

function isParsed(spec: ParameterSpec, value: unknown, dimension: number): boolean {
  if (value === undefined) return spec.optional === true && spec.default === undefined;
  switch (spec.type) {
    case 'number':
    case 'integer':
      return Number.isFinite(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'choice':
    case 'list':
      return typeof value === 'string';
    case 'numbers':
      return Array.isArray(value);
    case 'range':
      return Array.isArray(value) && value.length === 2 * dimension;
    case 'positive':
      return typeof value === 'string' || (Array.isArray(value) && value.length === dimension);
  }
}

/** @throws InvalidParameterError unless it is a number of columns. */
export function checkDimension(dimension: unknown): void {
  checkWhole(dimension, 'dimension, the number of columns,', 1, protocolLimits.columns);
}

/** @throws InvalidParameterError for more columns than the estimator takes. */
export function checkColumnsMax(name: string, dimension: number, columnsMax: number): void {
  if (dimension <= columnsMax) return;
  throw new InvalidParameterError(
    `estimator ${name} takes at most ${columnsMax} columns: leave out columns, or plan several `
      + 'studies',
    { path: 'columns', dimension, columnsMax },
  );
}

/**
 * @throws InvalidParameterError for what is no plan, with the reason of a plan that is infeasible.
 */
export function checkPlan(plan: Plan | Infeasible): asserts plan is Plan {
  checkObject(plan, 'plan is what estimator.plan(parameters, facts) returns');
  const { kind, reason, remedy } = plan as { kind?: unknown; reason?: unknown; remedy?: unknown };
  if (kind === 'infeasible') {
    const text = `the plan is infeasible: ${String(reason)}; ${String(remedy)}`;
    throw new InvalidParameterError(text);
  }
  if (kind === 'plan') return;
  throw new InvalidParameterError(
    `plan is ${kindOf(plan)} without a plan's kind: `
    + 'give what estimator.plan(parameters, facts) returns',
  );
}

/**
 * @throws InvalidParameterError for a row without `dimension` entries. Says nothing of its values.
 */
export function checkRow(row: ArrayLike<number>, dimension: number): void {
  const isList = typeof row === 'object' && row !== null;
  if (isList && row.length === dimension) return;
  const found = isList ? `has ${row.length} entries` : `is ${kindOf(row)}`;
  throw new InvalidParameterError(
    `a row ${found}, and dimension is ${dimension}: `
    + `give each row as a list of ${dimension} numbers`,
    { dimension },
  );
}

/** The meaning of the two choices, for messages. */
export const participationWords = {
  secret: 'it is also protected whether a person takes part',
  public: 'only what people send is protected, and who takes part is public',
} as const;

/** @throws InvalidParameterError that shows both choices. */
export function checkParticipation(participation: unknown): asserts participation is Participation {
  if (participation === 'secret' || participation === 'public') return;
  const found = participation === undefined ? 'is missing' : 'is neither "secret" nor "public"';
  throw new InvalidParameterError(`participation ${found}: give "secret" `
    + `(${participationWords.secret}) or "public" (${participationWords.public})`);
}
