// Processor time and memory of `mean` over rows in memory, as a program that imports Keelson has
// them, beside numpy's median of the same shape on one thread: npm run bench:rows. Each run has a
// process of its own. Needs the build, and numpy for the ratio.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { optionsOf } from './options.js';

const usage = 'Time and memory of a mean of rows in memory, beside the median of numpy.';
const { rows, columns, rounds, tiny } = optionsOf(usage, {
  rows: { usual: 1e6, tiny: 20_000, means: 'in memory' },
  columns: { usual: 10, tiny: 2, means: 'of a row' },
  rounds: { usual: 5, tiny: 1, means: 'of which the median is shown' },
});
/** Times of numpy's median at most; and memory beyond the rows, in sizes of the data. */
const asked = { 1: 4.5, auto: 7, memory: 2 };
const script = fileURLToPath(new URL('rows-run.js', import.meta.url));
const oneThread = { ...process.env, OPENBLAS_NUM_THREADS: '1', OMP_NUM_THREADS: '1' };
delete oneThread.OPENBLAS_CORETYPE;

/** @returns what the last line says, as JSON; null where the program fails. */
function said(program, args) {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8', env: oneThread });
  return status === 0 ? JSON.parse(stdout.trim().split('\n').at(-1)) : null;
}

const ours = (scale) => said(process.execPath, [
  '--expose-gc', script, JSON.stringify({ rows, columns, scale }),
]);
const theirs = () => said('/usr/bin/python3', ['-c', [
  'import json, numpy, time',
  `rows = numpy.random.default_rng(1).normal(size=(${rows}, ${columns}))`,
  'start = time.process_time()',
  'numpy.median(rows, axis=0)',
  'print(json.dumps({"seconds": time.process_time() - start}))',
].join('\n')]);

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const found = { 1: [], auto: [], numpy: [] };
for (let round = 0; round < rounds; round++) {
  found[1].push(ours(1));
  found.numpy.push(theirs());
  found.auto.push(ours('auto'));
}
const isWithNumpy = found.numpy.every((one) => one !== null);
if (!isWithNumpy) console.log('the ratios are left out: there is no numpy');
const mebibytes = (8 * rows * columns) / 2 ** 20;
console.log(`${rows} rows of ${columns} columns, ${mebibytes.toFixed(0)} MiB`);
for (const scale of [1, 'auto']) {
  const seconds = median(found[scale].map((one) => one.seconds));
  const memory = median(found[scale].map((one) => one.mebibytes)) / mebibytes;
  // Within each round, so that a busy machine slows both alike.
  const ratio = isWithNumpy
    ? median(found[scale].map((one, at) => one.seconds / found.numpy[at].seconds)) : NaN;
  console.log(`scale ${scale}: ${seconds.toFixed(2)} s of processor time, `
    + `${ratio.toFixed(1)} times numpy's median (asked: ${asked[scale]}), `
    + `${memory.toFixed(1)} times the data besides the rows (asked: ${asked.memory})`);
  if (!tiny && (ratio > asked[scale] || memory > asked.memory)) process.exitCode = 1;
}
