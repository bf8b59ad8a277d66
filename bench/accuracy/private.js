import { createComputePool } from '../../dist/server/compute/pool.js';
import { InvalidParameterError } from '../../dist/src/base/errors.js';
import { utf8 } from '../../dist/src/base/bytes.js';
import { parseParameters } from '../../dist/src/estimators/contract/parameters.js';
import { estimators, findEstimator } from '../../dist/src/estimators/registry.js';
import { runOffline } from '../../dist/src/estimators/run.js';
import { createMechanisms } from '../../dist/src/privacy/mechanisms/index.js';
import { privacyTarget } from '../../dist/src/privacy/accounting/target.js';
import { seededNoise } from '../../dist/src/random/insecure.js';
import { secureNoise } from '../../dist/src/random/secure.js';
import { seededRandom } from '../../dist/src/random/work.js';
import { threadsOfRun } from '../harness/over-cores.js';

/**
 * Estimators that are measured in two forms. The stored figures of `robust-mean` are of normal
 * rows: they were made before there was a choice.
 */
const forms = {
  'robust-mean': { estimator: 'robust-mean', shape: 'light' },
  'robust-mean-any': { estimator: 'robust-mean', shape: 'any' },
  prime: { estimator: 'prime' },
  'prime-one': { estimator: 'prime', directions: 'one' },
  'stable-mean': { estimator: 'stable-mean' },
  'stable-mean-reference': { estimator: 'stable-mean', variant: 'reference' },
};

/** The estimator of a method, and parameters besides those that are asked for. */
function formOf(method) {
  const { estimator = method, ...parameters } = forms[method] ?? {};
  return { estimator: findEstimator(estimator), parameters };
}

/** Estimators of the centre of rows with spread 1, one number per column. */
export function locationEstimators(asked) {
  if (asked !== undefined) {
    const methods = [...new Set(['mean', ...asked])];
    for (const method of methods) formOf(method);
    return methods;
  }
  const target = privacyTarget({ epsilon: 10, delta: 1e-6 });
  const facts = { dimension: 3, cohort: 1e6, participation: 'public', target };
  return estimators.filter((estimator) => {
    try {
      const plan = estimator.plan(parametersOf(estimator, { spread: '1' }, 3, 0.05), facts);
      return plan.kind === 'plan' && plan.outputShape.length === 1 && plan.outputShape[0] === 3;
    } catch (error) {
      if (error instanceof InvalidParameterError) return false;
      throw error;
    }
  }).flatMap(({ name }) => {
    const own = Object.keys(forms).filter((method) => forms[method].estimator === name);
    return own.length === 0 ? [name] : own;
  });
}

function parametersOf(estimator, extra, dimension, corruption) {
  const known = new Set(estimator.parameters.map(({ name }) => name));
  const raw =
    Object.fromEntries(Object.entries({ spread: 1, ...extra }).filter(([name]) => known.has(name)));
  if (known.has('corruption') && raw.corruption === undefined) raw.corruption = corruption;
  return parseParameters(estimator.parameters, raw, { dimension });
}

/** @returns a plan, or the reason why there is none. */
export function planOf(method, { dimension, contributors, corruption }, { epsilon, delta }, extra) {
  const { estimator, parameters: own } = formOf(method);
  const target = privacyTarget({ epsilon, delta });
  try {
    const parameters = parametersOf(estimator, { ...own, ...extra }, dimension, corruption);
    const plan = estimator.plan(
      parameters, { dimension, cohort: contributors, participation: 'public', target },
    );
    return plan.kind === 'plan' ? plan : plan.reason;
  } catch (error) {
    if (error instanceof InvalidParameterError) return error.message;
    throw error;
  }
}

const pool = createComputePool(threadsOfRun);
export const closePool = () => pool.close();

/** One release. @returns its outcome. */
export function outcomeOf(plan, values, dimension, means) {
  return outcomeOfRows(plan, rowsOf(values, dimension), dimension, means);
}

/**
 * One release that uses up the rows, in half the time. @returns the estimate, or null if it was
 * refused. The estimate is that of `release` unless the estimator pairs or groups its rows.
 */
export async function releaseOfOwned(plan, values, dimension, seed) {
  const rows = { count: values.length / dimension, values, isWhole: true };
  const outcome = await outcomeOfRows(plan, rows, dimension, { seed, noise: 'seeded' });
  return outcome.kind === 'value' ? [...outcome.estimate] : null;
}

function outcomeOfRows(plan, rows, dimension, { seed, noise }) {
  const bytes = (label) => (noise === 'secure' ? secureNoise() : seededNoise(`${seed} ${label}`));
  return runOffline({
    plan, dimension, rows,
    mechanisms: createMechanisms(plan.events, bytes('noise')),
    assignmentHashes: seededNoise(`${seed} tickets`), work: seededRandom(utf8(seed)), compute: pool,
  });
}

/** One release. @returns the estimate, or null if it was refused. */
export async function release(plan, values, dimension, means) {
  const outcome = await outcomeOf(plan, values, dimension, means);
  return outcome.kind === 'value' ? outcome.estimate : null;
}

function* rowsOf(values, dimension) {
  for (let at = 0; at < values.length; at += dimension) yield values.subarray(at, at + dimension);
}
