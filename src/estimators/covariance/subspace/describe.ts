import type { Describe, NumberInfo } from '../../../base/number-info.js';

/** The orthogonal projector onto a subspace, row by row, and its number of dimensions. */
export const describeSubspace: Describe = (_, columns) => [
  ...columns.flatMap(({ name: column }, i) => columns.map(({ name: other }, j): NumberInfo =>
    // Off the diagonal an entry is at most half: its square is at most p (1 - p) for some p.
    ({ kind: 'projector', column, other, ...(i === j ? { least: 0, most: 1 }
      : { least: -0.5, most: 0.5 }) }))),
  { kind: 'rank', least: 0, most: columns.length },
];
