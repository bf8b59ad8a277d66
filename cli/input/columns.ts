import { protocolLimits } from '../../src/base/limits.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { didYouMean } from '../../src/base/suggest.js';
import { adviceOn, type RowOptions } from './rows.js';

/** The cells of a record that are used. Indexes count from 0. */
export interface Selection {
  readonly data: readonly number[];
  /** Names of the data columns: those of the file, or their indexes. */
  readonly names: readonly string[];
  /** -1 if not requested. */
  readonly contributor: number;
  readonly group: number;
}

/** True if the text is an index and not a name. */
export function isIndex(text: string): boolean {
  return /^(0|[1-9][0-9]{0,6})$/.test(text);
}

/** Every column that the options name. */
export function namedColumns(options: RowOptions): string[] {
  const { columns = [...options.types?.keys() ?? []], contributor, group } = options;
  return [...columns, contributor, group].filter((name) => name !== undefined);
}

/**
 * Finds the columns of a file.
 * @param width - cells per record.
 * @param names - the file's own names; null if it has none. A name has priority over an index.
 * @throws InvalidInputError that names a column which is missing, occurs twice, or is used twice.
 */
export function selectColumns(
  options: RowOptions, width: number, names: readonly string[] | null,
): Selection {
  const find = (wanted: string): number => {
    const index = names?.indexOf(wanted) ?? -1;
    if (index >= 0) {
      if (names!.includes(wanted, index + 1)) {
        throw new InvalidInputError(
          `${options.source}: two columns are named "${wanted}": give one of them another name`
          + adviceOn(options, 'columns', ', or choose it by its index, as in --columns 0'),
        );
      }
      return index;
    }
    if (isIndex(wanted) && Number(wanted) < width) return Number(wanted);
    throw unknownColumn(options, wanted, width, names);
  };
  const contributor = options.contributor === undefined ? -1 : find(options.contributor);
  const group = options.group === undefined ? -1 : find(options.group);
  const rest = Array.from({ length: width }, (_, index) => index)
    .filter((i) => i !== contributor && i !== group);
  const data = options.columns === undefined ? rest : options.columns.map(find);
  checkData(options, data, contributor, group);
  const found = data.map((index) => names?.[index] ?? String(index));
  checkTyped(options, found, width, names);
  return { data, names: found, contributor, group };
}

function checkData(
  options: RowOptions, data: readonly number[], contributor: number, group: number,
): void {
  const { source } = options;
  // With no columns asked for, rows are counted and nothing else is read of them.
  if (data.length === 0 && options.columns === undefined) {
    const advice = adviceOn(options, 'columns', ': name some with --columns');
    throw new InvalidInputError(`${source}: no column is left for the numbers${advice}`);
  }
  if (data.length > protocolLimits.columns) {
    throw new InvalidInputError(
      `${source}: ${data.length} columns, at most ${protocolLimits.columns} are supported`
      + adviceOn(options, 'columns', ': choose some with --columns'),
      { columns: data.length, limit: protocolLimits.columns },
    );
  }
  if (new Set(data).size < data.length) {
    throw new InvalidInputError(`${source}: --columns names a column twice`);
  }
  if (data.includes(contributor) || data.includes(group)) {
    throw new InvalidInputError(
      `${source}: --columns holds the contributor or group column: leave it out`,
    );
  }
}

/** Without a list of columns every column is read, so a type is for one of them. */
function checkTyped(
  options: RowOptions, found: readonly string[], width: number, names: readonly string[] | null,
): void {
  if (options.columns !== undefined) return;
  for (const name of options.types?.keys() ?? []) {
    if (found.includes(name)) continue;
    const own = isIndex(name) ? names?.[Number(name)] : undefined;
    if (own === undefined) throw unknownColumn(options, name, width, names);
    throw new InvalidInputError(
      `${options.source}: column ${name} has the name "${own}": give its type by this name`,
    );
  }
}

function unknownColumn(
  options: RowOptions,
  wanted: string,
  width: number,
  names: readonly string[] | null,
): InvalidInputError {
  const { source } = options;
  if (names === null || isIndex(wanted)) {
    const why = names === null && !isIndex(wanted) ? 'it has no column names, ' : '';
    const remedy = adviceOn(options, 'columns', `give an index from 0 to ${width - 1}`)
      || 'use a file that names them';
    return new InvalidInputError(
      `${source}: there is no column "${wanted}": ${why}${remedy}`,
      { column: wanted, columns: width },
    );
  }
  const listed = names.slice(0, 12).join(', ') + (names.length > 12 ? ', ...' : '');
  const near = didYouMean(wanted, names);
  const remedy = near === '' ? `: there are ${listed}: give one of them this name` : near;
  return new InvalidInputError(
    `${source}: there is no column "${wanted}"${remedy}`, { column: wanted },
  );
}
