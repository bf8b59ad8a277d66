// The bars of bench/real-data.js, and the figures that are set beside them.
import { median, rootMeanSquare, sum } from './harness/measure.js';

/** A figure for people. */
export const short = (value) => (value === null || value === undefined || Number.isNaN(value)
  ? 'none' : !Number.isFinite(value) ? 'refused'
    : Number.isInteger(value) ? `${value}` : value.toPrecision(3));

/** Runs that differ in their seed only. */
export function cellsOf(lines, part) {
  const cells = new Map();
  for (const line of lines) {
    if (line.part !== part) continue;
    const { estimator, rows, attack, contributors, dimension, spread } = line;
    const key = [estimator, rows, attack, contributors, dimension, spread].join(' ');
    if (!cells.has(key)) cells.set(key, { ...line, own: [] });
    cells.get(key).own.push(line);
  }
  return [...cells.values()];
}

const isAnswered = ({ kind }) => kind === 'value';
/** A refusal is the worst answer. */
const errorsOf = (own, field = 'error') =>
  own.map((line) => (isAnswered(line) ? line[field] : Infinity));
const stated = (own, field) => own.filter((line) =>
  isAnswered(line) && line[field] !== null && line[field] !== undefined);

/** Median distance from the honest rows' mean, in deviations along uncorrelated directions. */
export const medianError = ({ own }) => median(errorsOf(own));
/** Root mean square distance from the true mean, in deviations of the columns. */
export const rootError = ({ own }) => rootMeanSquare(errorsOf(own, 'inColumns'));
/** Beside that of the clipped mean that knows the true mean and deviations. */
export const overClipped = (cell) => rootError(cell)
  / rootMeanSquare(stated(cell.own, 'clipped').map(({ clipped }) => clipped));
/**
 * The smallest and the largest spread of all columns and runs. null: no release states its spread.
 */
export function spreadsOf({ own }) {
  const all = stated(own, 'spreads').flatMap(({ spreads }) => spreads);
  return all.length === 0 ? [null, null] : [Math.min(...all), Math.max(...all)];
}
/**
 * The share of the columns that an interval holds for. undefined: it is asked for none. null: no
 * release has one.
 */
export function sharing({ own }, field) {
  const all = stated(own, field);
  if (all.length === 0) return null;
  const [holds, asked] = [0, 1].map((k) => sum(all.map((line) => line[field][k])));
  return asked === 0 ? undefined : holds / asked;
}
/** Radius over error, median. null: no radius. */
export function radiusOverError({ own }) {
  const all = stated(own, 'radius').filter(({ inSpreads }) => inSpreads > 0);
  return all.length === 0 ? null : median(all.map(({ radius, inSpreads }) => radius / inSpreads));
}
/** The share of the runs that find that the rows are skewed. */
export function saidSkewed({ own }) {
  const all = stated(own, 'findings');
  return all.length === 0 ? null
    : all.filter(({ findings }) => findings.includes('skewed')).length / all.length;
}
/** Error over that of CoinPress with the best number of steps, both root mean square. */
export function overPeer({ own }) {
  const best = Math.min(...own[0].peers.map((_, k) =>
    rootMeanSquare(own.map(({ peers }) => peers[k]))));
  return { error: rootMeanSquare(errorsOf(own)), best };
}

/**
 * What `shape: light` was before rows of any shape, by attack: the root mean square distance from
 * the true mean over 25 data sets (seeds 0 to 24), and the standard error of today's ratio to it
 * over the same sets. Both versions see the same rows and draw other noise. Source: commit ce117214
 * without its change, measured once by `makeRows` and `outcomeOf` of bench/accuracy; normal rows,
 * 10 columns, 100,000 rows, epsilon 1, delta 1e-6, a twentieth hostile, spread 1.
 */
const older = {
  none: [0.01022, 0.018], ones: [0.01162, 0.016], alternating: [0.0122, 0.016],
  direction: [0.01178, 0.021], coordinate: [0.01236, 0.018], point: [0.01033, 0.015],
  far: [0.01044, 0.02], 'two-clusters': [0.01157, 0.021], pairs: [0.01012, 0.021],
  spray: [0.01129, 0.015], dense: [0.01187, 0.039], cluster: [0.01144, 0.014],
  near: [0.02135, 0.01], inliers: [0.0171, 0.011], subtle: [0.03354, 0.006],
  'heavy-tails': [0.01586, 0.015],
};
const seedsOfOlder = 25;
/** A ratio to the older version that is no loss. */
export const mayBeWorse = 1.02;

/**
 * Root mean square error over that of the older version, on the same data sets. undefined: the
 * older version was not measured, or not all data sets are there.
 */
export function overOlder({ rows, attack, dimension, contributors, spread, own }) {
  if (rows !== 'normal' || dimension !== 10 || contributors !== 1e5 || spread !== '1'
    || older[attack] === undefined) return undefined;
  const first = own.filter(({ seed }) => seed < seedsOfOlder);
  if (first.length < seedsOfOlder) return undefined;
  return rootMeanSquare(errorsOf(first, 'fromTruth')) / older[attack][0];
}

const countOf = (value) => value.toLocaleString('en');
const nameOf = ({ estimator, part, rows, attack, dimension, contributors, spread }) => [
  ...(estimator === 'robust-mean' && part !== 'small' ? [] : [estimator]), rows,
  ...(attack === undefined || attack === 'none' ? [] : [attack]),
  `d = ${dimension}, n = ${countOf(contributors)}${spread === undefined ? '' : `, spread ${spread}`}`,
].join(' ');

/**
 * One bar. @param figureOf - of a cell; undefined: the bar does not ask for this cell; null misses.
 * @param limitOf - of a cell. @param isLeast - whether the figure should be at least the limit.
 */
function bar(number, text, list, figureOf, limitOf, isLeast = false) {
  const cells = list.flatMap((cell) => {
    const [figure, limit] = [figureOf(cell), limitOf(cell)];
    if (figure === undefined) return [];
    const isMet = figure !== null && (isLeast ? figure >= limit : figure <= limit);
    return [{ name: nameOf(cell), figure, limit, isMet }];
  });
  return cells.length === 0 ? [] : [{ number, text, isLeast, cells }];
}

const apart = new Set(
  ['ones', 'alternating', 'direction', 'coordinate', 'point', 'two-clusters'],
);

function limitUnderAttack({ rows, attack }) {
  if (attack === 'far' || attack === 'pairs') return 0.03;
  if (rows === 'normal' && apart.has(attack)) return 0.02;
  if (rows === 'normal' && (attack === 'dense' || attack === 'cluster')) return 0.06;
  return attack === 'tail-mimic' ? 0.33 : 0.25;
}

const limitOfClean = ({ rows }) =>
  (rows === 'lognormal-correlated' || rows === 'student' ? 1.4 : 1.25);
const isFound = ({ spread }) => spread === 'auto';
const refusals = ({ own }) => own.filter((line) => !isAnswered(line)).length;

function barsOfClean(lines) {
  const all = cellsOf(lines, 'clean');
  const clean = all.filter(({ estimator }) => estimator === 'robust-mean');
  const fewer = cellsOf(lines, 'fewer');
  const found = clean.filter(isFound);
  const hit = cellsOf(lines, 'attacks').filter(({ rows, attack, spread }) =>
    rows === 'normal' && attack === 'coordinate' && spread === 'auto');
  const ofMean = (cell) => all.find(({ estimator, dimension, spread }) =>
    estimator === 'mean' && dimension === cell.dimension && spread === cell.spread);
  const flights = cellsOf(lines, 'flights');
  const most = Math.max(...flights.map(({ contributors }) => contributors));
  return [
    bar(1, 'smallest spread that is found, in deviations', found,
      (cell) => spreadsOf(cell)[0], () => 0.8, true),
    bar(1, 'largest spread that is found', found, (cell) => spreadsOf(cell)[1],
      ({ rows }) => (rows === 'bernoulli-.01' ? 2 : 1.5)),
    bar(1, 'largest spread with a hostile twentieth in one column', hit,
      (cell) => spreadsOf(cell)[1], () => 1.8),
    bar(1, 'refused releases of clean rows', [...clean, ...fewer], refusals, () => 0),
    bar(2, 'error over that of the clipped mean', clean, overClipped, limitOfClean),
    bar(2, 'the same, one skewed column', cellsOf(lines, 'one-column'), overClipped, () => 1.6),
    bar(2, 'error over that of `mean`, normal rows', clean.filter((cell) =>
      cell.rows === 'normal' && ofMean(cell) !== undefined),
    (cell) => rootError(cell) / rootError(ofMean(cell)), () => 1.15),
    bar(2, 'largest error of flights', flights.filter(({ contributors }) => contributors === most),
      ({ own }) => Math.max(...errorsOf(own)), () => 0.005),
    bar(5, 'share of the columns in `interval95`, clean rows', [...clean, ...fewer],
      (cell) => sharing(cell, 'holds'), () => 0.95, true),
  ].flat();
}

const named = (text) => ({ own: [], rows: text, attack: 'none' });

function barsUnderAttack(lines) {
  const isHostile = ({ attack }) => attack !== 'none';
  const attacked = cellsOf(lines, 'attacks').filter(isHostile);
  const normal = cellsOf(lines, 'normal');
  const [plain, narrow] = ['normal', 'condition-1e4'].map((name) =>
    normal.filter(({ rows }) => rows === name));
  const halves = ['auto', '1'].map((spread) => narrow.filter((cell) => cell.spread === spread));
  const ratios = plain.map(overOlder).filter((ratio) => ratio !== undefined);
  const hostile = [...attacked, ...normal.filter(isHostile)];
  const large = attacked.filter((cell) => {
    const error = medianError(cell);
    return error > 0.08 && Number.isFinite(error);
  });
  return [
    bar(3, 'median error under attack', attacked, medianError, limitUnderAttack),
    bar(4, '`shape: light`, normal rows: error over that of the version before', plain, overOlder,
      // Two standard errors: the effect of the noise of 25 data sets.
      ({ attack }) => mayBeWorse + 2 * (older[attack]?.[1] ?? 0)),
    bar(4, '`shape: light`, normal rows: middle of these ratios', ratios.length === 0 ? [] : [{
      ...plain.find(({ spread }) => spread === '1'), ...named('normal, half of the attacks'),
    }], () => median(ratios), () => mayBeWorse),
    bar(4, '`shape: light`, condition 10^4: median error', narrow, medianError, () => 0.15),
    bar(4, '`shape: light`, condition 10^4: middle of these errors',
      halves.filter(({ length }) => length > 0).map((cells) => ({
        ...cells[0], ...named('condition-1e4, half of the attacks'), half: median(
          cells.map(medianError)),
      })), ({ half }) => half, () => 0.05),
    bar(5, 'share of the columns in `intervalIfFalse95`, under attack', hostile,
      (cell) => sharing(cell, 'holdsIfFalse'), () => 0.95, true),
    bar(5, 'radius over error, where the error is above .08', large, radiusOverError, () => 4),
  ].flat();
}

/** @param lines - results. @returns the bars, each with the figures of its cells. */
export function barsOf(lines) {
  const ratio = (cell) => {
    const { error, best } = overPeer(cell);
    return error / best;
  };
  const diagnosed = [...cellsOf(lines, 'diagnosis'), ...cellsOf(lines, 'flights')];
  const isNormal = ({ rows }) => rows === 'normal';
  return [
    ...barsOfClean(lines), ...barsUnderAttack(lines),
    ...bar(6, '`covariance`: error over that of CoinPress', cellsOf(lines, 'covariance'), ratio,
      () => 1.25),
    ...bar(6, 'small cohorts with `range` and `spread`: error over that of CoinPress',
      cellsOf(lines, 'small'), ratio, () => 1.1),
    ...bar(7, 'share of the releases of normal rows that say `skewed`', diagnosed.filter(isNormal),
      saidSkewed, () => 0.02),
    ...bar(7, 'share of the releases of skewed rows that say `skewed`',
      diagnosed.filter((cell) => !isNormal(cell)), saidSkewed, () => 0.95, true),
  ].sort((left, right) => left.number - right.number);
}

const namedAtMost = 10;
const shown = ({ name, figure, limit }) => `${name}: ${short(figure)} (${short(limit)})`;

/** The cell that is nearest to its limit, or farthest beyond it. */
export function worstOf({ cells, isLeast }) {
  const excess = ({ figure, limit }) => (figure === null ? Infinity
    : isLeast ? limit - figure : figure / Math.max(limit, 1e-9));
  return cells.reduce((worst, cell) => (excess(cell) > excess(worst) ? cell : worst));
}

/** The number of a bar's cells that are within their limits. */
export const metOf = ({ cells }) =>
  `${cells.filter(({ isMet }) => isMet).length} of ${cells.length}`;

/** The cells that miss a bar, with their limits. */
export function missesOf({ cells }) {
  const missing = cells.filter(({ isMet }) => !isMet);
  const more = missing.length - namedAtMost;
  return [...missing.slice(0, namedAtMost).map(shown), ...(more > 0 ? [`and ${more} more`] : [])];
}

/** A line for each bar. */
export const summaryOf = (bars) => bars.map((one) => {
  const misses = missesOf(one);
  return `bar ${one.number}, ${one.text}: ${metOf(one)} cells; worst ${shown(worstOf(one))}`
    + `${misses.length === 0 ? '' : `; not ${misses.join('; ')}`}`;
});
