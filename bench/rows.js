// Processor time and memory of `mean` over rows in memory, as a program that imports Keelson has
// them, beside numpy's median of the same shape on one thread. Each run has a process of its own.
import { inTurns, judge, median, ratioInTurns } from './harness/measure.js';
import { optionsOf } from './harness/options.js';
import { projectPath, saidBy, saidByPython } from './harness/processes.js';

const usage = 'Time and memory of a mean of rows in memory, beside the median of numpy.';
const { rows, columns, rounds, tiny } = optionsOf(usage, {
  rows: { usual: 1e6, tiny: 20_000, means: 'in memory' },
  columns: { usual: 10, tiny: 2, means: 'of a row' },
  rounds: { usual: 5, tiny: 1, means: 'of which the median is shown' },
});
/** Times of numpy's median at most; and memory beyond the rows, in sizes of the data. */
const asked = { 1: 4.5, auto: 7, memory: 2 };

const ours = (spread) => () => saidBy(process.execPath, [
  '--expose-gc', projectPath('bench/rows-run.js'), JSON.stringify({ rows, columns, spread }),
]);
const theirs = () => saidByPython(['-c', [
  'import json, numpy, time',
  `rows = numpy.random.default_rng(1).normal(size=(${rows}, ${columns}))`,
  'start = time.process_time()',
  'numpy.median(rows, axis=0)',
  'print(json.dumps({"seconds": time.process_time() - start}))',
].join('\n')]);

const found = await inTurns(rounds, { 1: ours(1), numpy: theirs, auto: ours('auto') });
const isWithNumpy = found.numpy.every((one) => one !== null);
if (!isWithNumpy) console.log('the ratios are left out: there is no numpy');
const mebibytes = (8 * rows * columns) / 2 ** 20;
console.log(`${rows} rows of ${columns} columns, ${mebibytes.toFixed(0)} MiB`);
for (const spread of [1, 'auto']) {
  const seconds = median(found[spread].map((one) => one.seconds));
  const memory = median(found[spread].map((one) => one.mebibytes)) / mebibytes;
  const ratio =
    isWithNumpy ? ratioInTurns(found[spread], found.numpy, (one) => one.seconds) : NaN;
  const isMet = !(ratio > asked[spread] || memory > asked.memory);
  judge(isMet, `spread ${spread}: ${seconds.toFixed(2)} s of processor time, `
    + `${ratio.toFixed(1)} times numpy's median (asked: ${asked[spread]}), `
    + `${memory.toFixed(1)} times the data besides the rows (asked: ${asked.memory})`, !tiny);
}
