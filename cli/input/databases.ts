import { createRequire } from 'node:module';
import { codeOf, InvalidInputError, KeelsonError } from '../../src/base/errors.js';
import { didYouMean } from '../../src/base/suggest.js';
import { connect } from '../../server/store/sqlite/driver.js';
import { CellRows, type CellColumn, type TypedCell } from './cells.js';
import {
  bytesFault, isOfTimes, nestedFault, timeFault, wrongColumn,
} from './parquet-columns.js';
import { queryMark } from './query.js';
import { adviceOn, type InputRequest, type RowBatch, type RowOptions } from './rows.js';
import { timeCell, type TimeKind } from './times.js';

const rowsAtOnce = 2048;

/** A name as SQL has it. */
function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * The table of a database that is read.
 * @throws InvalidInputError where there are several and none is named, or the named one is missing.
 */
function tableOf(tables: readonly string[], options: RowOptions): string {
  const { table, source } = options;
  if (table === undefined && tables.length === 1) return tables[0]!;
  if (table !== undefined && tables.includes(table)) return table;
  const listed = tables.length === 0 ? 'it has no table'
    : `it has ${tables.slice(0, 12).join(', ')}${tables.length > 12 ? ', ...' : ''}`;
  const what = table === undefined ? 'which table is read' : `there is no table "${table}"`;
  const advice = (table === undefined ? '' : didYouMean(table, tables))
    || adviceOn(options, 'csv', ': name one with --csv table=') || ': save one as CSV';
  throw new InvalidInputError(
    `${source}: ${what}: ${listed}${tables.length === 0 ? '' : advice}`, { source },
  );
}

/** The columns that are read of a table or a query, in SQL. */
function columnsText(names: readonly string[], used: readonly number[]): string {
  // Rows are counted also where nothing is read of them.
  return used.length === 0 ? '0 as "0"' : used.map((index) => quoted(names[index]!)).join(', ');
}

/**
 * Reads a table of an SQLite file, which is not changed. Integers, reals and texts mean what their
 * text would mean in a CSV file.
 * @throws InvalidInputError for another table, and for cells that are bytes; StorageError where
 *   there is no SQLite.
 */
export function* readSqlite(
  request: InputRequest, source: string,
): Generator<RowBatch, void, undefined> {
  const options: RowOptions = { ...request, source };
  const database = connect(request.path, { readonly: true });
  try {
    const all = <Row>(text: string, ...given: unknown[]): Row[] =>
      database.prepare<readonly unknown[], Row>(text).all(...given);
    const tables = all<{ readonly name: string }>('select name from sqlite_schema where type in '
      + "('table', 'view') and substr(name, 1, 7) <> 'sqlite_' order by name");
    const table = tableOf(tables.map(({ name }) => name), options);
    const names = all<{ readonly name: string }>('select name from pragma_table_info(?)', table)
      .map(({ name }) => name);
    // Its numbers with decimals are doubles.
    const rows = new CellRows(options, names, () => 8);
    const query = `select ${columnsText(names, rows.used)} from ${quoted(table)}`;
    let held: Readonly<Record<string, unknown>>[] = [];
    const add = (): void => {
      rows.add(new Map(rows.used.map((index): [number, CellColumn] => [
        index, held.map((row) => sqliteCell(row[names[index]!], index, names, options)),
      ])), held.length);
      held = [];
    };
    for (const row of database.prepare<[], Readonly<Record<string, unknown>>>(query).iterate()) {
      if (held.push(row) < rowsAtOnce) continue;
      add();
      yield* rows.batches(false);
    }
    add();
    yield* rows.batches(true);
  } catch (error) {
    if (error instanceof KeelsonError || !(error instanceof Error)) throw error;
    throw new InvalidInputError(`${source}: SQLite cannot read it, because it is damaged, locked or `
      + 'encrypted: make a copy with the program that wrote it', { source });
  } finally {
    database.close();
  }
}

function sqliteCell(
  cell: unknown, index: number, names: readonly string[], options: RowOptions,
): TypedCell {
  if (!(cell instanceof Uint8Array)) return cell as TypedCell;
  throw wrongColumn(options, index, names[index]!, bytesFault, false);
}

/** The package of DuckDB, as far as it is used here. */
interface DuckDb {
  readonly DuckDBInstance: {
    create(path: string, options: Readonly<Record<string, string>>): Promise<{
      connect(): Promise<DuckDbConnection>;
      closeSync(): void;
    }>;
  };
}

interface DuckDbConnection {
  stream(text: string): Promise<DuckDbResult>;
  closeSync(): void;
}

interface DuckDbResult {
  columnNames(): readonly string[];
  columnTypes(): readonly { readonly typeId: number }[];
  fetchChunk(): Promise<{
    readonly rowCount: number; getColumns(): readonly (readonly unknown[])[];
  } | null>;
}

const require = createRequire(import.meta.url);

/** @throws InvalidInputError where the package is not installed. */
function duckDb(source: string): DuckDb {
  try {
    return require('@duckdb/node-api') as DuckDb;
  } catch (cause) {
    const isMissing = codeOf(cause) === 'MODULE_NOT_FOUND';
    throw new InvalidInputError(`${source}: it is read by DuckDB, and its package @duckdb/node-api `
      + `${isMissing ? 'is not installed' : 'does not load here'}: run \`npm install `
      + '@duckdb/node-api` where Keelson is installed, or save the rows as Parquet or CSV',
    { source });
  }
}

/**
 * Reads a table of a DuckDB file, which is not changed, or the rows of a query that begins with
 * `sql:`. A query names files and tables as DuckDB does.
 * @throws InvalidInputError where DuckDB's package is not installed or refuses, for another table,
 *   and for columns that have no one number or text in a row.
 */
export async function* readDuckDb(
  request: InputRequest, source: string,
): AsyncGenerator<RowBatch, void, undefined> {
  const options: RowOptions = { ...request, source };
  const { DuckDBInstance } = duckDb(source);
  const isQuery = request.path.startsWith(queryMark);
  // Nothing is taken from the network.
  const apart = { autoinstall_known_extensions: 'false' };
  const instance = await answered(source, () => (isQuery
    ? DuckDBInstance.create(':memory:', apart)
    : DuckDBInstance.create(request.path, { ...apart, access_mode: 'READ_ONLY' })));
  try {
    const connection = await instance.connect();
    const ask = (text: string): Promise<DuckDbResult> =>
      answered(source, () => connection.stream(text));
    try {
      const from = isQuery ? `(${queryOf(request.path, source)})`
        : quoted(tableOf(await tablesOf(ask), options));
      yield* rowsOf(ask, from, options);
    } finally {
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
  }
}

/** The text of a query, without the semicolon at its end. */
function queryOf(path: string, source: string): string {
  const text = path.slice(queryMark.length).trim().replace(/\s*;$/, '');
  if (/^(select|from|with|values)\b/i.test(text)) return text;
  throw new InvalidInputError(`${source}: a query begins with SELECT, FROM, WITH or VALUES, as in `
    + '"sql:SELECT minutes FROM \'rides.parquet\'"', { source });
}

async function tablesOf(ask: (text: string) => Promise<DuckDbResult>): Promise<readonly string[]> {
  const result = await ask('select table_name from information_schema.tables where table_schema = '
    + '\'main\' order by table_name');
  const names: string[] = [];
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return names;
    names.push(...chunk.getColumns()[0] as readonly string[]);
  }
}

async function* rowsOf(
  ask: (text: string) => Promise<DuckDbResult>, from: string, options: RowOptions,
): AsyncGenerator<RowBatch> {
  const head = await ask(`select * from ${from} limit 0`);
  const [names, types] = [head.columnNames(), head.columnTypes()];
  const rows = new CellRows(options, names, (column) => floatBytes[types[column]!.typeId]);
  const kinds = rows.used.map((index) => {
    const { typeId } = types[index]!;
    const kind = timeKinds[typeId] ?? null;
    const fault = plain.has(typeId) || (kind !== null && isOfTimes(options, names[index]!, index))
      ? null : faultOf(typeId);
    if (fault === null) return kind;
    throw wrongColumn(options, index, names[index]!, fault, kind !== null);
  });
  const result = await ask(`select ${columnsText(names, rows.used)} from ${from}`);
  for (;;) {
    const chunk = await answered(options.source, () => result.fetchChunk());
    if (chunk === null || chunk.rowCount === 0) break;
    const columns = chunk.getColumns();
    rows.add(new Map(rows.used.map((index, i): [number, CellColumn] =>
      [index, columns[i]!.map((cell) => duckDbCell(cell, kinds[i] ?? null))])), chunk.rowCount);
    yield* rows.batches(false);
  }
  yield* rows.batches(true);
}

/** Ids of types in DuckDB's C interface: booleans, integers, floats, decimals, texts and enums. */
const plain: ReadonlySet<number> = new Set([
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 19, 23, 32,
]);
const floatBytes: Readonly<Record<number, number>> = { 10: 4, 11: 8 };
const timeKinds: Readonly<Record<number, TimeKind>> = {
  12: 'local', 13: 'day', 20: 'local', 21: 'local', 22: 'local', 31: 'utc',
};
/** Times of day and intervals. */
const otherTimes: ReadonlySet<number> = new Set([14, 15, 30]);
const nested: ReadonlySet<number> = new Set([24, 25, 26, 28, 33]);

function faultOf(typeId: number): string {
  if (timeKinds[typeId] !== undefined || otherTimes.has(typeId)) return timeFault;
  return nested.has(typeId) ? nestedFault : bytesFault;
}

/** Lengths of a day and of parts of a second in milliseconds, by the name that DuckDB has. */
const lengthsMs = { days: 86_400_000, seconds: 1000, millis: 1, micros: 1e-3, nanos: 1e-6 };

function duckDbCell(cell: unknown, kind: TimeKind | null): TypedCell {
  if (typeof cell !== 'object' || cell === null) return cell as TypedCell;
  // A decimal, as it is written.
  if (kind === null) return (cell as { toString(): string }).toString();
  const parts = Object.entries<unknown>(cell as Record<string, unknown>);
  const [name, value] = parts.find(([each]) => each in lengthsMs)!;
  const ms = Math.floor(Number(value) * lengthsMs[name as keyof typeof lengthsMs]);
  // DuckDB has dates before and after those of a calendar with four digits, and infinite ones.
  return timeCell(ms, kind) ?? 'no date';
}

/** DuckDB's messages about rows may hold cells, and those about the query do not. */
async function answered<Result>(
  source: string, ask: () => Promise<Result>,
): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof KeelsonError) throw error;
    const [line = ''] = String((error as Error).message).split('\n');
    const isAboutQuery = /^(Parser|Catalog|Binder|IO) Error/.test(
      line.replace(/^Failed to [a-z ]+: /, ''));
    throw new InvalidInputError(`${source}: DuckDB refuses: ${isAboutQuery ? line
      : `${/^[A-Za-z ]+ Error/.exec(line)?.[0] ?? 'an error'}, of which the text may hold cells`}: `
      + 'try the query in DuckDB', { source });
  }
}
