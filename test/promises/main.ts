import { writeFileSync } from 'node:fs';
import { cells, type Cell } from './cells.js';
import { figuresOf, type Figures } from './measure.js';
import { pageOf } from './page.js';
import { surpriseOf } from './verdict.js';

/**
 * Measures every row of the table, and writes the page of results.
 * @param args - the page.
 * @returns 1 where the table does not say what a row misses.
 */
export async function main([page]: readonly string[]): Promise<number> {
  if (page === undefined) throw new Error('name the page that is written');
  const measured: [Cell, Figures][] = [];
  let status = 0;
  for (const cell of cells) {
    const figures = await figuresOf(cell);
    measured.push([cell, figures]);
    const surprise = surpriseOf(cell, figures);
    if (surprise === null) continue;
    status = 1;
    process.stdout.write(`${surprise}\n`);
  }
  writeFileSync(page, pageOf(measured));
  return status;
}
