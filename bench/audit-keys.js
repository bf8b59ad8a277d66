// Audits of answers that are split by keys. `keelson audit` knows no keys, so these run here.
import { availableParallelism } from 'node:os';
import { claimOf } from '../dist/cli/audit/claim.js';
import { Pace } from '../dist/cli/audit/pace.js';
import { startAuditPool } from '../dist/cli/audit/pool.js';
import { plannedFor } from '../dist/cli/audit/subject.js';
import { audit, searchPairs } from '../dist/src/audit/index.js';
import { parseParameters } from '../dist/src/estimators/contract/parameters.js';
import { findEstimator } from '../dist/src/estimators/registry.js';
import { smallestPlan } from '../dist/src/plan.js';
import { privacyTarget } from '../dist/src/privacy/accounting/target.js';
import { secureNoise } from '../dist/src/random/secure.js';

/** A person may have two keys. All of them can change, so there are more than four. */
const groupsMax = 2;
const count = 6;

/**
 * Estimators with their settings and columns; `discover` for groups that are on no list, `alone`
 * for groups that are shown without counts.
 */
export const keyedSubjects = [
  { name: 'count', set: {}, columns: 0 },
  { name: 'sum', set: { cap: 5 }, columns: 1 },
  { name: 'histogram', set: { edges: [-1, 0, 1] }, columns: 1 },
  { name: 'mean', set: { range: '-5..5' }, columns: 1 },
  { name: 'share', set: {}, columns: 1 },
  { name: 'ratio', set: { cap: 5 }, columns: 2 },
  { name: 'quantile', set: { range: '-5..5', probabilities: [0.5] }, columns: 1 },
  { name: 'robust-mean', set: { spread: 1 }, columns: 1 },
  { name: 'count', set: {}, columns: 0, discover: true },
  { name: 'count', set: {}, columns: 0, discover: true, alone: true },
  { name: 'count', set: { of: 'groups' }, columns: 0, discover: true },
  { name: 'sum', set: { cap: 5 }, columns: 1, discover: true },
  { name: 'mean', set: { range: '-5..5' }, columns: 1, discover: true },
  { name: 'share', set: {}, columns: 1, discover: true },
  { name: 'ratio', set: { cap: 5 }, columns: 2, discover: true },
];

export const titleOf = ({ name, set, discover, alone }) => `${name}, ${discover === true
  ? `${set.of === 'keys' ? 'number of ' : ''}keys that nobody listed${alone === true ? ', alone' : ''}`
  : 'by key'}`;

/** The audit of one subject, as `keelson audit --json` reports it. */
export async function auditByKey(
  { name, set, columns, discover = false, alone = false }, epsilon, seconds,
) {
  const startedMs = performance.now();
  const parameters = parseParameters(findEstimator(name).parameters, set, {
    dimension: Math.max(1, columns),
  });
  const target = privacyTarget({ epsilon, delta: 1e-6 });
  const facts = {
    dimension: 1 + columns + Number(alone), participation: 'secret', target,
    keys: discover ? {
      list: 'discovered', groupsMax, top: count, prefilter: alone ? 1 : 2,
      ...(alone && { answer: 'groups' }),
    } : { list: 'public', groupsMax, count },
  };
  const subjectOf = (cohort) => ({
    estimator: name, parameters, facts: { ...facts, cohort }, ...(discover && { places: count }),
  });
  const smallest = smallestPlan((cohort) => plannedFor(subjectOf(cohort)));
  if (smallest === null) return { outcome: 'infeasible' };
  // Each key has about as many people as a plan needs in all, so each is answered.
  const subject = subjectOf(count * smallest);
  const plan = plannedFor(subject);
  const pool = startAuditPool({ subject, seed: null }, availableParallelism());
  try {
    const io = { monotonicMs: () => performance.now() };
    const pace = new Pace(pool, io, startedMs + 1000 * seconds);
    // Pairs differ in the keys of a row, whether they are listed or not.
    const asked = {
      plan, parameters, ...(alone && { statesKeys: true }),
      facts: { ...subject.facts, keys: { list: 'public', groupsMax, count } },
    };
    await pace.measure(asked);
    const pairs = await searchPairs(asked, pool, {
      glance: pace.glance(), parts: !pace.isScarce(),
    });
    const { losses, counted } = pace.divided(Infinity);
    const result = await audit({
      claim: claimOf(plan, target, null), pairs, pool,
      trials: counted, losses: { ...losses, pool }, coins: secureNoise(),
      affordable: () => pace.affordable(), chunk: pace.chunk(),
      onProgress: (done) => pace.saw(done),
    });
    return { ...result, seconds: Math.round((performance.now() - startedMs) / 10) / 100 };
  } finally {
    await pool.close();
  }
}
