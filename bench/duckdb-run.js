// One question of duckdb.js to DuckDB, on one thread: the folder of its package, and the query.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [folder, query] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(join(folder, 'package.json'))('@duckdb/node-api');
const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
const connection = await instance.connect();
const reader = await connection.runAndReadAll(query);
console.log(reader.getRows().length);
