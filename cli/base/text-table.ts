import Table from 'cli-table3';
import { terminalColumns } from './io.js';

/**
 * Column widths, with margins, that add up to at most the terminal's width. The widest columns
 * shrink first.
 */
function columnWidths(head: readonly string[], rows: readonly (readonly string[])[]): number[] {
  const longest = head.map((title, column) =>
    Math.max(1, ...[title, ...rows.map((row) => row[column] ?? '')].map((cell) =>
      Math.max(...cell.split('\n').map((part) => part.length)))));
  const widths = longest.map((length) => length + 2);
  let surplus = widths.reduce((sum, width) => sum + width, 0) - terminalColumns;
  while (surplus > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    if (widths[widest]! <= 12) break;
    widths[widest]! -= 1;
    surplus -= 1;
  }
  return widths;
}

const noLines = Object.fromEntries(
  [
    'top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left',
    'bottom-right', 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle',
  ].map((part) => [part, '']),
);

/**
 * A table without rules: the head unless it is blank, then one line per row. Long cells wrap
 * between words.
 */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = new Table({
    ...(head.every((title) => title === '') ? {} : { head: [...head] }),
    chars: noLines,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2, compact: true },
    colWidths: columnWidths(head, rows),
    wordWrap: true,
  });
  for (const row of rows) table.push([...row]);
  return table.toString().split('\n').map((line) => line.trimEnd()).join('\n');
}
