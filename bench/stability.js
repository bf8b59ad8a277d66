// The effect of one row on projected weights, and the solver's time. Same seeds, same figures.
import { inlineCompute } from '../dist/src/estimators/contract/compute.js';
import { stepRows } from '../dist/src/estimators/mean/stable-mean/dual-rows.js';
import {
  gapMax, sensitivitiesOf,
} from '../dist/src/estimators/mean/stable-mean/reference-design.js';
import {
  passesAtMost, projectOnBound, roundingGap,
} from '../dist/src/estimators/mean/stable-mean/projection.js';
import { clipBall } from '../dist/src/privacy/stages/clip.js';
import { attacks, makeRows, randomOf } from './accuracy/data.js';
import { optionsOf } from './harness/options.js';

const compute = inlineCompute();
const unit = 2 ** -10;
const radius = 6;

const clipped = (row) => {
  const length = Math.hypot(...row);
  return length > radius ? row.map((entry) => (entry * radius) / length) : row;
};

function stepsOf(rows, dimension) {
  const steps =
    Float64Array.from(rows.flatMap((row) => Array.from(row, (entry) => Math.trunc(entry / unit))));
  return { count: rows.length, dimension, steps, present: new Uint8Array(rows.length).fill(1) };
}

/** The sums of `stable-mean` with `variant: reference` before noise. */
function sumsOf({ dimension, steps }, weights) {
  const total = new Float64Array(dimension);
  let kept = 0;
  weights.forEach((weight, i) => {
    kept += weight ** 1.5;
    for (let j = 0; j < dimension; j++) total[j] += weight ** 1.5 * unit * steps[i * dimension + j];
  });
  return { total, kept };
}

/** The share of each bound that a pair uses. The pair differs in row 0. */
async function strainOf({ rows, own, others, bound }) {
  const dimension = own.length;
  const sides = [own, others].map((row) => stepsOf([row, ...rows], dimension));
  const asked = { unit, bound, rowsMax: rows.length + 1, radius, gap: gapMax };
  const [left, right] = [
    await projectOnBound(compute, sides[0], asked), await projectOnBound(compute, sides[1], asked),
  ];
  const change =
    Math.hypot(...left.weights.slice(1).map((weight, i) => weight - right.weights[i + 1]));
  const [v, w] = [left.weights[0], right.weights[0]];
  const error = Math.sqrt(2 * (gapMax + roundingGap(asked.rowsMax, dimension)));
  const lemma = Math.sqrt(v * (1 - v) + w * (1 - w) + 2 * error) + 2 * error;
  const [here, there] = [sumsOf(sides[0], left.weights), sumsOf(sides[1], right.weights)];
  const charged = sensitivitiesOf({ bound, radius, rowsMax: asked.rowsMax, dimension });
  return {
    change, lemma: change / lemma,
    sum: Math.hypot(...here.total.map((entry, j) => entry - there.total[j])) / charged.sum,
    weight: Math.abs(here.kept - there.kept) / charged.weight,
  };
}

function somePair({ uniform, normal }) {
  const dimension = 1 + Math.floor(3 * uniform());
  const row = () =>
    clipped(Float64Array.from({ length: dimension }, () => 10 ** (uniform() - 0.3) * normal()));
  const rows = Array.from({ length: 2 + Math.floor(14 * uniform()) }, row);
  const copies = uniform() < 0.5 ? 1 : Math.floor(rows.length / 2);
  for (let i = 1; i < copies; i++) rows[i] = rows[0];
  const others = uniform() < 0.3 ? new Float64Array(dimension) : row();
  return { rows, own: row(), others, bound: rows.length * 10 ** (2 * uniform() - 1) };
}

/** A similar pair: some numbers are changed, by much or by little. */
function near(pair, { uniform, normal }) {
  const step = 10 ** (-3 * uniform());
  const moved = (row) =>
    (uniform() < 0.5 ? row : clipped(row.map((entry) => entry + step * normal())));
  return {
    rows: pair.rows.map(moved), own: moved(pair.own), others: moved(pair.others),
    bound: uniform() < 0.5 ? pair.bound : pair.bound * Math.exp(step * normal()),
  };
}

/**
 * Climbs from random pairs towards the bound with the largest used share, and keeps the worst pair
 * of each.
 */
async function searchPairs(count) {
  const random = randomOf('stability');
  const worst = { change: 0, lemma: 0, sum: 0, weight: 0 };
  const goals = Object.keys(worst);
  const climb = 100;
  for (let tried = 0; tried < count; tried += climb) {
    const goal = goals[(tried / climb) % goals.length];
    let [best, height] = [null, -1];
    for (let i = 0; i < climb; i++) {
      const pair = best === null || i < climb / 5 ? somePair(random) : near(best, random);
      const strain = await strainOf(pair);
      for (const name of goals) worst[name] = Math.max(worst[name], strain[name]);
      if (strain[goal] > height) [best, height] = [pair, strain[goal]];
    }
  }
  return worst;
}

/** The median of every column: the private centre without its noise. */
function medians(values, dimension) {
  const count = values.length / dimension;
  return Float64Array.from({ length: dimension }, (_, j) =>
    Float64Array.from({ length: count }, (__, i) => values[i * dimension + j]).sort()[count >> 1]);
}

async function solve(values, dimension, bound, centre = medians(values, dimension)) {
  const count = values.length / dimension;
  const ball = clipBall(1.35 * Math.sqrt(dimension) + 3, { products: true, rowsMax: 2 * count });
  const pool = { count, dimension, values, tags: new BigUint64Array(count) };
  const rows =
    await stepRows(compute, pool, 2 * count, ball, centre, new Float64Array(dimension).fill(1));
  const asked = {
    unit: ball.grid, bound: bound * count, rowsMax: 2 * count, radius: ball.radius, gap: gapMax,
  };
  const began = performance.now();
  const { passes, gap } = await projectOnBound(compute, rows, asked);
  return {
    passes, most: passesAtMost(dimension, asked), gap, seconds: (performance.now() - began) / 1000,
  };
}

const note = (name, { passes, most, gap, seconds }) =>
  console.log(`${name.padEnd(34)}${String(passes).padStart(6)} passes of ${most} at most, gap `
    + `${gap.toExponential(1)}, ${seconds.toFixed(1)} s`);

async function onAttacks(contributors) {
  let most = 0;
  for (const name of Object.keys(attacks)) {
    for (const corruption of [0.05, 0.2]) {
      const { values } = makeRows(name, { dimension: 10, contributors, corruption, seed: 1 });
      for (const bound of [1, 0.7]) {
        const solved = await solve(values, 10, bound);
        note(`${name}, ${corruption}, bound ${bound}`, solved);
        most = Math.max(most, solved.passes);
      }
    }
  }
  console.log(`most: ${most} passes`);
}

/**
 * Rows for which the dual is badly scaled: widths over many orders of magnitude, a few rows far
 * away, all rows at the edge of a weight.
 */
const hardSets = {
  'widths of six orders, on the axes': ({ uniform }, i, dimension) => {
    const row = new Float64Array(dimension);
    row[i % dimension] = (uniform() < 0.5 ? -1 : 1) * 7 * 10 ** -Math.floor(6 * uniform());
    return row;
  },
  'a direction each, at the ball': ({ normal }, i, dimension) =>
    Float64Array.from({ length: dimension }, () => 1e3 * normal()),
  'on a cone': ({ normal }, i, dimension) =>
    Float64Array.from({ length: dimension }, (_, j) =>
      (j === 0 ? 5 : (5 * normal()) / Math.sqrt(dimension))),
  'cubes of normals': ({ normal }, i, dimension) =>
    Float64Array.from({ length: dimension }, () => normal() ** 3),
  'nearly one line': ({ normal }, i, dimension) => {
    const along = 3 * normal();
    return Float64Array.from({ length: dimension }, () => along + 1e-4 * normal());
  },
};

/** At the default bound, and at the smallest bound from a plan with an overfull cohort. */
async function onHardSets(contributors) {
  for (const [name, row] of Object.entries(hardSets)) {
    const random = randomOf(name);
    const values = Float64Array.from(
      Array.from({ length: contributors }, (_, i) => [...row(random, i, 10)]).flat(),
    );
    for (const bound of [1, 0.25]) {
      note(`${name}, bound ${bound}`, await solve(values, 10, bound, new Float64Array(10)));
    }
  }
}

const { pairs, contributors } =
  optionsOf('What one row can do to projected weights, and how long the solver takes.', {
    pairs: { usual: 1e5, tiny: 400, means: 'of neighbours to look at' },
    contributors: { usual: 1e5, tiny: 500, means: 'rows under attack, 0 for none' },
  });
const worst = await searchPairs(pairs);
console.log(`${pairs} pairs, climbing: the other weights changed by at most `
  + `${worst.change.toFixed(4)} (lemma: .7071), ${worst.lemma.toFixed(3)} of the lemma's bound for `
  + `the pair, ${worst.sum.toFixed(3)} and ${worst.weight.toFixed(3)} of what is charged for sum `
  + 'and weight');
if (contributors > 0) await onAttacks(contributors);
if (contributors > 0) await onHardSets(Math.min(contributors, 2e4));
if (Math.max(worst.lemma, worst.sum, worst.weight) > 1) process.exitCode = 1;
