import { StorageError } from '../../../src/base/errors.js';
import type { Session } from '../postgres/session.js';
import type { MovedTable, Row } from './moved-tables.js';

/** Most bytes of one statement, before rows are written as text. */
const pageBytes = 4 * 1024 * 1024;

/** Writes all rows of a table. @returns how many. */
export async function copyRows(session: Session, table: MovedTable): Promise<number> {
  let count = 0;
  for (const page of pagesOf(table)) {
    const columns = Object.keys(page[0]!).map((name) => `"${name}"`).join(', ');
    await session.text(`INSERT INTO ${table.name} (${columns}) SELECT ${columns}
      FROM json_populate_recordset(NULL::${table.name}, $1::json)`, [JSON.stringify(page, written)]);
    count += page.length;
  }
  return count;
}

/**
 * Reads all rows of a table back, and compares them with the source.
 * @throws StorageError that names the first row which is not the same.
 */
export async function compareRows(session: Session, table: MovedTable): Promise<void> {
  const { name, key, open = (_: Row, there: Row): Row => there } = table;
  const order = key.map((column) => `"${column}"`).join(', ');
  await session.execute(`DECLARE moved_${name} CURSOR FOR SELECT * FROM ${name} ORDER BY ${order}`);
  const fetch = (): Promise<Row[]> =>
    session.text<Row>(`FETCH ${table.pageRows} FROM moved_${name}`);
  let page: Row[] = [];
  let at = 0;
  const next = async (): Promise<Row | undefined> => {
    if (at === page.length) [page, at] = [await fetch(), 0];
    at += 1;
    return page[at - 1];
  };
  for (const row of table.rows()) {
    const there = await next();
    if (there === undefined || !isSame(row, open(row, there))) throw different(name, key, row);
  }
  const more = await next();
  if (more !== undefined) throw different(name, key, more);
  await session.execute(`CLOSE moved_${name}`);
}

function* pagesOf({ pageRows, rows, seal = (row) => row }: MovedTable): Generator<Row[]> {
  let page: Row[] = [];
  let bytes = 0;
  for (const row of rows()) {
    page.push(seal(row));
    bytes += bytesOf(row);
    if (page.length < pageRows && bytes < pageBytes) continue;
    yield page;
    [page, bytes] = [[], 0];
  }
  if (page.length > 0) yield page;
}

const bytesOf = (row: Row): number => Object.values(row).reduce<number>((sum, value) =>
  sum + (value instanceof Uint8Array || typeof value === 'string' ? value.length : 8), 0);

/** A value as PostgreSQL reads it from JSON. Whole numbers and amounts are text, so none is cut. */
function written(this: Row, name: string, value: unknown): unknown {
  // A Buffer has turned itself into something else by now.
  const plain = this[name];
  if (plain instanceof Uint8Array) return `\\x${Buffer.from(plain).toString('hex')}`;
  return typeof value === 'bigint' ? String(value) : value;
}

/** The database must match the source in every column of the source. It may have more columns. */
const isSame = (row: Row, there: Row): boolean => Object.entries(row).every(([name, value]) => {
  const found = there[name];
  if (value instanceof Uint8Array) {
    return found instanceof Uint8Array && Buffer.compare(value, found) === 0;
  }
  return (typeof found === 'boolean' ? BigInt(found) : found) === value;
});

function different(table: string, key: readonly string[], row: Row): StorageError {
  const which = key.map((name) => `${name} ${String(row[name])}`).join(', ');
  return new StorageError(`the row ${which} of ${table} is not the same in the database as in the `
    + 'data folder, so nothing was moved: look for triggers on the tables, and run it again',
  'storage-failed', { details: { table } });
}
