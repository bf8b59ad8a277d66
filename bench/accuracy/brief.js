// One line for each cell: the error of the clean answer and of the worst attack, and in how many
// attacks the bounds hold.
import { attacks } from './data.js';
import { cellsOf, isMeasured, isWithin, median, short } from './table.js';

const described = ['mean', 'prime', 'robust-mean', 'filter', 'sound'];
const shapeOf = ({ dimension, contributors, corruption }) =>
  [dimension, contributors.toLocaleString('en'), corruption];

/** The attack that raises a method's median most, with that median. */
function worstOf(rows, method) {
  const found = rows.filter((row) => !attacks[row.attack].isClean && isMeasured(row, method))
    .map((row) => ({ attack: row.attack, error: median(row.errors(method)) }))
    .sort((a, b) => b.error - a.error)[0];
  if (found === undefined) return '';
  return Number.isFinite(found.error)
    ? `${short(found.error)} ${found.attack}` : `refused ${found.attack}`;
}

function cleanOf(rows, method) {
  const errors = rows.find(({ attack }) => attacks[attack].isClean)?.errors(method) ?? [];
  if (errors.length === 0) return '';
  if (errors.includes('infeasible')) return 'infeasible';
  const middle = median(errors);
  return Number.isFinite(middle) ? short(middle) : 'refused';
}

/** Rows of a cell whose median and worst seed are within the bounds, of all measured rows. */
function metOf(rows, method) {
  const measured = rows.filter((row) => isMeasured(row, method));
  return measured.length === 0
    ? '' : `${measured.filter((row) => isWithin(row, method)).length}/${measured.length}`;
}

/** A method's result in a cell, as a field of a table. */
function fieldOf(rows, method) {
  const parts = [cleanOf(rows, method), worstOf(rows, method), metOf(rows, method)].filter((part) =>
    part !== '');
  return parts[0] === 'infeasible' ? 'infeasible' : parts.join('; ');
}

/** One table: all cells of one kind of rows and one target. */
function tableOf([title, cells]) {
  const lines = [
    ['d', 'n', 'corruption', ...described],
    Array.from({ length: 3 + described.length }, () => '---'),
    ...cells.map(({ cell, rows }) =>
      [...shapeOf(cell), ...described.map((method) => fieldOf(rows, method))]),
  ];
  return [title, '', ...lines.map((fields) => `| ${fields.join(' | ')} |`), ''].join('\n');
}

/** Cells of fewer hostile rows are left out: the clean error is in all others of their size. */
const leastCorruption = 0.05;

/** @param lines - results. @returns headings and tables in Markdown. */
export function briefOf(lines) {
  const byTarget = new Map();
  for (const one of cellsOf(lines)) {
    if (one.cell.corruption < leastCorruption) continue;
    const { rows, epsilon, delta } = one.cell;
    const title = `### ${rows} rows, epsilon ${epsilon}, delta ${delta.toExponential()}`;
    byTarget.set(title, [...(byTarget.get(title) ?? []), one]);
  }
  return [...byTarget].map(tableOf).join('\n');
}
