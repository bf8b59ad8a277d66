// `keelson estimate` beside DuckDB on one thread: the same question about the same file, with the
// start of the process. The two take turns, and each ratio is one of medians.
// The ratios need a folder in which `npm install @duckdb/node-api` was run.
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { appsOfFile, writeRows } from './duckdb-files.js';
import { inTurns, median } from './harness/measure.js';
import { optionsOf } from './harness/options.js';
import { keelson, ownFolder, projectPath, usedBy } from './harness/processes.js';

const usage = 'Time of keelson estimate beside DuckDB on one thread, from the same files.';
const { rows, rounds, formats, questions, duckdb, tiny } = optionsOf(usage, {
  rows: { usual: 1e6, tiny: 5_000, means: 'of a file' },
  rounds: { usual: 5, tiny: 1, means: 'of which the medians are shown' },
  formats: { usual: 'csv,ndjson,parquet', means: 'of the files' },
  questions: { usual: 'count,sum,median,mean,groups', means: 'that are asked' },
  duckdb: { usual: null, means: 'folder in which npm install @duckdb/node-api was run' },
});
/** Times of DuckDB's processor time, and of its wall time, at most. */
const asked = 1.5;
const target = ['--epsilon', '1', '--delta', '1e-6', '--json'];
const asks = {
  count: { words: ['count'], sql: 'count(*)' },
  sum: { words: ['sum', '--columns', 'age', '--set', 'cap=100'], sql: 'sum(age)' },
  median: {
    words: [
      'quantile', '--columns', 'minutes', '--set', 'range=-200..200',
      '--set', 'probabilities=0.5',
    ],
    sql: 'median(minutes)',
  },
  mean: { words: ['mean', '--columns', 'minutes', '--set', 'spread=15'], sql: 'avg(minutes)' },
  groups: {
    words: ['count', '--group-by', 'app', '--groups', appsOfFile.join(',')],
    sql: 'app, count(*)', rest: ' group by app',
  },
};

const ours = (file, { words }) => usedBy([
  keelson, 'estimate', words[0], file, ...words.slice(1), ...target,
]);
const theirs = (file, { sql, rest = '' }) => usedBy([
  projectPath('bench/duckdb-run.js'), resolve(duckdb), `select ${sql} from '${file}'${rest}`,
]);

const medians = (runs) => Object.fromEntries(['processor', 'wall', 'mebibytes'].map((name) =>
  [name, median(runs.map((run) => run[name]))]));
const said = ({ processor, wall, mebibytes }) =>
  `${processor.toFixed(2)} s, wall ${wall.toFixed(2)} s, ${mebibytes.toFixed(0)} MiB`;

async function compare(file, format, name) {
  const { own, peer } = await inTurns(rounds, {
    own: () => ours(file, asks[name]),
    ...(duckdb !== null && { peer: () => theirs(file, asks[name]) }),
  });
  const mine = medians(own);
  const label = `${format.padEnd(7)} ${name.padEnd(6)}`;
  if (duckdb === null) return console.log(`${label} ${said(mine)}`);
  const other = medians(peer);
  const [processor, wall] = [mine.processor / other.processor, mine.wall / other.wall];
  console.log(`${label} ${said(mine)}; DuckDB ${said(other)}; ${processor.toFixed(2)} times its `
    + `processor time, ${wall.toFixed(2)} of its wall time (asked: ${asked})`);
  if (!tiny && (processor > asked || wall > asked)) process.exitCode = 1;
}

const folder = ownFolder('duckdb');
if (duckdb === null) console.log('the ratios are left out: --duckdb names no folder');
for (const format of formats.split(',')) {
  const file = join(folder, `rows.${format}`);
  writeRows(file, format, rows);
  for (const name of questions.split(',')) await compare(file, format, name);
  rmSync(file);
}
