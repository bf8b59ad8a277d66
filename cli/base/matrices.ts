import { entriesOf, type NamedPart } from '../../src/base/parts.js';
import type { Interval95 } from '../../src/base/outcome.js';
import { lineText, numberText } from './output.js';

/** A table as `Output.table` takes it. */
export interface PartTable {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

interface Whole {
  readonly estimate: readonly number[];
  readonly parts?: readonly NamedPart[];
  readonly interval95?: Interval95;
}

/**
 * Most columns that fit a terminal. Of a wider matrix, only the first rows and columns are shown.
 */
const widthMax = 8;
const heightMax = 40;

/**
 * One table for each part of an estimate. A vector is one row under its labels, and a matrix keeps
 * its form. An array of more dimensions is one matrix per leading index. Rows and columns with as
 * many entries as the study has columns get the columns' names.
 */
export function tablesOf(
  { estimate, parts = [], interval95 }: Whole, columns: readonly string[],
): readonly PartTable[] {
  const tables: PartTable[] = [];
  let offset = 0;
  for (const { name, shape } of parts) {
    const [height, width] = [shape.at(-2) ?? 1, shape.at(-1) ?? 1];
    const count = entriesOf(shape) / (height * width);
    for (let index = 0; index < count; index++) {
      const title = count === 1 ? name : `${name} ${index + 1}`;
      tables.push(
        tableOf(estimate, offset + index * height * width,
          { title, height, width, columns, interval95 }),
      );
    }
    offset += entriesOf(shape);
  }
  return tables;
}

interface Matrix {
  readonly title: string;
  readonly height: number;
  readonly width: number;
  readonly columns: readonly string[];
  readonly interval95: Interval95 | undefined;
}

function tableOf(
  estimate: readonly number[], offset: number,
  { title, height, width, columns, interval95 }: Matrix,
): PartTable {
  const [shownHeight, shownWidth] = [Math.min(height, heightMax), Math.min(width, widthMax)];
  const widthCut = shownWidth < width ? ['...'] : [];
  const nameOf = (length: number, i: number): string =>
    (length === columns.length ? lineText(columns[i]!) : String(i + 1));
  const heads = [
    title, ...Array.from({ length: shownWidth }, (_, j) => nameOf(width, j)), ...widthCut,
  ];
  const rows = Array.from({ length: shownHeight }, (_, i) => [
    height === 1 ? '' : nameOf(height, i),
    ...Array.from({ length: shownWidth }, (__, j) => {
      const place = offset + i * width + j;
      return numberText(estimate[place]!, interval95, place);
    }),
    ...widthCut,
  ]);
  return { heads, rows: shownHeight < height ? [...rows, heads.map(() => '...')] : rows };
}
