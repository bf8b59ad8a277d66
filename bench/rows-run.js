// One mean of rows in memory, for rows.js. Prints seconds of processor time, and MiB besides the
// rows.
import { parseParameters } from '../dist/src/estimators/contract/parameters.js';
import { findEstimator } from '../dist/src/estimators/registry.js';
import { runOffline } from '../dist/src/estimators/run.js';
import { privacyTarget } from '../dist/src/privacy/accounting/target.js';
import { createMechanisms } from '../dist/src/privacy/mechanisms/index.js';
import { secureNoise } from '../dist/src/random/secure.js';
import { seededRandom } from '../dist/src/random/work.js';
import { randomOf } from './accuracy/random.js';

const { rows: count, columns, spread } = JSON.parse(process.argv[2]);
const random = randomOf('rows');
const rows = Array.from({ length: count }, () =>
  Float64Array.from({ length: columns }, () => random.normal()));

const estimator = findEstimator('mean');
const parameters = parseParameters(estimator.parameters, { spread }, { dimension: columns });
const plan = estimator.plan(parameters, {
  dimension: columns, cohort: count, participation: 'public',
  target: privacyTarget({ epsilon: 1, delta: 1e-6 }),
});
globalThis.gc();
const before = process.memoryUsage.rss();
const start = process.cpuUsage();
let most = before;
const watch = setInterval(() => { most = Math.max(most, process.memoryUsage.rss()); }, 5);
const { kind } = await runOffline({
  plan, dimension: columns, rows, mechanisms: createMechanisms(plan.events, secureNoise()),
  assignmentHashes: secureNoise(), work: seededRandom(new Uint8Array(32)),
});
clearInterval(watch);
const { user, system } = process.cpuUsage(start);
if (kind !== 'value') throw new Error(`the mean is ${kind}`);
// The peak, unless making the rows took more: a run that keeps the thread busy hides from a timer.
const peak = Math.max(most, process.resourceUsage().maxRSS * 1024);
console.log(JSON.stringify({
  seconds: (user + system) / 1e6, mebibytes: (peak - before) / 2 ** 20,
}));
