// Group summaries at scale: a million contributors of twenty columns, each contribution complete with its batch, through
// populous-mean and through group covariances in one process. Time per row beside a plain Welford loop that does the
// same arithmetic on flat arrays, and memory beside what the process had before.
// Needs the build: npm run bench:groups [-- contributors] [columns]
import { randomFillSync } from 'node:crypto';
import { createGroups } from '../dist/src/estimators/run.js';
import { findEstimator } from '../dist/src/estimators/registry.js';
import { parseParameters } from '../dist/src/estimators/parameters.js';
import { scatterSummary } from '../dist/src/estimators/summaries/scatter.js';
import { covarianceOf } from '../dist/src/numerics/scatter.js';
import { resolveTarget } from '../dist/src/privacy/target.js';
import { createMechanisms } from '../dist/src/privacy/mechanisms/index.js';
import { secureNoise } from '../dist/src/random/secure.js';
import { seededWork } from '../dist/src/random/work.js';
import { releaseGroups } from '../dist/src/estimators/run.js';

const people = Number(process.argv[2] ?? 1_000_000);
const dimension = Number(process.argv[3] ?? 20);
const covarianceGroups = 2_000;
/** Rows and tickets are made in blocks, so that the bench itself holds next to nothing. */
const block = 1 << 14;
const target = resolveTarget({ epsilon: 1, delta: 1e-6 });
const facts = { dimension, cohort: people, participation: 'secret', target };

const random = seededWork(new Uint8Array(8));
const normal = () => Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(2 * Math.PI * random.uniform());
const rows = Array.from({ length: block }, () => Float64Array.from({ length: dimension }, normal));
const tickets = new Uint8Array(block * 32);
const ticketViews = Array.from({ length: block }, (_, i) => tickets.subarray(32 * i, 32 * i + 32));

function planOf(name, raw) {
  const estimator = findEstimator(name);
  const plan = estimator.plan(parseParameters(estimator.parameters, raw, facts), facts);
  if (plan.kind === 'infeasible') throw new Error(plan.reason);
  return plan;
}

const covariancePlan = {
  cohorts: [{ name: 'groups', share: 1, unit: 'row', mode: 'disjoint', groups: covarianceGroups }],
  summary: () => scatterSummary(dimension, covarianceOf),
};

/** The same places for rows as groups have, without anything around them. */
function plainMeans(groups) {
  const counts = new Float64Array(groups);
  const means = new Float64Array(groups * dimension);
  const squares = new Float64Array(groups * dimension);
  return (group, row) => {
    const count = ++counts[group];
    const base = group * dimension;
    for (let j = 0; j < dimension; j++) {
      const gap = row[j] - means[base + j];
      means[base + j] += gap / count;
      squares[base + j] += gap * (row[j] - means[base + j]);
    }
  };
}

function plainScatter(groups) {
  const counts = new Float64Array(groups);
  const means = new Float64Array(groups * dimension);
  const size = (dimension * (dimension + 1)) / 2;
  const upper = new Float64Array(groups * size);
  const gap = new Float64Array(dimension);
  return (group, row) => {
    const count = ++counts[group];
    const base = group * dimension;
    for (let j = 0; j < dimension; j++) {
      gap[j] = row[j] - means[base + j];
      means[base + j] += gap[j] / count;
    }
    const factor = (count - 1) / count;
    let at = group * size;
    for (let i = 0; i < dimension; i++) {
      const scaled = gap[i] * factor;
      for (let j = i; j < dimension; j++) upper[at++] += scaled * gap[j];
    }
  };
}

/** Nanoseconds of this process's CPU time per row over all people, whatever else runs; making tickets is not counted. */
function timed(add) {
  let microseconds = 0;
  for (let done = 0; done < people; done += block) {
    randomFillSync(tickets);
    const count = Math.min(block, people - done);
    const start = process.cpuUsage();
    for (let i = 0; i < count; i++) add(ticketViews[i], rows[i]);
    const { user, system } = process.cpuUsage(start);
    microseconds += user + system;
  }
  return (1000 * microseconds) / people;
}

const groupIndex = (ticket, groups) => ((ticket[8] << 16 | ticket[9] << 8 | ticket[10]) * groups) >>> 24;
const folding = (plan) => {
  const groups = createGroups(plan, dimension);
  return { groups, add: (ticket, row) => groups.add(ticket, row) };
};
const memory = () => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  return { held: (heapUsed + arrayBuffers) / 2 ** 20, resident: rss / 2 ** 20 };
};

const robust = planOf('populous-mean', { scale: 1 });
const means = planOf('populous-mean', { scale: 1, local: 'mean', corruption: 0 });
const cases = [
  ['populous-mean, local mean', means, plainMeans(means.facts.groups), means.facts.groups],
  ['populous-mean, local robust', robust, plainMeans(robust.facts.groups), robust.facts.groups],
  [`covariance of ${covarianceGroups} groups`, covariancePlan, plainScatter(covarianceGroups), covarianceGroups],
];

console.log(`${people} contributors, ${dimension} columns`);
const before = memory();
// First, while the process holds nothing else.
const together = [folding(robust), folding(covariancePlan)];
const both = timed((ticket, row) => {
  for (const { add } of together) add(ticket, row);
});
const after = memory();
console.log(`both in one pass: ${both.toFixed(0)} ns/row, ${(after.held - before.held).toFixed(0)} MiB held, `
  + `${(after.resident - before.resident).toFixed(0)} MiB more resident`);
const start = performance.now();
const outcome = await releaseGroups(robust, together[0].groups, {
  mechanisms: createMechanisms(robust.events, secureNoise()), work: seededWork(new Uint8Array(4)),
});
const error = outcome.kind === 'value' ? Math.hypot(...outcome.estimate).toFixed(4) : outcome.reason;
console.log(`release of populous-mean: ${((performance.now() - start) / 1000).toFixed(1)} s, error ${error} scales, `
  + `planned ${robust.expectedError(0).total.toFixed(4)}; at the end ${memory().resident.toFixed(0)} MiB resident`);
together.length = 0;

console.log('summaries                        ns/row   plain Welford ns/row   ratio');
for (const [name, plan, plain, groups] of cases) {
  timed((ticket, row) => plain(groupIndex(ticket, groups), row));
  const plainTime = timed((ticket, row) => plain(groupIndex(ticket, groups), row));
  timed(folding(plan).add);
  const time = timed(folding(plan).add);
  console.log(`${name.padEnd(32)} ${time.toFixed(0).padStart(6)} ${plainTime.toFixed(0).padStart(22)} ${(time / plainTime).toFixed(2).padStart(7)}`);
}
