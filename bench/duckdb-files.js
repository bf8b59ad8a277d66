// The files of duckdb.js: an app, minutes with two decimals, an age and a score with three.
import { closeSync, openSync, writeSync } from 'node:fs';
import { parquetWriteFile } from 'hyparquet-writer';
import { randomOf } from './accuracy/random.js';

export const appsOfFile = Array.from({ length: 20 }, (_, i) => `app${i}`);
const rowsAtOnce = 100_000;

/** @param format `csv`, `ndjson` or `parquet`. */
export function writeRows(file, format, count) {
  const random = randomOf('duckdb');
  const row = () => [
    appsOfFile[Math.floor(random.uniform() * appsOfFile.length)],
    Math.round(2_000 + 1_500 * random.normal()) / 100,
    Math.floor(random.uniform() * 100),
    Math.round(random.uniform() * 1e6) / 1_000,
  ];
  if (format === 'parquet') writeParquet(file, Array.from({ length: count }, row));
  else writeLines(file, format, count, row);
}

function writeLines(file, format, count, row) {
  const handle = openSync(file, 'w');
  if (format === 'csv') writeSync(handle, 'app,minutes,age,score\n');
  for (let left = count; left > 0; left -= rowsAtOnce) {
    const lines = Array.from({ length: Math.min(left, rowsAtOnce) }, () => {
      const [app, minutes, age, score] = row();
      return format === 'csv' ? `${app},${minutes},${age},${score}\n`
        : `${JSON.stringify({ app, minutes, age, score })}\n`;
    });
    writeSync(handle, lines.join(''));
  }
  closeSync(handle);
}

function writeParquet(file, rows) {
  const column = (name, at, type) => ({ name, type, data: rows.map((row) => row[at]) });
  parquetWriteFile({
    filename: file, rowGroupSize: rowsAtOnce,
    columnData: [
      column('app', 0, 'STRING'), column('minutes', 1, 'DOUBLE'), column('age', 2, 'INT32'),
      column('score', 3, 'DOUBLE'),
    ],
  });
}
