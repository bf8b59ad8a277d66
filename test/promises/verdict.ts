import type { Asked, Cell } from './cells.js';
import type { Figures } from './measure.js';

/** A 95 % interval misses more often than this allows once in a thousand times. */
const chance = 1e-3;

/** How many of so many 95 % intervals may miss. */
export function missesMax(intervals: number): number {
  let misses = 0;
  let term = 0.95 ** intervals;
  let left = 1 - term;
  while (left > chance) {
    misses += 1;
    term *= ((intervals - misses + 1) / misses) * (0.05 / 0.95);
    left -= term;
  }
  return misses;
}

/** What a cell does not keep, in the order of the alphabet. */
export function brokenOf({ limits }: Cell, figures: Figures): readonly Asked[] {
  const { error, width, removed, answered, finite, held, closed } = figures;
  const tests: Readonly<Record<Asked, boolean>> = {
    error: error !== null && error > limits.error,
    width: limits.width !== null && width !== null && width > limits.width,
    removed: removed > limits.removed,
    answered: answered < limits.answered,
    finite: finite !== null && finite < limits.finite,
    held: held !== null && Math.round((1 - held) * closed) > missesMax(closed),
  };
  return Object.entries(tests).flatMap(([name, isBroken]) => (isBroken ? [name as Asked] : []))
    .sort();
}

/** What a cell misses but should keep, and what it keeps but is said to miss; null: neither. */
export function surpriseOf(cell: Cell, figures: Figures): string | null {
  const broken = brokenOf(cell, figures);
  if (broken.join() === [...cell.missed].sort().join()) return null;
  return `${cell.name}: it misses ${broken.join(', ') || 'nothing'}, and the table says `
    + `${cell.missed.join(', ') || 'nothing'}. Limits ${JSON.stringify(cell.limits)}, figures `
    + JSON.stringify(figures);
}
