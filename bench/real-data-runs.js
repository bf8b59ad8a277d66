// One run of bench/real-data.js: rows are made, answered, and set beside the truth.
import { loadFlights } from '../dist/cli/data/flights.js';
import { makeRows } from './accuracy/data.js';
import { outcomeOf, planOf } from './accuracy/private.js';
import { randomOf } from './accuracy/random.js';
import { mapOf, mappedRows, relativeErrorMatrix } from './linear.js';
import { estimatesOf, rho, steps } from './peers/estimates.js';

const target = { epsilon: 1, delta: 1e-6 };
const difference = (left, right) => left.map((entry, j) => entry - right[j]);
/** Every column has deviation 1. */
const distance = (left, right) => Math.hypot(...difference([...left], right));

/** The clipped mean about the true mean, with the true deviations and the noise of all rho. */
function clippedMean({ values, truth }, dimension, seed) {
  const count = values.length / dimension;
  const radius = 1.35 * Math.sqrt(dimension) + 3;
  const sums = new Float64Array(dimension);
  for (let at = 0; at < values.length; at += dimension) {
    let square = 0;
    for (let j = 0; j < dimension; j++) square += (values[at + j] - truth[j]) ** 2;
    const factor = Math.min(1, radius / Math.sqrt(square));
    for (let j = 0; j < dimension; j++) sums[j] += factor * (values[at + j] - truth[j]);
  }
  const { normal } = randomOf(`${seed} clipped mean`);
  const noise = 2 * radius / Math.sqrt(2 * rho);
  return truth.map((entry, j) => entry + (sums[j] + noise * normal()) / count);
}

/** Flights in deviations of their columns, as rows of a benchmark. */
function flightRows(contributors, seed) {
  const columns = [loadFlights().columns.delay, loadFlights().columns.distance];
  const means = columns.map((column) =>
    column.reduce((sum, value) => sum + value, 0) / column.length);
  const deviations = columns.map((column, j) => Math.sqrt(
    column.reduce((sum, value) => sum + (value - means[j]) ** 2, 0) / column.length));
  const { uniform } = randomOf(`flights ${seed}`);
  const values = new Float64Array(2 * contributors);
  const sums = [0, 0];
  for (let i = 0; i < contributors; i++) {
    const row = Math.floor(uniform() * columns[0].length);
    for (let j = 0; j < 2; j++) {
      values[2 * i + j] = columns[j][row] / deviations[j];
      sums[j] += values[2 * i + j];
    }
  }
  return {
    values, truth: Float64Array.from(means, (mean, j) => mean / deviations[j]),
    honestMean: sums.map((sum) => sum / contributors), inDeviations: (entries) => [...entries],
  };
}

/** Columns for which the release states that they have no interval, and why. */
const withoutAnswer = (findings) => new Set(findings.flatMap(({ reason, columns }) =>
  (reason === 'mostly-one-value' || reason === 'end-unseen' ? columns : [])));

/**
 * The number of columns for which an interval holds, and the number for which one is required. An
 * interval without an end holds nothing. If the release states that a column has none, and why,
 * none is required. null: the release has no such interval.
 */
function holding(interval, findings, truth) {
  if (interval === undefined) return null;
  const left = withoutAnswer(findings);
  const asked = interval.low.flatMap((low, j) => {
    const high = interval.high[j];
    const isFinite = Number.isFinite(low) && Number.isFinite(high);
    return left.has(j) && !isFinite ? [] : [isFinite && low <= truth[j] && truth[j] <= high];
  });
  return [asked.filter(Boolean).length, asked.length];
}

/** The smallest and the largest spread. The first column of `one-constant` has no deviation. */
function spreadRange(spread, rows) {
  if (spread === undefined) return null;
  const own = rows === 'one-constant' ? spread.slice(1) : spread;
  return own.length === 0 ? null : [Math.min(...own), Math.max(...own)];
}

/** @returns the outcome of a release, or a line with the reason why there is none. */
async function released(name, values, shape, parameters, seed) {
  const plan = planOf(name, shape, target, parameters);
  if (typeof plan === 'string') return { kind: 'infeasible', text: plan };
  const outcome = await outcomeOf(plan, values, shape.dimension, { seed, noise: 'seeded' });
  return outcome.kind === 'refused' ? { kind: 'refused', reason: outcome.reason } : outcome;
}

/**
 * One release of a mean beside the truth. `error` is from the honest rows' mean and `fromTruth`
 * from the true mean, both in deviations along uncorrelated directions; `inColumns` and `clipped`
 * are from the true mean, in deviations of the columns.
 */
async function lineOfMean(run, spread, made) {
  const { rows, attack, contributors, dimension, parameters, estimator, seed } = run;
  const shape = { dimension, contributors, corruption: 0.05 };
  // The seeds of bench/accuracy, so that a release of before gives its published figures.
  const outcome = await released(estimator, made.values, shape, { spread, ...parameters },
    `${seed} ${estimator}`);
  if (outcome.kind !== 'value') return { ...run, spread, ...outcome };
  const { estimate, interval95, intervalIfFalse95, radiusIfFalse95, findings = [] } = outcome;
  const own = outcome.spread ?? estimate.map(() => 1);
  const fromHonest = difference(estimate, made.honestMean);
  return {
    ...run, spread, kind: 'value',
    error: Math.hypot(...made.inDeviations(fromHonest)),
    fromTruth: Math.hypot(...made.inDeviations(difference(estimate, made.truth))),
    inColumns: distance(estimate, made.truth),
    clipped: attack === 'none' ? distance(clippedMean(made, dimension, seed), made.truth) : null,
    holds: holding(interval95, findings, made.truth),
    holdsIfFalse: holding(intervalIfFalse95, findings, made.truth),
    radius: radiusIfFalse95 ?? null,
    inSpreads: Math.hypot(...fromHonest.map((entry, j) => entry / own[j])),
    spreads: spreadRange(outcome.spread, rows),
    findings: outcome.findings === undefined ? null : findings.map(({ reason }) => reason),
  };
}

async function measuredMeans(run, spreads) {
  const made = run.rows === 'flights' ? flightRows(run.contributors, run.seed)
    : makeRows(run.attack, { corruption: 0.05, ...run });
  const lines = [];
  for (const spread of spreads) lines.push(await lineOfMean(run, spread, made));
  return lines;
}

/** A covariance without known bounds, beside CoinPress, which is given its eigenvalues. */
async function measuredCovariance(run, python) {
  const { dimension, contributors, condition, seed } = run;
  const shape = { dimension, contributors, corruption: 0 };
  const map = mapOf(dimension, condition, `${seed} peers`);
  const values = mappedRows(makeRows('none', { ...shape, seed }).values, map);
  const off = (estimate) => Math.hypot(...relativeErrorMatrix(estimate, map));
  const outcome = await released('covariance', values, shape, { spread: 'auto' }, `${seed}`);
  const peers = estimatesOf(python, values, dimension, steps.map((count) =>
    ({ method: 'coinpress-covariance', rho, bound: condition, steps: count, seed })));
  return [{ ...run, ...withError(outcome, off), peers: peers.map(off) }];
}

/** The error of a mean with public bounds and deviations, beside CoinPress, which gets both too. */
async function measuredSmall(run, python) {
  const { dimension, contributors, estimator, reach, parameters, seed } = run;
  const shape = { dimension, contributors, corruption: 0 };
  const { values, truth } = makeRows('none', { ...shape, seed: `${seed} small` });
  // The mean is 2 in each column.
  const moved = values.map((value) => value + 2);
  const off = (estimate) => distance(estimate, truth.map((entry) => entry + 2));
  const told = { spread: '1', range: `-${reach}..${reach}`, ...parameters };
  const outcome = await released(estimator, moved, shape, told, `${seed} ${estimator}`);
  const radius = reach * Math.sqrt(dimension);
  const peers = estimatesOf(python, moved, dimension, steps.map((count) =>
    ({ method: 'coinpress-mean', rho, radius, steps: count, seed })));
  return [{ ...run, ...withError(outcome, off), peers: peers.map(off) }];
}

const withError = (outcome, off) => (outcome.kind === 'value'
  ? { kind: 'value', error: off(outcome.estimate) } : outcome);

/** @param spreads - that a mean is given: auto, or 1. @returns the lines of one run. */
export function measured(run, { spreads, python }) {
  if (run.part === 'covariance') return measuredCovariance(run, python);
  if (run.part === 'small') return measuredSmall(run, python);
  return measuredMeans(run, spreads);
}
