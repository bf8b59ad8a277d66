// Tables of measured errors for people: median and worst over the seeds.
import { attacks } from './data.js';

const sorted = (list) => [...list].sort((a, b) => a - b);
/**
 * The median; for an even number the worse of the two central ones. A refusal is null and counts as
 * the worst answer.
 */
export const median = (list) => sorted(list.map((error) => error ?? Infinity))[list.length >> 1];
/** A figure for people. */
export const short = (value) =>
  (value >= 100 ? value.toPrecision(2) : value.toFixed(value < 10 ? 4 : 2));
/** The properties that identify a cell, in the order of its title. */
export const cellKeys =
  ['rows', 'dimension', 'contributors', 'corruption', 'epsilon', 'delta'];
const isSame = (line, at) => Object.keys(at).every((key) => line[key] === at[key]);

/** Median and worst, and how many refused. */
function described(errors) {
  if (errors.length === 0) return '';
  if (errors.includes('infeasible')) return 'infeasible';
  const given = errors.filter((error) => error !== null);
  if (given.length === 0) return 'refused';
  const refused = errors.length - given.length;
  return `${short(median(given))} ${short(Math.max(...given))}`
    + `${refused === 0 ? '' : ` (${refused} refused)`}`;
}

/** One attack in one cell. @param at - cell and attack. */
export function rowOf(lines, at) {
  const own = lines.filter((line) => isSame(line, at));
  const errors = (method) =>
    own.flatMap((line) => (Object.hasOwn(line.errors, method) ? [line.errors[method]] : []));
  const methods = [...new Set(own.flatMap((line) => Object.keys(line.errors)))];
  const clean = median(errors('clean'));
  // An unlucky seed's honest mean is far away, and no answer can be closer to the truth.
  const excess = (line) => Math.max(0, line.errors.clean - clean);
  const overHonest = (method) => own.filter((line) => Object.hasOwn(line.errors, method))
    .map((line) => (line.errors[method] ?? Infinity) - 2 * excess(line));
  return {
    ...at, methods, seeds: own.length, errors, overHonest,
    text: (method) => described(errors(method)), bounds: boundsOf(at, clean),
  };
}

/** Private methods first, in the order of measuring; then the methods they are compared with. */
function inTableOrder(methods) {
  const last = ['sound', 'filter', 'clean'];
  return [
    ...[...methods].filter((method) => !last.includes(method)),
    ...last.filter((method) => methods.has(method)),
  ];
}

/** All cells in the order of the dimensions, each with a row per attack. */
export function cellsOf(lines) {
  const unique = new Map();
  for (const line of lines) {
    const cell = Object.fromEntries(cellKeys.map((key) => [key, line[key]]));
    unique.set(JSON.stringify(cell), cell);
  }
  const inOrder = [...unique.values()].sort((a, b) => a.rows.localeCompare(b.rows)
    || ['epsilon', 'contributors', 'dimension', 'corruption']
      .reduce((found, key) => found || a[key] - b[key], 0));
  return inOrder.map((cell) => {
    const names = new Set(lines.filter((line) => isSame(line, cell)).map(({ attack }) => attack));
    const rows = Object.keys(attacks)
      .filter((name) => names.has(name)).map((attack) => rowOf(lines, { ...cell, attack }));
    return { cell, rows, methods: inTableOrder(new Set(rows.flatMap(({ methods }) => methods))) };
  });
}

/**
 * With b = corruption sqrt(log(1 / corruption)): the error that a mean robust in every direction
 * should reach.
 */
function boundsOf({ attack, corruption }, clean) {
  const share = attacks[attack].isClean ? 0 : corruption;
  const b = share === 0 ? 0 : share * Math.sqrt(Math.log(1 / share));
  return { median: 1.5 * b + 2 * clean, worst: 2 * b + 2 * clean };
}

/** A cell, described in one line. */
export function cellTitle({ rows, dimension, contributors, corruption, epsilon, delta }) {
  return `${rows} rows, d = ${dimension}, n = ${contributors}, corruption ${corruption}, epsilon `
    + `${epsilon}, delta ${delta}; sqrt(d / n) = ${short(Math.sqrt(dimension / contributors))}`;
}

/** True if a row has answers of a method with a plan. */
export function isMeasured(row, method) {
  const errors = row.errors(method);
  return errors.length > 0 && !errors.includes('infeasible');
}

/**
 * True if the median, and every seed minus the error of its honest mean, are within the bounds. A
 * refusal is not.
 */
export function isWithin(row, method) {
  return median(row.errors(method)) <= row.bounds.median
    && Math.max(...row.overHonest(method)) <= row.bounds.worst;
}

/** The number of rows in the tables in which a method is within the bounds. */
export function boundsTable(cells) {
  const counts = new Map();
  for (const row of cells.flatMap(({ rows }) => rows)) {
    for (const method of row.methods) {
      if (!isMeasured(row, method)) continue;
      const count = counts.get(method) ?? { met: 0, all: 0 };
      count.all += 1;
      count.met += isWithin(row, method) ? 1 : 0;
      counts.set(method, count);
    }
  }
  const lines = [...counts].map(([method, { met, all }]) =>
    `  ${method.padEnd(18)}${met} of ${all}`);
  return ['\nrows of the tables with median <= 1.5 b + 2 clean and worst <= 2 b + 2 clean, '
    + 'b = corruption sqrt(log(1 / corruption)):', ...lines].join('\n');
}

/** All tables, for a page. */
export function markdownOf(lines) {
  const parts = cellsOf(lines).map(({ cell, rows, methods }) => {
    const seeds = Math.min(...rows.map((row) => row.seeds));
    const table = [
      ['attack', ...methods, 'asked'], ['---', ...methods.map(() => '---'), '---'],
      ...rows.map((row) => [
        row.attack, ...methods.map((method) => row.text(method)),
        `${short(row.bounds.median)} ${short(row.bounds.worst)}`,
      ]),
    ];
    return [
      `### ${cellTitle(cell)}`, '', `${seeds} seeds`, '',
      ...table.map((cells) => `| ${cells.join(' | ')} |`), '',
    ];
  });
  return parts.flat().join('\n');
}
