// Time of `prime` on a .npy file, as the command reports it, beside the numpy reference on the same
// file and one thread; and the peak memory of the command, less that of the same command on a file
// of 5,000 rows, beside the bytes of the numbers. The reference is looked for at KEELSON_PEER.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeCrowd } from './crowd-file.js';
import { inTurns, judge, median, ratioInTurns } from './harness/measure.js';
import { optionsOf } from './harness/options.js';
import {
  hasPython, keelson, ownFolder, projectPath, saidByPython, usedBy,
} from './harness/processes.js';

const {
  rows, rounds, columns: dimensions, tiny,
} = optionsOf('Time and memory of prime on a .npy file, beside a numpy reference.', {
  rows: { usual: 1e6, tiny: 20_000, means: 'of the file' },
  rounds: { usual: 5, tiny: 1, means: 'of which the median is shown' },
  columns: { usual: [10, 50, 100], tiny: [4], means: 'of a row, one line each' },
});
/** Times of the reference, and sizes of the data, at most. */
const asked = { time: 1, memory: 1.5 };
const peer = resolve(projectPath(''), process.env.KEELSON_PEER || 'KEELSON_PEER');
const hasPeer = existsSync(peer) && hasPython('numpy, scipy');
if (!hasPeer) console.log('the reference is left out: KEELSON_PEER names no script, or there is no '
  + 'numpy and scipy');
const folder = ownFolder('prime');
const settings = { given: ['--set', 'spread=1'], auto: [] };

/** The answer, the times that `--debug` prints as a line of JSON, and the peak memory. */
function ours(file, kind) {
  const { stdout, stderr, mebibytes } = usedBy([
    keelson, 'estimate', 'prime', file, '--epsilon', '20', '--delta', '.01', '--json',
    '--debug', ...settings[kind],
  ]);
  const { seconds, estimatorSeconds } = JSON.parse(stderr.trim().split('\n').at(-1));
  return { ...JSON.parse(stdout), all: seconds, seconds: estimatorSeconds[0], mebibytes };
}

const theirs = (file, seed) => (hasPeer ? saidByPython([
  peer, file, '--profile', 'sound', '--corruption', '.05', '--epsilon', '20', '--delta', '.01',
  '--seed', String(seed),
]) : { seconds: NaN, cpuSeconds: NaN, estimate: [NaN] });

const shown = (value, digits) =>
  (Number.isFinite(value) ? value.toFixed(digits) : '-').padStart(10);
const errorOf = ({ estimate }) => Math.hypot(...estimate);

console.log('columns  spread    seconds     in all    numpy s  numpy CPU s  wall ratio      error  '
  + 'numpy error  peak MiB   x data');
for (const dimension of dimensions) {
  const [file, few] = ['rows.npy', 'few.npy'].map((name) => join(folder, name));
  writeCrowd(file, { rows, dimension });
  writeCrowd(few, { rows: 5000, dimension });
  const found = await inTurns(rounds, {
    given: () => ours(file, 'given'), peer: (round) => theirs(file, round),
    auto: () => ours(file, 'auto'),
  });
  for (const kind of ['given', 'auto']) {
    const of = (list, pick) => median(list.map(pick));
    const peak = of(found[kind], (one) => one.mebibytes);
    const overData =
      (peak - ours(few, kind).mebibytes) * 2 ** 20 / (8 * rows * dimension);
    const ratio = ratioInTurns(found[kind], found.peer, (one) => one.seconds);
    const isMet = !(ratio > asked.time || overData > asked.memory);
    judge(isMet, [
      String(dimension).padStart(4), kind.padStart(6),
      shown(of(found[kind], (one) => one.seconds), 3), shown(of(found[kind], (one) => one.all), 2),
      shown(of(found.peer, (one) => one.seconds), 3),
      shown(of(found.peer, (one) => one.cpuSeconds), 3),
      shown(ratio, 2), shown(of(found[kind], errorOf), 4), shown(of(found.peer, errorOf), 4),
      shown(peak, 0), shown(overData, 2),
    ].join(' '), !tiny);
  }
}
