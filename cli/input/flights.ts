import { flightsColumns, loadFlights } from '../data/flights.js';
import { selectColumns } from './columns.js';
import { BatchBuilder, type RowBatch, type RowOptions } from './rows.js';

/**
 * The rows of the flights that come with the package, with columns `delay_minutes` and
 * `distance_miles`.
 * @throws InvalidInputError for columns that they do not have.
 */
export function* readFlights(options: RowOptions): Generator<RowBatch, void, undefined> {
  const { count, columns } = loadFlights();
  const all = Object.values(flightsColumns).map((name) => columns[name]);
  const { data, names, contributor, group } =
    selectColumns(options, all.length, Object.keys(flightsColumns));
  const builder =
    new BatchBuilder(names, { contributors: contributor >= 0, groups: group >= 0 });
  for (let row = 0; row < count; row++) {
    const { target, offset } = builder;
    data.forEach((column, i) => { target[offset + i] = all[column]![row]!; });
    const cell = (column: number): string => (column < 0 ? '' : String(all[column]![row]!));
    builder.endRow(row, cell(contributor), cell(group));
  }
  yield* builder.take(true);
}
