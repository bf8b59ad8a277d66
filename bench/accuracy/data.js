// Rows for the accuracy benchmark: a shape makes the honest rows, with deviation 1 in every column,
// and an attack makes the hostile ones. The same seed gives the same rows.
import { randomOf } from './random.js';
import { shapes } from './shapes.js';

export { randomOf } from './random.js';
export { shapes } from './shapes.js';

const filled = (dimension, entry) => Float64Array.from({ length: dimension }, (_, j) => entry(j));
const unit = (vector) => {
  const length = Math.hypot(...vector);
  return vector.map((entry) => entry / length);
};
const ones = (dimension) => unit(filled(dimension, () => 1));
const times = (vector, factor) => vector.map((entry) => entry * factor);
const about = (place, spread) => ({ normal }) =>
  filled(place.length, (j) => place[j] + (spread === 0 ? 0 : spread * normal()));
/** The directions and sizes of attacks: 1.5 in each column if all columns are shifted alike. */
const push = (direction, spread) => ({ dimension, random }) =>
  about(times(unit(direction(dimension, random)), 1.5 * Math.sqrt(dimension)), spread);
const sphere = (dimension, { normal }) => filled(dimension, () => normal());
/** Rows in random directions less than a right angle from `pole`, `radiusOf(random)` out. */
const facing = (pole, radiusOf) => (random) => {
  const row = unit(sphere(pole.length, random));
  const isBehind = row.reduce((sum, entry, j) => sum + entry * pole[j], 0) < 0;
  return times(row, (isBehind ? -1 : 1) * radiusOf(random));
};
/** `count` random unit vectors at right angles to each other. */
function orthogonal(count, dimension, random) {
  const found = [];
  while (found.length < count) {
    let row = sphere(dimension, random);
    for (const other of found) {
      const along = row.reduce((sum, entry, j) => sum + entry * other[j], 0);
      row = row.map((entry, j) => entry - along * other[j]);
    }
    found.push(unit(row));
  }
  return found;
}

/**
 * The attacks. Each takes { dimension, corruption, random } (random: what the attackers share) and
 * returns a function that makes a hostile row from (its own random, its index). `offset` shifts all
 * rows, honest ones too.
 */
export const attacks = {
  none: { title: 'no hostile rows', isClean: true },
  ones: { title: 'N(0, I) moved by 1.5 sqrt(d) along (1, 1, ...)', rows: push(ones, 1) },
  alternating: {
    title: 'the same along (1, -1, 1, ...)',
    rows: push((dimension) => filled(dimension, (j) => (j % 2 === 0 ? 1 : -1)), 1),
  },
  direction: { title: 'the same along a random direction', rows: push(sphere, 1) },
  coordinate: {
    title: 'the same along one coordinate',
    rows: push((dimension) => filled(dimension, (j) => (j === dimension >> 1 ? 1 : 0)), 1),
  },
  point: { title: 'all at one point, 1.5 sqrt(d) along (1, 1, ...)', rows: push(ones, 0) },
  far: {
    title: 'all about a point at distance 1,000',
    rows: ({ dimension, random }) => about(times(unit(sphere(dimension, random)), 1000), 1),
  },
  'two-clusters': {
    title: 'two clusters on opposite sides, 1.5 sqrt(d) out, with two thirds in one of them',
    rows({ dimension }) {
      const place = times(ones(dimension), 1.5 * Math.sqrt(dimension));
      const [right, left] = [about(place, 0.1), about(times(place, -1), 0.1)];
      return (random, index) => (index % 3 === 0 ? left : right)(random);
    },
  },
  pairs: {
    title: 'symmetric pairs x, -x, 1.5 sqrt(d) out in random directions',
    rows({ dimension }) {
      let last = null;
      return (random, index) => {
        if (index % 2 === 1) return times(last, -1);
        last = times(unit(sphere(dimension, random)), 1.5 * Math.sqrt(dimension));
        return last;
      };
    },
  },
  spray: {
    title: 'each far out along one of the columns, all on the same side',
    rows: ({ dimension }) => (random, index) =>
      filled(dimension, (j) =>
        random.normal() + (j === index % dimension ? 1.35 * Math.sqrt(dimension) + 3 : 0)),
  },
  dense: {
    title: 'a dense cluster at distance 3',
    rows: ({ dimension }) => about(times(ones(dimension), 3), 0.1),
  },
  cluster: {
    title: 'a cluster at distance 3.6',
    rows: ({ dimension }) => about(times(ones(dimension), 3.6), 0.1),
  },
  near: {
    title: 'a cluster at distance 1.7, nearer than any tail',
    rows: ({ dimension }) => about(times(ones(dimension), 1.7), 0.1),
  },
  inliers: {
    title: '|N(0, 1)| in every column',
    rows: ({ dimension }) => ({ normal }) => filled(dimension, () => Math.abs(normal())),
  },
  subtle: {
    title: 'N(0, I) moved by sqrt(2 log(1 / corruption)) along (1, 1, ...)',
    rows: ({ dimension, corruption }) =>
      about(times(ones(dimension), Math.sqrt(2 * Math.log(1 / corruption))), 1),
  },
  'heavy-tails': {
    title: 'Student t with 2 degrees of freedom, without a variance, about 1 in every column',
    rows: ({ dimension }) => ({ normal, uniform }) => {
      // Half a chi-square with 2 degrees of freedom is exponential.
      const width = Math.sqrt(-Math.log(uniform()));
      return filled(dimension, () => 1 + normal() / width);
    },
  },
  rot3: {
    title: 'a third each in clusters at distance 3.6 along three random orthogonal directions',
    rows({ dimension, random }) {
      const places = orthogonal(Math.min(3, dimension), dimension, random)
        .map((direction) => about(times(direction, 3.6), 0.1));
      return (own, index) => places[index % places.length](own);
    },
  },
  shell: {
    title: 'on the half of a sphere of radius sqrt(d) that faces a random direction',
    rows: ({ dimension, random }) =>
      facing(sphere(dimension, random), () => Math.sqrt(dimension)),
  },
  ball: {
    title: 'evenly in the half of a ball of radius 1.35 sqrt(d) + 3 that faces a random direction',
    rows: ({ dimension, random }) => facing(sphere(dimension, random), ({ uniform }) =>
      (1.35 * Math.sqrt(dimension) + 3) * uniform() ** (1 / dimension)),
  },
  'tail-mimic': {
    title: 'N(0, I), but along (1, 1, ...) a Pareto tail of index 1.2 that starts at 1.645',
    rows({ dimension }) {
      const direction = ones(dimension);
      return (random) => {
        const row = sphere(dimension, random);
        const along = row.reduce((sum, entry, j) => sum + entry * direction[j], 0);
        const tail = 1.645 * random.uniform() ** (-1 / 1.2);
        return row.map((entry, j) => entry + (tail - along) * direction[j]);
      };
    },
  },
  moved: { title: 'as ones, with all rows moved by 1,000,000', rows: push(ones, 1), offset: 1e6 },
};

/**
 * Rows side by side in a random order, with the truth. Attacks stand about the honest mean, at
 * distances in deviations of the columns: where columns are correlated, that is far out in narrow
 * directions.
 * @param rows - one of `shapes`; default normal.
 * @returns {{ values: Float64Array, truth: Float64Array, honestMean: Float64Array, inDeviations:
 *   (difference: ArrayLike<number>) => number[] }} truth: the mean of the shape. inDeviations: a
 *   difference between two answers in honest deviations along uncorrelated directions.
 */
export function makeRows(name, { rows = 'normal', dimension, contributors, corruption, seed }) {
  const attack = attacks[name];
  const { draw, mean, inDeviations } = shapes[rows].build(dimension);
  const random = randomOf(`${seed} ${dimension} ${contributors} rows`);
  const offset = attack.offset ?? 0;
  const values = new Float64Array(contributors * dimension);
  const hostile = attack.isClean ? 0 : Math.round(corruption * contributors);
  const sums = new Float64Array(dimension);
  for (let i = hostile; i < contributors; i++) {
    const made = draw(random);
    for (let j = 0; j < dimension; j++) {
      sums[j] += made[j];
      values[i * dimension + j] = offset + made[j];
    }
  }
  if (hostile > 0) {
    const shared = randomOf(`${seed} ${name} agreed`);
    const row = attack.rows({ dimension, corruption, random: shared });
    const own = randomOf(`${seed} ${name} own`);
    for (let i = 0; i < hostile; i++) {
      const made = row(own, i);
      for (let j = 0; j < dimension; j++) values[i * dimension + j] = offset + mean[j] + made[j];
    }
    shuffleIn(values, dimension, hostile, randomOf(`${seed} order`));
  }
  return {
    values, inDeviations, truth: mean.map((entry) => offset + entry),
    honestMean: sums.map((sum) => offset + sum / (contributors - hostile)),
  };
}

/** Swaps the first rows with random ones, so that hostile rows can be anywhere. */
function shuffleIn(values, dimension, first, { uniform }) {
  const count = values.length / dimension;
  const held = new Float64Array(dimension);
  for (let i = 0; i < first; i++) {
    const other = i + Math.floor(uniform() * (count - i));
    held.set(values.subarray(i * dimension, (i + 1) * dimension));
    values.copyWithin(i * dimension, other * dimension, (other + 1) * dimension);
    values.set(held, other * dimension);
  }
}
