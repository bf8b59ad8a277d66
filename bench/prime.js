// Time of `prime` on a .npy file, as the command reports it, beside the numpy reference on the same
// file and one thread. npm run bench:prime [-- --rows 1000000] [-- --rounds 5] [-- --columns
// 10,50,100]; the reference is looked for at KEELSON_PEER, and left out without. Needs the build.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeCrowd } from './crowd-file.js';
import { optionsOf } from './options.js';

const {
  rows, rounds, columns: dimensions,
} = optionsOf('Time of prime on a .npy file, beside a numpy reference.', {
  rows: { usual: 1e6, tiny: 20_000, means: 'of the file' },
  rounds: { usual: 5, tiny: 1, means: 'of which the median is shown' },
  columns: { usual: [10, 50, 100], tiny: [4], means: 'of a row, one line each' },
});
const project = fileURLToPath(new URL('../', import.meta.url));
const command = join(project, 'bin/keelson.js');
const peer = resolve(project, process.env.KEELSON_PEER || 'KEELSON_PEER');
const folder = mkdtempSync(join(tmpdir(), 'keelson-prime-'));
const oneThread = {
  ...process.env, OPENBLAS_NUM_THREADS: '1', OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1',
};

function answerOf(program, args, env = process.env) {
  const { stdout, stderr, status } =
    spawnSync(program, args, { encoding: 'utf8', env, maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${args[0]} failed: ${stderr}`);
  return { answer: JSON.parse(stdout), stderr };
}

/** The answer, and the times that `--debug` prints as a JSON line on standard error. */
function ours(file, settings) {
  const { answer, stderr } = answerOf(process.execPath, [
    command, 'estimate', 'prime', file, '--epsilon', '20', '--delta', '.01', '--json',
    '--debug', ...settings,
  ]);
  const { seconds, estimatorSeconds } = JSON.parse(stderr.trim().split('\n').at(-1));
  return { ...answer, seconds, estimatorSeconds: estimatorSeconds[0] };
}
const theirs = (file, seed) => answerOf('/usr/bin/python3', [
  peer, file, '--profile', 'sound', '--corruption', '.05', '--epsilon', '20', '--delta', '.01',
  '--seed', String(seed),
], oneThread).answer;

const hasPeer = existsSync(peer)
  && spawnSync('/usr/bin/python3', ['-c', 'import numpy, scipy']).status === 0;
if (!hasPeer) console.log('the reference is left out: KEELSON_PEER names no script, or there is no '
  + 'numpy and scipy');
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const shown = (value, digits) =>
  (Number.isFinite(value) ? value.toFixed(digits) : '-').padStart(10);
const errorOf = ({ estimate }) => Math.hypot(...estimate);

try {
  console.log(
    'columns  scale   seconds  in all   numpy s  numpy CPU s  wall ratio     error  numpy error',
  );
  for (const dimension of dimensions) {
    const file = join(folder, 'rows.npy');
    writeCrowd(file, { rows, dimension });
    const found = { given: [], auto: [], peer: [] };
    for (let round = 0; round < rounds; round++) {
      found.given.push(ours(file, ['--set', 'scale=1']));
      if (hasPeer) found.peer.push(theirs(file, round));
      found.auto.push(ours(file, []));
    }
    for (const kind of ['given', 'auto']) {
      const of = (list, pick) => median(list.map(pick));
      console.log([
        String(dimension).padStart(7), kind.padStart(6),
        shown(of(found[kind], (one) => one.estimatorSeconds), 3),
        shown(of(found[kind], (one) => one.seconds), 2),
        shown(of(found.peer, (one) => one.seconds), 3),
        shown(of(found.peer, (one) => one.cpuSeconds), 3),
        // Within each round, so that changing load affects both.
        shown(of(found.peer, (one) =>
          found[kind][found.peer.indexOf(one)].estimatorSeconds / one.seconds), 2),
        shown(of(found[kind], errorOf), 4), shown(of(found.peer, errorOf), 4),
      ].join(' '));
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
