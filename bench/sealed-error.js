// The distance of a sealed robust mean from the mean of the honest rows, beside the clear
// robust-mean with the same range and spread. A sealed run is computed in the clear
// (bench/sealed/clear.js), with the noise that three servers draw: test/sealed/equality shows that
// both open the same.
import * as outcomes from '../dist/src/estimators/contract/outcomes.js';
import * as beyond from '../dist/src/estimators/contract/outside.js';
import * as weights from '../dist/src/estimators/mean/filters/weights.js';
import * as filterRounds from '../dist/src/estimators/mean/robust-mean/filter-rounds.js';
import * as reallocation from '../dist/src/estimators/mean/robust-mean/reallocation.js';
import * as foundColumns from '../dist/src/estimators/pooled/found-columns.js';
import * as histogram from '../dist/src/estimators/pooled/projected-histogram.js';
import * as chiSquare from '../dist/src/numerics/chi-square.js';
import { quantilesOfRunning } from '../dist/src/base/running-counts.js';
import { Sealed } from '../dist/src/base/brands.js';
import { privacyTarget } from '../dist/src/privacy/accounting/target.js';
import { createSealedMechanisms } from '../dist/src/privacy/mechanisms/sealed-noise.js';
import { seededNoise } from '../dist/src/random/insecure.js';
import { sealedRobustDesign } from '../dist/src/sealed/programs/robust-design.js';
import { beyondGrid } from '../dist/src/sealed/programs/centre.js';
import { columnGrid, stepsOfRow, valueOfStep } from '../dist/src/sealed/shares/column-grid.js';
import { attacks, makeRows } from './accuracy/data.js';
import { closePool, planOf, releaseOfOwned } from './accuracy/private.js';
import { rootMeanSquare } from './harness/measure.js';
import { optionsOf } from './harness/options.js';
import { clearRobustMean } from './sealed/clear.js';

const options = optionsOf('The error of a sealed robust mean beside the clear one.', {
  contributors: { usual: 100_000, tiny: 2_000, means: 'rows' },
  dimension: { usual: 10, tiny: 2, means: 'columns' },
  seeds: { usual: 7, tiny: 2, means: 'data sets for each attack' },
  first: { usual: 0, means: 'number of the first data set' },
  epsilon: { usual: 1, tiny: 5, means: 'of a release, at delta 1e-6' },
  attacks: { usual: 'all', tiny: 'none,dense', means: 'their names, with commas' },
});
const { contributors, dimension, seeds, first, epsilon } = options;
// Rows that are moved as a whole leave the range.
const inRange = Object.keys(attacks).filter((name) => attacks[name].offset === undefined);
const names = options.attacks === 'all' ? inRange : options.attacks.split(',');
const [corruption, delta] = [0.05, 1e-6];
const reach = 120;
const grid = columnGrid(
  Array.from({ length: dimension }, () => [-reach, reach]), new Array(dimension).fill(1), 16,
);
const facts = {
  dimension, cohort: contributors, participation: 'secret',
  target: privacyTarget({ epsilon, delta }),
};
const library = {
  ...outcomes, ...weights, ...filterRounds, ...reallocation, ...foundColumns, ...histogram,
  ...chiSquare, ...beyond, beyondGrid, quantilesOfRunning, valueOfStep,
};

/** Opens sums with the noise of three servers, in one place. */
function openingOf(events, seed) {
  const mechanisms = [0, 1, 2].map((server) => createSealedMechanisms(
    events, seededNoise(`${seed} ${server}`), (noised) => parts[server](noised),
  ));
  const parts = [];
  return async (name, values, unit) => {
    const lists = [];
    // Each server waits until all three have noised their lists.
    let release;
    const all = new Promise((resolve) => (release = resolve));
    const opened = mechanisms.map((one, server) => {
      parts[server] = async (noised) => {
        lists.push(noised);
        if (lists.length === 3) release(sumOf(lists));
        return all;
      };
      const own = new BigInt64Array(values.length);
      if (server === 0) values.forEach((value, i) => (own[i] = BigInt(value)));
      return one.open(name, Sealed.of({ own: new Uint32Array(own.buffer) }), unit);
    });
    return (await Promise.all(opened))[0].value;
  };
}

function sumOf(lists) {
  const total = new BigUint64Array(lists[0].length / 2);
  for (const list of lists) {
    new BigUint64Array(Uint32Array.from(list).buffer).forEach((value, i) => (total[i] += value));
  }
  return new Uint32Array(total.buffer);
}

async function sealedError(values, truth, seed) {
  const design = sealedRobustDesign(facts, { grid, corruption });
  const whole = new Uint32Array(values.length);
  for (let at = 0; at < values.length; at += dimension) {
    whole.set(stepsOfRow(values.subarray(at, at + dimension), grid), at);
  }
  const outcome = await clearRobustMean(
    library, design, { values: whole, count: contributors }, openingOf(design.events, seed),
  );
  return outcome.kind === 'value' ? distance(outcome.estimate, truth) : null;
}

/** @param method - `robust-mean` for normal rows, or `robust-mean-any`. */
async function clearError(method, values, truth, seed) {
  const plan = planOf(method, { dimension, contributors, corruption }, { epsilon, delta }, {
    range: `-${reach}..${reach}`,
  });
  if (typeof plan === 'string') throw new Error(plan);
  const estimate = await releaseOfOwned(plan, values.slice(), dimension, `clear ${seed}`);
  return estimate === null ? null : distance(estimate, truth);
}

const distance = (estimate, truth) => Math.hypot(...estimate.map((entry, j) => entry - truth[j]));

const shown = (list) => (list.includes(null) ? 'none' : rootMeanSquare(list).toFixed(4));

console.log(`${contributors} x ${dimension}, epsilon ${epsilon}, ${seeds} seeds, corruption ${corruption}: `
  + 'root mean square distance from the honest mean, in deviations');
console.log('attack            sealed  clear, normal  clear, any  sealed / normal');
const all = { sealed: [], normal: [], any: [] };
for (const name of names) {
  const found = { sealed: [], normal: [], any: [] };
  for (let seed = first; seed < first + seeds; seed++) {
    const { values, truth } = makeRows(name, { dimension, contributors, corruption, seed });
    const key = `${name} ${seed}`;
    found.sealed.push(await sealedError(values, truth, key));
    found.normal.push(await clearError('robust-mean', values, truth, key));
    found.any.push(await clearError('robust-mean-any', values, truth, key));
  }
  for (const form in all) all[form].push(...found[form]);
  const ratio = rootMeanSquare(found.sealed) / rootMeanSquare(found.normal);
  console.log(`${name.padEnd(16)} ${shown(found.sealed).padStart(7)} `
    + `${shown(found.normal).padStart(14)} ${shown(found.any).padStart(11)} `
    + `${ratio.toFixed(2).padStart(16)}`);
}
console.log(`all attacks      ${shown(all.sealed).padStart(7)} ${shown(all.normal).padStart(14)} `
  + `${shown(all.any).padStart(11)} `
  + `${(rootMeanSquare(all.sealed) / rootMeanSquare(all.normal)).toFixed(2).padStart(16)}`);
await closePool();
