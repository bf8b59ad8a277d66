// Audits of answers that are split by keys. `keelson audit` knows no keys, so these run here, on
// one thread.
import { claimOf } from '../dist/cli/audit/claim.js';
import {
  audit, auditTrialsMin, inlineTrials, largestPair, searchPairs,
} from '../dist/src/audit/index.js';
import { Sensitive } from '../dist/src/base/brands.js';
import { parseParameters } from '../dist/src/estimators/contract/parameters.js';
import { forEachKey } from '../dist/src/estimators/keyed/each.js';
import { findEstimator } from '../dist/src/estimators/registry.js';
import { planWithin, smallestPlan } from '../dist/src/plan.js';
import { privacyTarget } from '../dist/src/privacy/accounting/target.js';
import { secureNoise } from '../dist/src/random/secure.js';

/** A person may have two keys. All of them can change, so there are more than four. */
const keysMax = 2;
const count = 6;

/** Estimators with their settings and columns; `discover` where nobody listed the keys. */
export const keyedSubjects = [
  { name: 'count', set: {}, columns: 0 },
  { name: 'sum', set: { cap: 5 }, columns: 1 },
  { name: 'histogram', set: { edges: [-1, 0, 1] }, columns: 1 },
  { name: 'mean', set: { range: '-5..5' }, columns: 1 },
  { name: 'share', set: {}, columns: 1 },
  { name: 'ratio', set: { cap: 5 }, columns: 2 },
  { name: 'quantile', set: { low: -5, high: 5, probabilities: [0.5] }, columns: 1 },
  { name: 'robust-mean', set: { scale: 1 }, columns: 1 },
  { name: 'count', set: {}, columns: 0, discover: true },
  { name: 'count', set: { of: 'keys' }, columns: 0, discover: true },
  { name: 'sum', set: { cap: 5 }, columns: 1, discover: true },
  { name: 'mean', set: { range: '-5..5' }, columns: 1, discover: true },
];

export const titleOf = ({ name, set, discover }) => `${name}, ${discover === true
  ? set.of === 'keys' ? 'number of keys that nobody listed' : 'keys that nobody listed'
  : 'by key'}`;

/** The places of keys are their names. */
const foundKeys = {
  size: count, compare: (left, right) => left - right, partsOf: (place) => [String(place)],
  find: ([name]) => Number(name),
};

/** A plan that gets its keys, and shows numbers at the places of their keys: 0 for a hidden one. */
function withKeys(plan) {
  return {
    ...plan,
    outputShape: [Math.min(count, plan.outputShape[0])],
    noise: [],
    release: async (summaries, mechanisms, compute) => (await plan.release(
      summaries, mechanisms, compute, Sensitive.of(foundKeys),
    )).map((outcome) => {
      if (outcome.kind === 'refused' || outcome.keys === undefined) return outcome;
      const estimate = new Array(count).fill(0);
      outcome.keys.forEach(([place], i) => { estimate[Number(place)] = outcome.estimate[i]; });
      return { ...outcome, estimate, shape: [count], uncertainty: { kind: 'none' } };
    }),
  };
}

/** Seconds of one trial, from more and more trials until they take `enough` seconds. */
async function secondsOf(pool, pair, enough) {
  for (let trials = 1; ; trials *= 4) {
    const startedMs = performance.now();
    await pool.run({ pair, side: 'left', trials, label: 'speed' });
    const seconds = (performance.now() - startedMs) / 1000;
    if (seconds >= enough) return seconds / trials;
  }
}

/** The audit of one subject, as `keelson audit --json` reports it. */
export async function auditByKey({ name, set, columns, discover = false }, epsilon, seconds) {
  const startedMs = performance.now();
  const left = () => seconds - (performance.now() - startedMs) / 1000;
  const found = findEstimator(name);
  const isVector = discover || found.keyed?.includes('public');
  const estimator = isVector ? found : forEachKey(found);
  const parameters = parseParameters(found.parameters, set, {
    dimension: Math.max(1, columns),
  });
  const target = privacyTarget({ epsilon, delta: 1e-6 });
  const facts = {
    dimension: 1 + columns, participation: 'secret', target,
    keys: { list: 'public', keysMax, count },
  };
  const planned = {
    ...facts, ...(discover && { keys: { list: 'discovered', keysMax, top: count, prefilter: 2 } }),
  };
  const planFor = (cohort) => planWithin(estimator, parameters, { ...planned, cohort });
  const cohort = smallestPlan(planFor);
  if (cohort === null) return { outcome: 'infeasible' };
  const plan = discover ? withKeys(planFor(cohort)) : planFor(cohort);
  const subject = { plan, dimension: facts.dimension };
  const pool = inlineTrials(subject, () => secureNoise());
  const asked = { plan, facts: { ...facts, cohort }, parameters };
  const perTrial = await secondsOf(pool, largestPair(asked), seconds / 10);
  const pairs = await searchPairs(asked, pool, { glance: 8 });
  const trials = Math.max(auditTrialsMin, Math.floor(left() / perTrial));
  const result = await audit({
    claim: claimOf(plan, target, null), pairs, pool, trials, coins: secureNoise(),
    affordable: (rest) => Math.min(rest, Math.max(0, Math.floor(left() / perTrial))), chunk: 2_000,
  });
  return { ...result, seconds: Math.round((performance.now() - startedMs) / 10) / 100 };
}
