// Shapes of honest rows. Every column has deviation 1, so that a known spread is 1.
import { inverseOf, mapOf } from '../linear.js';

function filled(dimension, entry) {
  const row = new Float64Array(dimension);
  for (let j = 0; j < dimension; j++) row[j] = entry(j);
  return row;
}

const exponential = ({ uniform }) => -Math.log(uniform());
/** Mean 1 / 2, variance 1 / 2. */
const gammaHalf = ({ normal }) => normal() ** 2 / 2;
const times = (matrix, vector) => matrix.map((row) =>
  row.reduce((sum, entry, j) => sum + entry * vector[j], 0));

/** Columns that have nothing to do with each other. `entry` has this mean and this deviation. */
const separate = (title, entry, mean = 0, deviation = 1) => ({
  title,
  build: (dimension) => ({
    draw: (random) => filled(dimension, () => entry(random) / deviation),
    mean: filled(dimension, () => mean / deviation),
    inDeviations: (difference) => [...difference],
  }),
});

/** Correlated columns: `root` times its transpose is their correlation matrix. */
const correlated = (title, mean, drawFor, rootFor) => ({
  title,
  build(dimension) {
    const root = rootFor(dimension);
    const inverse = inverseOf(root);
    return {
      draw: drawFor(dimension, root), mean: filled(dimension, () => mean),
      inDeviations: (difference) => times(inverse, difference),
    };
  },
});

/** The symmetric root of a matrix of ones on the diagonal and `correlation` elsewhere. */
const equal = (correlation) => (dimension) => {
  const own = Math.sqrt(1 - correlation);
  const shared = (Math.sqrt(1 + (dimension - 1) * correlation) - own) / dimension;
  return Array.from({ length: dimension }, (_, i) =>
    filled(dimension, (j) => shared + (i === j ? own : 0)));
};

const bernoulli = (share) => separate(
  `1 with probability ${share}, else 0`, ({ uniform }) => (uniform() < share ? 1 : 0), share,
  Math.sqrt(share * (1 - share)),
);

const likertShares = [0.05, 0.1, 0.15, 0.3, 0.4];
function likert({ uniform }) {
  let left = uniform();
  const answer = likertShares.findIndex((share) => {
    left -= share;
    return left < 0;
  });
  return answer < 0 ? likertShares.length : answer + 1;
}

const lognormalDeviation = Math.sqrt((Math.E - 1) * Math.E);
const lognormalMean = Math.exp(0.5) / lognormalDeviation;
const logsCorrelation = 0.8;

/** Rows of a map's size 1 in every column, singular values about 100 apart. */
const narrow = (dimension) => mapOf(dimension, 1e4, 'condition').map((row) => {
  const length = Math.hypot(...row);
  return row.map((entry) => entry / length);
});

/**
 * By name: `title`, and `build(dimension)` that returns { draw(random): a row; mean: of every
 * column; inDeviations(difference): in deviations along uncorrelated directions }.
 */
export const shapes = {
  normal: separate('N(0, 1)', ({ normal }) => normal()),
  // The sum of three squared normals: an exponential of mean 2, plus one square. Its variance is 3.
  student: separate('Student t with 3 degrees of freedom, without a fourth moment',
    ({ normal, uniform }) => normal() / Math.sqrt(-2 * Math.log(uniform()) + normal() ** 2)),
  // With index 3: P(x > t) = t^-3 for t >= 1, mean 3 / 2, variance 3 / 4.
  pareto: separate('Pareto of index 3, without a fourth moment',
    ({ uniform }) => (uniform() ** (-1 / 3) - 1.5) / Math.sqrt(0.75)),
  exponential: separate('exponential', exponential, 1, 1),
  lognormal: separate('e^N(0, 1)', ({ normal }) => Math.exp(normal()), Math.exp(0.5),
    lognormalDeviation),
  'lognormal-correlated': correlated(
    'e^N(0, 1), with correlation .8 between all logarithms', lognormalMean,
    (dimension) => ({ normal }) => {
      const shared = Math.sqrt(logsCorrelation) * normal();
      const own = Math.sqrt(1 - logsCorrelation);
      return filled(dimension, () => Math.exp(shared + own * normal()) / lognormalDeviation);
    },
    equal((Math.exp(logsCorrelation) - 1) / (Math.E - 1)),
  ),
  'gamma-correlated': correlated(
    'gamma of shape 1.5: a shared exponential, plus a gamma of shape .5 of the column\'s own',
    Math.sqrt(1.5),
    (dimension) => (random) => {
      const shared = exponential(random);
      return filled(dimension, () => (shared + gammaHalf(random)) / Math.sqrt(1.5));
    },
    equal(1 / 1.5),
  ),
  bimodal: separate('N(0, 1), but N(4, 1) for three in ten',
    ({ normal, uniform }) => normal() + (uniform() < 0.3 ? 4 : 0), 1.2, Math.sqrt(1 + 16 * 0.21)),
  'zero-inflated': separate('0 for a half, else exponential',
    (random) => (random.uniform() < 0.5 ? 0 : exponential(random)), 0.5, Math.sqrt(0.75)),
  'bernoulli-.01': bernoulli(0.01),
  'bernoulli-.05': bernoulli(0.05),
  'bernoulli-.5': bernoulli(0.5),
  likert: separate('1 to 5 with probabilities .05, .1, .15, .3, .4', likert, 3.9,
    Math.sqrt(1.39)),
  'one-constant': {
    title: 'N(0, 1), but always 3 in the first column',
    build: (dimension) => ({
      ...shapes.normal.build(dimension),
      draw: ({ normal }) => filled(dimension, (j) => (j === 0 ? 3 : normal())),
      mean: filled(dimension, (j) => (j === 0 ? 3 : 0)),
    }),
  },
  'condition-1e4': correlated(
    'normal, with eigenvalues of the covariance about 10^4 apart in no particular directions', 0,
    (dimension, root) => ({ normal }) => times(root, filled(dimension, () => normal())),
    narrow,
  ),
};
