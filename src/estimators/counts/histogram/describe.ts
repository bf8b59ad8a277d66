import type { ColumnInfo, Describe, NumberInfo } from '../../../base/number-info.js';
import { about, askedColumn, countedBy } from '../../contract/describe.js';
import { numberOf, optionalNumbersOf } from '../../contract/values.js';

/** A count for each public bin; or the lower end and the count of each bin that is found. */
export const describeHistogram: Describe = (values, columns, outcome) => {
  const column = askedColumn(values, columns);
  const edges = optionalNumbersOf(values, 'edges');
  if (edges === undefined) {
    const width = numberOf(values, 'width');
    return countedBy(values, 'top').flatMap((found) => foundBin(column, found, width, outcome));
  }
  // Bins of a category or boolean are its values, and its edges lie between their places.
  const names = column.names?.length === edges.length + 1 ? column.names : undefined;
  return [undefined, ...edges].map((from, i): NumberInfo => {
    const [below, name] = [edges[i], names?.[i]];
    return {
      kind: 'bin', column: column.name, least: 0,
      bin: {
        ...(from !== undefined && { from }), ...(below !== undefined && { below }),
        ...(name !== undefined && { name }),
      },
    };
  });
};

function foundBin(
  column: ColumnInfo, found: number, width: number,
  outcome: { readonly estimate: readonly number[] } | undefined,
): readonly NumberInfo[] {
  const [from, count] = outcome?.estimate.slice(2 * found - 2) ?? [];
  // A count of exactly 0 says that there is no further bin.
  const isThere = from !== undefined && count !== undefined && count !== 0;
  const bin = { found, ...(isThere && { from, below: from + width }) };
  return [
    { kind: 'bin-start', bin, ...about(column) },
    { kind: 'bin', column: column.name, bin, least: 0 },
  ];
}
