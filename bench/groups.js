// Group summaries at scale: a million contributors of twenty columns, each contribution complete
// with its batch, through populous-mean and through group covariances in one process. Time per row
// beside a plain Welford loop that does the same arithmetic on flat arrays, and memory beside what
// the process had before.
// Needs the build: npm run bench:groups [-- --contributors 1000000] [-- --columns 20]
import { randomFillSync } from 'node:crypto';
import { createGroups } from '../dist/src/estimators/run.js';
import { findEstimator } from '../dist/src/estimators/registry.js';
import { parseParameters } from '../dist/src/estimators/contract/parameters.js';
import { scatterSummary } from '../dist/src/estimators/summaries/scatter.js';
import { covarianceOf } from '../dist/src/numerics/scatter.js';
import { privacyTarget } from '../dist/src/privacy/accounting/target.js';
import { createMechanisms } from '../dist/src/privacy/mechanisms/index.js';
import { secureNoise } from '../dist/src/random/secure.js';
import { seededRandom } from '../dist/src/random/work.js';
import { releaseGroups } from '../dist/src/estimators/run.js';
import { optionsOf } from './options.js';

const {
  contributors: people, columns: dimension, rounds,
} = optionsOf('Group summaries: time per row and memory.', {
  contributors: { usual: 1_000_000, tiny: 20_000, means: 'one row each' },
  columns: { usual: 20, tiny: 3, means: 'of a row' },
  rounds: { usual: 7, tiny: 1, means: 'passes for each figure' },
});
const covarianceGroups = 2_000;
/**
 * Rows and assignment hashes are made in blocks, so that the benchmark itself needs little memory.
 */
const block = 1 << 14;
const target = privacyTarget({ epsilon: 1, delta: 1e-6 });
const facts = { dimension, cohort: people, participation: 'secret', target };

const random = seededRandom(new Uint8Array(8));
const normal = () =>
  Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(2 * Math.PI * random.uniform());
const rows = Array.from({ length: block }, () => Float64Array.from({ length: dimension }, normal));
const assignmentHashes = new Uint8Array(block * 32);
const assignmentHashViews =
  Array.from({ length: block }, (_, i) => assignmentHashes.subarray(32 * i, 32 * i + 32));

function planOf(name, raw) {
  const estimator = findEstimator(name);
  const plan = estimator.plan(parseParameters(estimator.parameters, raw, facts), facts);
  if (plan.kind === 'infeasible') throw new Error(plan.reason);
  return plan;
}

const covariancePlan = {
  kind: 'plan',
  cohorts: [{ name: 'groups', share: 1, unit: 'row', mode: 'disjoint', groups: covarianceGroups }],
  summary: () => scatterSummary(dimension, covarianceOf),
};

/** Means in flat arrays, one for each group, without anything else. */
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

/**
 * Fewer operations than Welford's loop: no sum of squares, like the summary that reports only a
 * mean.
 */
function plainMeansAlone(groups) {
  const counts = new Float64Array(groups);
  const means = new Float64Array(groups * dimension);
  return (group, row) => {
    const count = ++counts[group];
    const base = group * dimension;
    for (let j = 0; j < dimension; j++) means[base + j] += (row[j] - means[base + j]) / count;
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

/**
 * Nanoseconds per row that each of `adds` takes over all people: CPU time of this process, and
 * wall-clock time. Each folds the same blocks of rows with the same assignment hashes, in turns
 * within a block, so that other load affects all of them. The order changes from block to block.
 * The time
 * for making assignment hashes does not count.
 */
function timed(...adds) {
  const spent = adds.map(() => ({ cpu: 0, wall: 0 }));
  for (let done = 0, turn = 0; done < people; done += block, turn++) {
    randomFillSync(assignmentHashes);
    const count = Math.min(block, people - done);
    for (let which = 0; which < adds.length; which++) {
      const at = (which + turn) % adds.length;
      const start = process.cpuUsage();
      const clock = performance.now();
      fold(adds[at], count);
      spent[at].wall += (1e6 * (performance.now() - clock)) / people;
      const { user, system } = process.cpuUsage(start);
      spent[at].cpu += (1000 * (user + system)) / people;
    }
  }
  return spent;
}

function fold(add, count) {
  for (let i = 0; i < count; i++) add(assignmentHashViews[i], rows[i]);
}

const median = (values) => values.toSorted((left, right) => left - right)[values.length >> 1];

const groupIndex = (assignmentHash, groups) =>
  ((assignmentHash[8] << 16 | assignmentHash[9] << 8 | assignmentHash[10]) * groups) >>> 24;
const folding = (plan) => {
  const groups = createGroups(plan, dimension);
  return { groups, add: (assignmentHash, row) => groups.add(assignmentHash, row) };
};
const memory = () => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  return { held: (heapUsed + arrayBuffers) / 2 ** 20, resident: rss / 2 ** 20 };
};

const robust = planOf('populous-mean', { scale: 1 });
const means = planOf('populous-mean', { scale: 1, local: 'mean', corruption: 0 });
const cases = [
  ['populous-mean, local mean', means, plainMeans, means.facts.groups],
  ['  beside a loop without squares', means, plainMeansAlone, means.facts.groups],
  ['populous-mean, local robust', robust, plainMeans, robust.facts.groups],
  [`covariance of ${covarianceGroups} groups`, covariancePlan, plainScatter, covarianceGroups],
];

console.log(`${people} contributors, ${dimension} columns`);
const before = memory();
// First, because the process holds nothing else now.
const together = [folding(robust), folding(covariancePlan)];
const [both] = timed((assignmentHash, row) => {
  for (const { add } of together) add(assignmentHash, row);
});
const after = memory();
console.log(`both in one pass: ${both.cpu.toFixed(0)} ns/row, `
  + `${(after.held - before.held).toFixed(0)} MiB held, `
  + `${(after.resident - before.resident).toFixed(0)} MiB more resident`);
const start = performance.now();
const outcome = await releaseGroups(robust, together[0].groups, {
  mechanisms: createMechanisms(robust.events, secureNoise()), work: seededRandom(new Uint8Array(4)),
});
const error = outcome.kind === 'value'
  ? Math.hypot(...outcome.estimate).toFixed(4) : outcome.reason;
console.log(`release of populous-mean: ${((performance.now() - start) / 1000).toFixed(1)} s, error `
  + `${error} scales, planned ${robust.expectedError(0).total.toFixed(4)}; at the end `
  + `${memory().resident.toFixed(0)} MiB resident`);
together.length = 0;

// In a round each of them makes one pass, in turns, into new groups. The first round is a warm-up.
console.log('median of rounds                     ns/row, CPU   plain Welford   ratio of CPU '
  + '(least..most)   of wall');
for (const [name, plan, plainOf, groups] of cases) {
  const measured = Array.from({ length: rounds + 1 }, () => {
    const plain = plainOf(groups);
    return timed(
      (assignmentHash, row) => plain(groupIndex(assignmentHash, groups), row), folding(plan).add,
    );
  }).slice(1);
  const ratios = (clock) => measured.map(([plain, own]) => own[clock] / plain[clock]);
  const of = (which) => median(measured.map((round) => round[which].cpu)).toFixed(0);
  const cpu = ratios('cpu');
  const spread = `(${Math.min(...cpu).toFixed(2)}..${Math.max(...cpu).toFixed(2)})`;
  console.log(`${name.padEnd(36)} ${of(1).padStart(11)} ${of(0).padStart(15)} `
    + `${median(cpu).toFixed(2).padStart(14)} ${spread.padEnd(15)} `
    + `${median(ratios('wall')).toFixed(2).padStart(7)}`);
}
