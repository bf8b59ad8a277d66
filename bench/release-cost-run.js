// One release in the tree that is named, for bench/release-cost.js: prints its processor time.
import { pathToFileURL } from 'node:url';
import { makeRows } from './accuracy/data.js';

const {
  folder, estimator: name, dimension, parameters, contributors, rows, seed,
} = JSON.parse(process.argv[2]);
const load = (file) => import(pathToFileURL(`${folder}/dist/src/${file}`).href);
const { utf8 } = await load('base/bytes.js');
const { parseParameters } = await load('estimators/contract/parameters.js');
const { findEstimator } = await load('estimators/registry.js');
const { runOffline } = await load('estimators/run.js');
const { privacyTarget, resolvePureTarget } = await load('privacy/accounting/target.js');
const { createMechanisms } = await load('privacy/mechanisms/index.js');
const { seededNoise } = await load('random/insecure.js');
const { seededRandom } = await load('random/work.js');

/** Rows of a line, on whole numbers: `subspace` finds it. */
function lineRows() {
  const values = new Float64Array(contributors * dimension);
  for (let i = 0; i < values.length; i++) {
    values[i] = (1 + Math.floor(i / dimension) % 50) * (1 + i % dimension);
  }
  return values;
}

const values = rows === 'line' ? lineRows()
  : makeRows('none', { rows, dimension, contributors, corruption: 0.05, seed }).values;

function* each() {
  for (let at = 0; at < values.length; at += dimension) yield values.subarray(at, at + dimension);
}

function planned() {
  const estimator = findEstimator(name);
  // Older trees know fewer parameters.
  const known = new Set(estimator.parameters.map((parameter) => parameter.name));
  const own = Object.fromEntries(Object.entries(parameters).filter(([key]) => known.has(key)));
  const target = parameters.variant === 'candidates' ? resolvePureTarget({ epsilon: 1, delta: 0 })
    : privacyTarget({ epsilon: 1, delta: 1e-6 });
  return estimator.plan(parseParameters(estimator.parameters, own, { dimension }), {
    dimension, cohort: contributors, participation: 'public', target,
  });
}

const plan = planned();
if (plan.kind !== 'plan') console.log(JSON.stringify({ missing: plan.reason }));
else {
  const mechanisms = createMechanisms(plan.events, seededNoise(`${seed} noise`));
  const start = process.cpuUsage();
  const { kind } = await runOffline({
    plan, dimension, rows: each(), mechanisms, assignmentHashes: seededNoise(`${seed} tickets`),
    work: seededRandom(utf8(`${seed}`)),
  });
  const { user, system } = process.cpuUsage(start);
  console.log(JSON.stringify({
    seconds: (user + system) / 1e6, kind,
  }));
}
