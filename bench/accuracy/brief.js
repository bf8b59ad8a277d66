// All cells in a line each: how far the clean answer and the worst attack's are off, and in how many rows the bounds hold.
import { attacks } from './data.js';
import { cellsOf, isMeasured, isWithin, median, short } from './table.js';

const described = ['mean', 'prime', 'robust-mean', 'filter'];
const shapeOf = ({ rows, dimension, contributors, corruption }) => [
  rows, dimension, contributors.toLocaleString('en'), corruption,
];

/** The median of the attack that moves a method furthest, and which it is. */
function worstOf(rows, method) {
  const found = rows.filter((row) => !attacks[row.attack].isClean && isMeasured(row, method))
    .map((row) => ({ attack: row.attack, error: median(row.errors(method)) }))
    .sort((a, b) => b.error - a.error)[0];
  if (found === undefined) return '';
  return Number.isFinite(found.error) ? `${short(found.error)} ${found.attack}` : `refused ${found.attack}`;
}

function cleanOf(rows, method) {
  const errors = rows.find(({ attack }) => attacks[attack].isClean)?.errors(method) ?? [];
  if (errors.length === 0) return '';
  if (errors.includes('infeasible')) return 'infeasible';
  const middle = median(errors);
  return Number.isFinite(middle) ? short(middle) : 'refused';
}

/** Rows of a cell in which median and worst seed are within the bounds, of all that were measured. */
function metOf(rows, method) {
  const measured = rows.filter((row) => isMeasured(row, method));
  return measured.length === 0 ? '' : `${measured.filter((row) => isWithin(row, method)).length}/${measured.length}`;
}

/** @param lines - of results. @returns a heading and a table in Markdown. */
export function briefOf(lines) {
  const heads = described.flatMap((method) => [`${method}, clean`, 'worst attack', 'met']);
  const table = [
    ['rows', 'd', 'n', 'corruption', 'epsilon', ...heads],
    ['---', ...Array.from({ length: 4 + heads.length }, () => '---')],
    ...cellsOf(lines).map(({ cell, rows }) => [
      ...shapeOf(cell), cell.epsilon,
      ...described.flatMap((method) => [cleanOf(rows, method), worstOf(rows, method), metOf(rows, method)]),
    ]),
  ];
  return ['### All cells', '', ...table.map((cells) => `| ${cells.join(' | ')} |`), ''].join('\n');
}
