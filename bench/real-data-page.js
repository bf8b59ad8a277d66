// The page of bench/real-data.js: every bar, and the figures behind it.
import { attacks } from './accuracy/data.js';
import { tableLines as table } from './harness/pages.js';
import {
  cellsOf, mayBeWorse, medianError, metOf, missesOf, overClipped, overOlder, overPeer,
  radiusOverError, rootError, saidSkewed, spreadsOf, sharing, short, worstOf,
} from './real-data-bars.js';

const count = (value) => value.toLocaleString('en');
const unique = (list) => [...new Set(list)];
const share = (value) => (value === undefined ? '-' : value === null ? 'none' : value.toFixed(2));

const intro = `# Bars for columns of any shape

What \`robust-mean\` and \`covariance\` must reach on shapes that real columns have, and what they reach. Epsilon is 1 and delta 1e-6.
A twentieth of the rows is hostile where an attack is named. Every figure is measured through the whole release. \`spread auto\`
means that the spread is found privately. \`spread 1\` means that the true deviations are given.

Errors under attack are distances from the mean of the honest rows, in honest deviations along uncorrelated directions: the median
over the seeds. Errors of clean rows are distances from the true mean, in deviations of the columns: the root mean square.
\`clipped mean\` knows the true mean and the true deviations, and spends all of the privacy on its noise. The shapes and the
attacks are in \`bench/accuracy\`.

\`npm run bench:pages -- bars --out FILE --page docs/results/bars.md\` measures and writes this page, in as many pieces as wanted
(\`--minutes\`). The same seeds give the same figures.

No interval is asked of a column of which the release says that it has none, and why (\`mostly-one-value\`, \`end-unseen\`).`;

/** Only where all data sets of the older version were measured. */
const introOfOlder = `\`shape: light\` is set beside the version from before \`shape: any\`, on the same 25 data sets: the root mean square distance from
the true mean. A release of today plans more events, so it draws other noise on the same rows. The bar was at most 1.02 for every
attack. 25 data sets do not tell ratios so finely, so a ratio may now be above 1.02 by two of its standard errors, which are .006
to .04, and the middle ratio of all attacks may not be above 1.02. This limit was chosen after the ratios had been seen.`;

const barTable = (bars) => table(['bar', 'figure', 'within', 'worst', 'limit', 'cell'],
  bars.map((one) => {
    const { name, figure, limit } = worstOf(one);
    return [one.number, one.text, metOf(one), short(figure),
      `at ${one.isLeast ? 'least' : 'most'} ${short(limit)}`, name];
  }));

function missedBars(bars) {
  const missed = bars.filter(({ cells }) => cells.some(({ isMet }) => !isMet));
  if (missed.length === 0) return ['Every bar is met in every cell.'];
  return ['Figures that miss their bar, each with its limit in brackets:', '',
    ...missed.map((one) => `- ${one.number}, ${one.text}: ${missesOf(one).join('; ')}.`)];
}

/** A figure for each spread, in one field: found / given. */
const bothSpreads = (cells, textOf) => ['auto', '1'].flatMap((spread) => {
  const cell = cells.find((one) => one.spread === spread);
  return cell === undefined ? [] : [textOf(cell)];
}).join(' / ');

/** The share of the columns in an interval, and of those that have none, if there are any. */
function holdsText({ own, dimension, ...cell }) {
  const asked = own.flatMap(({ holds }) => (holds ? [holds[1]] : []));
  const left = 1 - asked.reduce((sum, one) => sum + one, 0) / (dimension * asked.length);
  const text = share(sharing({ ...cell, own }, 'holds'));
  return asked.length === 0 || left < 0.005 ? text : `${text}, ${left.toFixed(2)} have none`;
}

/** The number of data sets behind some figures, such as 7 or 11. */
const seedsOf = (cells) =>
  unique(cells.map(({ own }) => own.length)).sort((a, b) => a - b).join(' or ');

/** The number of data sets behind each figure, by part of the benchmark. */
const seedsTable = (lines) => table(['part', 'figures', 'data sets of each'],
  unique(lines.map(({ part }) => part)).map((part) => {
    const counts = cellsOf(lines, part).map(({ own }) => own.length);
    const [least, most] = [Math.min(...counts), Math.max(...counts)];
    return [part, counts.length, least === most ? least : `${least} to ${most}`];
  }));

function cleanTable(lines) {
  const all = ['clean', 'fewer', 'one-column'].flatMap((part) => cellsOf(lines, part));
  const groups = unique(all.map(({ estimator, rows, dimension, contributors }) =>
    [estimator, rows, dimension, contributors].join('|')));
  return table([
    'estimator', 'rows', 'd', 'n', 'spread that is found', 'error', 'over the clipped mean',
    '`interval95` holds', 'refused',
  ], groups.map((key) => {
    const cells = all.filter(({ estimator, rows, dimension, contributors }) =>
      [estimator, rows, dimension, contributors].join('|') === key);
    const { estimator, rows, dimension, contributors } = cells[0];
    const found = cells.find(({ spread }) => spread === 'auto');
    const refused = (cell) => cell.own.filter(({ kind }) => kind !== 'value').length;
    return [
      estimator, rows, dimension, count(contributors),
      found === undefined ? '-' : spreadsOf(found).map(short).join(' to '),
      bothSpreads(cells, (cell) => short(rootError(cell))),
      bothSpreads(cells, (cell) => short(overClipped(cell))),
      bothSpreads(cells, holdsText), bothSpreads(cells, refused),
    ];
  }));
}

/** True if all data sets of the version before were measured, under some attack. */
const hasRatios = (cells) => cells.some((cell) => overOlder(cell) !== undefined);

function attackTable(cells, textOf) {
  const names = unique(cells.map(({ rows }) => rows));
  const rows = Object.keys(attacks).filter((name) => cells.some(({ attack }) => attack === name));
  return table(['attack', ...names], rows.map((attack) => [attack, ...names.map((name) =>
    bothSpreads(cells.filter((cell) => cell.attack === attack && cell.rows === name), textOf))]));
}

function normalTable(cells) {
  const [head, rule, ...rows] = attackTable(cells, (cell) => short(medianError(cell)));
  if (!hasRatios(cells)) return [head, rule, ...rows];
  const besideOlder = (attack) => {
    const cell = cells.find((one) =>
      one.attack === attack && one.rows === 'normal' && one.spread === '1');
    return (cell && overOlder(cell))?.toFixed(3) ?? '-';
  };
  return [`${head} normal, over the version before |`, `${rule} --- |`,
    ...rows.map((row) => `${row} ${besideOlder(row.split('|')[1].trim())} |`)];
}

/** The number of ratios that are above the limit without standard errors. */
function strictText(cells) {
  const ratios = cells.map(overOlder).filter((ratio) => ratio !== undefined);
  return ratios.length === 0 ? [] : [
    `Of ${ratios.length} ratios to the version before, ${ratios.filter((ratio) =>
      ratio > mayBeWorse).length} are above ${mayBeWorse}; the largest is ${
      Math.max(...ratios).toFixed(3)}.`, '',
  ];
}

const hostileText = (cell) => {
  const radius = radiusOverError(cell);
  return `${share(sharing(cell, 'holdsIfFalse'))}, ${radius === null ? '-' : radius.toFixed(1)}`;
};

const skewTable = (cells) => table(['rows', 'd', 'n', 'releases', 'say `skewed`'],
  unique(cells.map(({ rows, contributors }) => `${rows}|${contributors}`)).map((key) => {
    const own = cells.filter(({ rows, contributors }) => `${rows}|${contributors}` === key);
    const { rows, dimension, contributors } = own[0];
    return [rows, dimension, count(contributors), own[0].own.length,
      bothSpreads(own, (cell) => share(saidSkewed(cell)))];
  }));

const peerTable = (cells) => table(
  ['estimator', 'rows', 'd', 'n', 'error', 'CoinPress, best steps', 'ratio'],
  cells.map((cell) => {
    const { error, best } = overPeer(cell);
    const { kind, text, reason } = cell.own.find(({ kind: own }) => own !== 'value') ?? {};
    return [cell.estimator, cell.rows, cell.dimension, count(cell.contributors),
      kind === undefined ? short(error) : reason ?? text, short(best), short(error / best)];
  }),
);

/** The attacks and the rows that the guide shows. */
const guideAttacks = ['none', 'far', 'point', 'cluster', 'ones', 'subtle', 'tail-mimic'];
const guideRows = [
  ['normal', 'normal rows'], ['exponential', 'exponential rows'], ['lognormal', 'lognormal rows'],
  ['condition-1e4', 'correlated rows, condition 10,000'],
];

/** The table of attacks of docs/guides/robust-means.md, with the sentence before it. */
export function guideTable(lines) {
  const cells = cellsOf(lines, 'attacks').filter(({ spread }) => spread === 'auto');
  const [{ contributors, dimension }] = cells;
  const fieldOf = (attack, name) => {
    const cell = cells.find((one) => one.attack === attack && one.rows === name);
    return cell === undefined ? '-' : short(medianError(cell));
  };
  return [
    `\`robust-mean\` with the spread that it finds: n = ${count(contributors)}, ${dimension} columns, `
      + 'epsilon 1, one row in twenty hostile. A figure is',
    'the distance from the honest rows\' mean, in standard deviations along uncorrelated '
      + `directions: the median of ${seedsOf(cells)} seeds.`,
    '', ...table(['attack', ...guideRows.map(([, title]) => title)], guideAttacks.map((attack) =>
      [attack, ...guideRows.map(([name]) => fieldOf(attack, name))])), '',
  ].join('\n');
}

/** @param bars - of `barsOf`. @returns the page, in Markdown. */
export function pageOf(lines, bars) {
  const [attacked, normal] = [cellsOf(lines, 'attacks'), cellsOf(lines, 'normal')];
  const peers = [...cellsOf(lines, 'covariance'), ...cellsOf(lines, 'small')];
  const diagnosed = [...cellsOf(lines, 'diagnosis'), ...cellsOf(lines, 'flights')];
  return [
    intro, '', ...(hasRatios(normal) ? [introOfOlder, ''] : []),
    '## Bars', '', ...barTable(bars), '', ...missedBars(bars), '',
    '## Data sets', '', ...seedsTable(lines), '',
    '## Clean rows', '', 'Two figures are those of a spread that is found, and of true deviations '
      + 'that are given.', '', ...cleanTable(lines), '',
    '## Under attack', '', `\`shape: any\`, median error over ${seedsOf(attacked)} seeds, spread found / given:`,
    '', ...attackTable(attacked, (cell) => short(medianError(cell))), '',
    '`shape: light`, the same:', '', ...normalTable(normal), '', ...strictText(normal),
    'Share of the columns in `intervalIfFalse95`, and the radius over the error (median), '
      + '`shape: any`:', '', ...attackTable(attacked, hostileText), '',
    'The same, `shape: light`:', '', ...attackTable(normal, hostileText), '',
    '## What releases say of skewed rows', '', ...skewTable(diagnosed), '',
    '## Beside CoinPress', '', 'CoinPress is told the deviations and where the mean is, or the '
      + 'smallest and the largest eigenvalue. `covariance` is told nothing. `mean` and '
      + '`robust-mean` are told what CoinPress is told. `robust-mean` has `shape: any`, where '
      + 'nothing else is said.', '', ...peerTable(peers), '',
  ].join('\n');
}
