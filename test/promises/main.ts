import { writeFileSync } from 'node:fs';
import { cells, type Cell } from './cells.js';
import { figuresOf, type Figures } from './measure.js';
import { pageAsked } from './page-asked.js';
import { pageOf } from './page.js';
import { surpriseOf } from './verdict.js';

/**
 * Measures every row of the table, and writes the page of results.
 * @param args - `--tiny` for the quick rows only, and the page.
 * @returns 1 where the table does not say what a row misses.
 */
export async function main(args: readonly string[]): Promise<number> {
  const { isTiny, page } = pageAsked(args);
  const measured: [Cell, Figures][] = [];
  let surprises = 0;
  for (const cell of cells.filter(({ isQuick }) => isQuick || !isTiny)) {
    const figures = await figuresOf(cell);
    measured.push([cell, figures]);
    const surprise = surpriseOf(cell, figures);
    if (surprise === null) continue;
    surprises += 1;
    process.stdout.write(`${surprise}\n`);
  }
  writeFileSync(page, pageOf(measured));
  process.stdout.write(`${measured.length} rows measured, ${surprises} not as the table says\n`);
  return surprises === 0 ? 0 : 1;
}
