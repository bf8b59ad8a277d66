// Rows for the accuracy benchmark: honest rows have mean 0 and covariance I, and an attack makes
// the hostile rows. The same seed gives the same rows.

/** Fast and repeatable, for generated data only: Doty-Humphrey's sfc32, seeded with a text. */
export function randomOf(seed) {
  let [a, b, c, counter] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 1];
  const next = () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum | 0;
    return sum >>> 0;
  };
  for (const character of seed) {
    a ^= character.codePointAt(0);
    next();
  }
  for (let i = 0; i < 20; i++) next();
  const uniform = () => (next() + 0.5) / 2 ** 32;
  let spare = null;
  const normal = () => {
    if (spare !== null) {
      const kept = spare;
      spare = null;
      return kept;
    }
    const radius = Math.sqrt(-2 * Math.log(uniform()));
    const angle = 2 * Math.PI * uniform();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
  return { uniform, normal };
}

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
  moved: { title: 'as ones, with all rows moved by 1,000,000', rows: push(ones, 1), offset: 1e6 },
};

/**
 * The distributions of the entries of honest rows, with mean 0 and variance 1. Heavy ones have no
 * fourth moment.
 */
export const shapes = {
  normal: ({ normal }) => normal(),
  // The sum of three squared normals: an exponential of mean 2, plus one square. Its variance is 3.
  student: ({ normal, uniform }) => normal() / Math.sqrt(-2 * Math.log(uniform()) + normal() ** 2),
  // With index 3: P(x > t) = t^-3 for t >= 1, mean 3 / 2, variance 3 / 4.
  pareto: ({ uniform }) => (uniform() ** (-1 / 3) - 1.5) / Math.sqrt(0.75),
};

/**
 * Rows side by side in a random order, with the truth.
 * @param rows - one of `shapes`; default normal.
 * @returns {{ values: Float64Array, truth: Float64Array, honestMean: Float64Array }}
 */
export function makeRows(name, { rows = 'normal', dimension, contributors, corruption, seed }) {
  const attack = attacks[name];
  const entryOf = shapes[rows];
  const random = randomOf(`${seed} ${dimension} ${contributors} rows`);
  const offset = attack.offset ?? 0;
  const values = new Float64Array(contributors * dimension);
  const hostile = attack.isClean ? 0 : Math.round(corruption * contributors);
  const sums = new Float64Array(dimension);
  for (let i = hostile; i < contributors; i++) {
    for (let j = 0; j < dimension; j++) {
      const entry = entryOf(random);
      sums[j] += entry;
      values[i * dimension + j] = offset + entry;
    }
  }
  if (hostile > 0) {
    const shared = randomOf(`${seed} ${name} agreed`);
    const row = attack.rows({ dimension, corruption, random: shared });
    const own = randomOf(`${seed} ${name} own`);
    for (let i = 0; i < hostile; i++) {
      const made = row(own, i);
      for (let j = 0; j < dimension; j++) values[i * dimension + j] = offset + made[j];
    }
    shuffleIn(values, dimension, hostile, randomOf(`${seed} order`));
  }
  return {
    values, truth: new Float64Array(dimension).fill(offset),
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
