// The report of real tables: a line for each estimator, the faults, and the bars.
import { quantile } from '../harness/measure.js';
import { tableLines as table } from '../harness/pages.js';

/** The estimators that the guides advise people to use. */
export const recommended = ['mean', 'robust-mean', 'prime-heavy', 'quantile'];

const share = (part, whole) => (whole === 0 ? '-' : (part / whole).toFixed(3));
const short = (value) => (value === null || value === undefined
  ? 'none' : value !== 0 && (value >= 100 || value < 0.001)
    ? value.toExponential(1) : value.toPrecision(2));
const count = (value) => value.toLocaleString('en');

/** Groups in the order in which they first come. */
function groupsOf(lines, keyOf) {
  const groups = new Map();
  for (const line of lines) {
    const key = keyOf(line);
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return groups;
}

const isForeseen = (line) => line.isForeseen === true;
const isRefused = (line) => line.kind === 'refused' && !isForeseen(line);
const isOff = ({ kind, error, half }) => kind === 'value' && half !== null && error > 3 * half
  && error > 1e-9;

/** Numbers whose interval must hold: all but those whose release states why it has none. */
const judgedBy = (lines, field = 'isCovered') => lines.filter((line) => line.kind === 'value'
  && line[field] !== null && line[field] !== undefined && line.saysWhy !== true);

/**
 * The share of the intervals that hold. An interval without an end holds only if the release states
 * why.
 */
function holding(lines, field) {
  const all = judgedBy(lines, field);
  return share(all.filter((line) => line[field]).length, all.length);
}

const withoutEnd = (lines, saysWhy) =>
  lines.filter((line) => line.kind === 'value' && line.saysWhy === saysWhy).length;

/** The middle, the ninth tenth and the largest of the errors. */
function errorFields(lines) {
  const errors = lines.filter(({ kind }) => kind === 'value').map(({ error }) => error ?? Infinity);
  return errors.length === 0 ? ['-', '-', '-']
    : [quantile(errors, 0.5), quantile(errors, 0.9), Math.max(...errors)].map(short);
}

function summaryRow([name, lines]) {
  const of = (kind) => lines.filter((line) => line.kind === kind).length;
  const foreseen = lines.filter(isForeseen).length;
  return [
    name, count(of('value')), of('infeasible') + foreseen, of('refused') - foreseen,
    holding(lines, 'isCovered'), holding(lines, 'isCoveredIfFalse'),
    withoutEnd(lines, true), withoutEnd(lines, false), lines.filter(isOff).length,
    ...errorFields(lines),
  ];
}

const summaryHead = [
  'numbers', 'no plan', 'refused', 'interval95 holds', 'if hostile holds', 'no interval, says why',
  'no interval', 'off by over 3 half-widths', 'median error', '9 in 10 below', 'worst',
];

/** @param lines - of a report. @returns one line for each estimator. */
export function verdictsOf(lines) {
  const rows = [...groupsOf(lines, ({ estimator }) => estimator)].map(summaryRow);
  return table(['estimator', ...summaryHead], rows);
}

/** The same for each size of the cohort. */
function sizesOf(lines) {
  const groups = groupsOf(lines, ({ estimator, contributors }) =>
    `${estimator} | ${count(contributors)}`);
  return table(['estimator', 'contributors', ...summaryHead], [...groups].map(summaryRow));
}

const offAtMost = 20;

/** The numbers that are off by more than three half-widths, the worst of each column and size. */
function offRows(lines) {
  const shown = new Map();
  const worst = groupsOf(lines.filter(isOff), ({ table: name, study, column, estimator }) =>
    [name, study, column, estimator].join('|'));
  return [...worst.values()].map((group) => {
    const all = group.reduce((best, line) => (line.error > best.error ? line : best));
    const sizes = [...new Set(group.map(({ contributors }) => contributors))];
    return { ...all, sizes };
  }).sort((a, b) => b.error - a.error).filter(({ estimator }) => {
    shown.set(estimator, (shown.get(estimator) ?? 0) + 1);
    return shown.get(estimator) <= offAtMost;
  }).map((line) => [
    line.estimator, line.table, line.study === line.column ? line.column
      : `${line.column} (of ${line.study})`,
    line.sizes.map(count).join(' '), short(line.error), short(line.half),
    line.findings.join(' ') || '-',
  ]);
}

function refusedRows(lines) {
  const groups = groupsOf(lines.filter(isRefused),
    ({ table: name, study, estimator, reason }) => [estimator, name, study, reason].join('|'));
  return [...groups.values()].map((group) => [
    group[0].estimator, group[0].table, group[0].study,
    [...new Set(group.map(({ contributors }) => count(contributors)))].join(' '),
    group[0].reason,
  ]);
}

/** The estimators of the table of columns, and the figures that are shown for them. */
const shownOfColumns = [
  { estimator: 'mean', fields: ['error', 'half'] },
  { estimator: 'robust-mean', fields: ['error', 'half', 'halfIfFalse'] },
  { estimator: 'prime-heavy', fields: ['error', 'half'] },
];

function columnFields(lines, column, size) {
  return shownOfColumns.map(({ estimator, fields }) => {
    const own = lines.filter((line) => line.estimator === estimator
      && line.contributors === size && line.study === column.name && line.table === column.table);
    const values = own.filter(({ kind }) => kind === 'value');
    if (own.length === 0) return '';
    if (values.length === 0) return own[0].kind === 'refused' ? 'refused' : 'no plan';
    return fields.map((field) => {
      const middle = quantile(values.map((line) => line[field] ?? Infinity), 0.5);
      return short(Number.isFinite(middle) ? middle : null);
    }).join(' / ');
  });
}

const columnsOfTable = 4;

/** The most skewed columns of a table, in its order. */
function mostSkewed(columns) {
  const order = [...columns].sort((one, other) =>
    Math.abs(other.skewness) - Math.abs(one.skewness)).slice(0, columnsOfTable);
  return columns.filter((column) => order.includes(column));
}

function columnTable(lines, read, size) {
  const head = ['column', 'missing', 'skewness', 'commonest value',
    ...shownOfColumns.map(({ estimator }) => `\`${estimator}\``)];
  const rows = read.flatMap(({ name, columns }) => mostSkewed(columns).map((column) => [
    `${name}: ${column.name}`, column.missing.toFixed(2), column.skewness.toFixed(1),
    commonest(column.sorted).toFixed(2), ...columnFields(lines, { ...column, table: name }, size),
  ]));
  return table(head, rows);
}

function commonest(sorted) {
  let [most, run] = [0, 0];
  sorted.forEach((value, at) => {
    run = at > 0 && value === sorted[at - 1] ? run + 1 : 1;
    most = Math.max(most, run);
  });
  return most / sorted.length;
}

/** The three bars, each with a figure for every recommended estimator. */
function barsOf(lines) {
  const line = (text, figureOf, isMet) => {
    const figures = [...groupsOf(lines, ({ estimator }) => estimator)].map(([name, own]) =>
      ({ name, figure: figureOf(own) })).filter(({ figure }) => figure !== null);
    const met = figures.every(({ figure }) => isMet(figure));
    const named = figures.map(({ name, figure }) => `\`${name}\` ${figure}`).join(', ');
    return `- ${met ? 'Met' : 'Not met'}: ${text}: ${named}.`;
  };
  return [
    line('numbers that are off by more than 3 times their stated 95 % half-width, at most 0',
      (own) => own.filter(isOff).length, (figure) => figure === 0),
    line('share of the numbers in their 95 % interval, at least .93', (own) =>
      (judgedBy(own).length === 0 ? null : holding(own, 'isCovered')),
    (figure) => Number(figure) >= 0.93),
    line('numbers without an interval, of which the release does not say why, at most 0', (own) =>
      withoutEnd(own, false), (figure) => figure === 0),
    line('releases that were refused although there was a plan, at most 0',
      (own) => own.filter(isRefused).length, (figure) => figure === 0),
  ];
}

/** @param each - cohorts of each size that recommended estimators have. */
const introOf = (each) => `# Real tables

Every numeric column of fifteen public tables, as studies: skewed columns, whole numbers, missing entries, columns that are
nearly or always the same. Each contributor of a cohort has one random row of the table, so cohorts are larger than tables.
Epsilon is 1 and delta 1e-6. \`mean\`, \`robust-mean\` and the other means find their spread themselves, but for \`prime-heavy\`
and the heavy-tailed means: those are given the deviation to one digit. \`quantile\` is given a range of four to eight times the
width of the column. Nobody lies.

\`npm run bench:pages -- real-tables --out FILE --page docs/results/real-data.md\` measures and writes this page, in as many pieces as
wanted (\`--minutes\`). Errors are in deviations of the column, from the mean (or quantile) of the whole table. A study of all
columns has at most ten, and rows without a missing entry. The recommended estimators are \`mean\`, \`robust-mean\`, \`prime-heavy\`
and \`quantile\`: they have ${each} of each of four sizes. The others have one of 20,000 contributors.
The tables come from the package \`vega-datasets\`, which the tests install, and from \`data/\`. None is copied.

An interval holds if it has two ends and the mean is between them. An estimate may have no interval. That is honest if the
release says why: nearly all rows have one value, and nobody knows how far the others are. Such numbers are counted apart
(\`no interval, says why\`), and are not in the share that holds. A number without an interval and without that finding is in the
share, as one that does not hold. Fewer rows than noise shows may decide a mean; the guide says
[what noise hides](../guides/robust-means.md#what-noise-hides).`;

/** @param read - the tables. @returns the page, in Markdown. */
export function pageOf(lines, read) {
  const own = lines.filter(({ estimator }) => recommended.includes(estimator));
  const isWhole = ({ study }) => study === 'all columns';
  const separate = lines.filter((line) => !isWhole(line));
  const cohorts = new Set(own.map(({ seed }) => seed)).size;
  return [
    introOf(cohorts === 1 ? 'one cohort' : `${cohorts} cohorts`), '',
    '## Bars', '', 'For the recommended estimators. `quantile` states no interval.', '',
    ...barsOf(own), '',
    '## Estimators', '', '`no plan`: it is known before that there are too few contributors, or '
      + 'that fewer than a quarter of them have an entry. `refused` comes after.', '',
    'One study per column:', '', ...verdictsOf(separate), '',
    'One study per table:', '', ...verdictsOf(lines.filter(isWhole)), '',
    'The recommended estimators by the number of contributors, all studies:', '', ...sizesOf(own),
    '', '## Columns', '', 'Median error / half-width of the 95 % interval, for `robust-mean` also '
      + '/ half-width if a twentieth of the contributors is hostile. 50,000 contributors, one '
      + `study per column; the ${columnsOfTable} most skewed columns of each table.`, '', ...columnTable(separate, read, 50_000), '',
    '## Off by more than three half-widths', '',
    'The worst of all cohorts, at these numbers of contributors; at most '
      + `${offAtMost} columns of an estimator.`, '', ...table([
      'estimator', 'table', 'column', 'contributors', 'error', 'half-width', 'findings',
    ], offRows(lines)), '',
    '## Refused although there was a plan', '',
    ...table(['estimator', 'table', 'study', 'contributors', 'reason'], refusedRows(lines)), '',
    '## Tables', '',
    ...table(['table', 'rows', 'numeric columns', 'from', 'terms'],
      read.map(({ name, rows, columns, from, terms }) =>
        [name, count(rows), columns.length, from, terms])), '',
  ].join('\n');
}
