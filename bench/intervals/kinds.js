// Kinds of rows for bench/intervals.js: each draws one entry, and those of a law know its mean.
import { readTable, tables } from '../real-tables/tables.js';
import { randomOf } from '../accuracy/random.js';

const normal = ({ normal: drawn }) => drawn();
const exponential = ({ uniform }) => -Math.log(1 - uniform());
const lognormal = (width) => (random) => Math.exp(width * random.normal());
const pareto = (order) => ({ uniform }) => (1 - uniform()) ** (-1 / order) - 1;
const laplace = (random) => (random.uniform() < 0.5 ? -1 : 1) * exponential(random);
/** Student's law with a whole number of degrees. */
const student = (degrees) => (random) => {
  let square = 0;
  for (let i = 0; i < degrees; i++) square += random.normal() ** 2;
  return random.normal() / Math.sqrt(square / degrees);
};

/** Shapes that the rules were fitted on, with the mean of the law; null: that of the rows. */
const clean = {
  normal: [normal, 0],
  exponential: [exponential, 1],
  'lognormal 1': [lognormal(1), Math.exp(0.5)],
  'lognormal 1.5': [lognormal(1.5), Math.exp(1.125)],
  'lognormal 2': [lognormal(2), null],
  't 3': [student(3), 0],
  'pareto 1.5': [pareto(1.5), null],
  'pareto 2': [pareto(2), null],
  'pareto 2.5': [pareto(2.5), 1 / 1.5],
  '90 % zeros': [(random) => (random.uniform() < 0.1 ? exponential(random) : 0), 0.1],
  '50 % zeros': [(random) => (random.uniform() < 0.5 ? lognormal(1)(random) : 0),
    Math.exp(0.5) / 2],
  uniform: [({ uniform }) => uniform(), 0.5],
  bimodal: [(random) => (random.uniform() < 0.3 ? -2 : 1) + random.normal() / 2, 0.1],
};

/** Shapes that took no part. */
const held = {
  laplace: [laplace, 0],
  'weibull .6': [(random) => exponential(random) ** (1 / 0.6), 1.504575488251556],
  'weibull 2': [(random) => Math.sqrt(exponential(random)), Math.sqrt(Math.PI) / 2],
  'log-logistic 3': [({ uniform }) => (1 / (1 - uniform()) - 1) ** (1 / 3),
    (Math.PI / 3) / Math.sin(Math.PI / 3)],
  't 5': [student(5), 0],
  '5 % at 8': [(random) =>
    (random.uniform() < 0.05 ? 8 + 3 * random.normal() : random.normal()), 0.4],
  triangle: [({ uniform }) => uniform() + uniform(), 1],
  'steps of 5': [(random) => 5 * Math.round(3 * random.normal()), 0],
  'sum of two': [(random) => exponential(random) - exponential(random) / 2, 0.5],
  'cubed normal': [(random) => random.normal() ** 3, 0],
};

/** Values that are never negative, as in the guide on totals. The truth is that of the rows. */
const totals = Object.fromEntries(Object.entries({
  exponential,
  uniform: ({ uniform }) => uniform(),
  'lognormal .8': lognormal(0.8),
  'lognormal 1.5': lognormal(1.5),
  'lognormal 2': lognormal(2),
  'lognormal 3': lognormal(3),
  'lognormal 4': lognormal(4),
  'pareto 2.5': pareto(2.5),
  'pareto 2': pareto(2),
  'pareto 1.5': pareto(1.5),
  'pareto 1.2': pareto(1.2),
  'pareto 1': pareto(1),
  'poisson 3': ({ uniform }) => {
    let [count, product] = [0, uniform()];
    for (; product > Math.exp(-3); product *= uniform()) count += 1;
    return count;
  },
  '90 % zeros': (random) => (random.uniform() < 0.1 ? exponential(random) : 0),
  '90 % zeros, lognormal 3': (random) => (random.uniform() < 0.1 ? lognormal(3)(random) : 0),
  '98 % zeros': (random) => (random.uniform() < 0.02 ? exponential(random) : 0),
  constant: () => 1,
}).map(([name, entry]) => [name, [entry, null]]));

/** Some people at a distance, or over an octave about it, or at it on both sides. */
const group = (count, distance, kind) => (random, i) => {
  if (i >= count) return random.normal();
  const place = kind === 'octave' ? distance * 2 ** (random.uniform() - 0.5) : distance;
  return kind === 'two-sided' && random.uniform() < 0.5 ? -place : place;
};
/** @param seenFrom - as the plan says. */
const clusters = (seenFrom) => Object.fromEntries([10, 100, 1e4, 1e7].flatMap((distance) => [
  ['point', 1.3], ['octave', 1.8], ['two-sided', 1.8],
].map(([kind, times]) => [`${kind} at ${distance}`,
  [group(Math.ceil(seenFrom * times), distance, kind), null]])));

/** Columns of public tables, none of which a rule was fitted on. */
const columnsOf = [
  ['airports', 'latitude'], ['birdstrikes', 'Cost Total $'], ['birdstrikes', 'Speed IAS in knots'],
  ['disasters', 'Deaths'], ['earthquakes', 'sig'], ['earthquakes', 'dmin'],
  ['football', 'home_score'], ['github', 'count'], ['movies', 'US Gross'],
  ['movies', 'Running Time min'], ['penguins', 'Body Mass (g)'], ['weather', 'precipitation'],
];

/** People who each have a random row of a table. The law is the table. */
function real() {
  return Object.fromEntries(columnsOf.map(([name, column]) => {
    const { sorted, mean } = readTable(tables.find((table) => table.name === name)).columns
      .find((each) => each.name === column);
    const entry = ({ uniform }) => sorted[Math.floor(uniform() * sorted.length)];
    return [`${name}: ${column}`, [entry, mean]];
  }));
}

/**
 * By name: how an entry is drawn, and the mean of the law.
 * @param set - as --set names it.
 * @param seenFrom - gives from how many people on a group is seen, as the plan of a mean says.
 */
export const kindsOf = (set, seenFrom) => ({
  clean: () => clean, held: () => held, totals: () => totals, real,
  clusters: () => clusters(seenFrom()),
})[set]();

/** Many sorted entries of a kind, for what its law does not state. */
export function largeSample(entry, size) {
  const random = randomOf('large sample');
  return Float64Array.from({ length: size }, () => entry(random, Infinity)).sort();
}
