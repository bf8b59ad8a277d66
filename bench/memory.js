// Peak memory of `keelson estimate` beside the size of its data: npm run bench:memory [-- --rows
// 1000000] [-- --columns 10,50,100]. Each figure is the peak resident set of the command, minus
// that of the same command on a file of 1,000 rows, over the bytes of the numbers. Needs the build.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeCrowd } from './crowd-file.js';
import { optionsOf } from './options.js';

const { rows, columns: dimensions } =
  optionsOf('Peak memory of keelson estimate beside the size of its data.', {
    rows: { usual: 1e6, tiny: 20_000, means: 'of the large file' },
    columns: { usual: [10, 50, 100], tiny: [4], means: 'of a row, one line each' },
  });
const command = fileURLToPath(new URL('../bin/keelson.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'keelson-memory-'));
const asked = 1.5;

/** Runs the command in its own process and returns the peak memory of that process, in bytes. */
function peakOf(file, estimator, settings) {
  const watched = `process.on('exit', () => process.stderr.write('peak ' + `
    + `process.resourceUsage().maxRSS + '\\n'))`;
  const args = [
    '--import', `data:text/javascript,${encodeURIComponent(watched)}`, command, 'estimate',
    estimator,
      file, '--epsilon', '20', '--delta', '.01', '--json', ...settings,
  ];
  const { stderr, status } =
    spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  const peak = /^peak (\d+)$/m.exec(stderr);
  if (status !== 0 || peak === null) throw new Error(`the command failed: ${stderr}`);
  return 1024 * Number(peak[1]);
}

try {
  console.log('estimator         columns    data MB    peak MB   tiny MB   x data');
  for (const dimension of dimensions) {
    const [large, tiny] = [join(folder, 'large.npy'), join(folder, 'tiny.npy')];
    writeCrowd(large, { rows, dimension });
    writeCrowd(tiny, { rows: 5000, dimension });
    for (const [estimator, settings] of [['prime', ['--set', 'scale=1']], ['prime', []]]) {
      const [peak, base] = [peakOf(large, estimator, settings), peakOf(tiny, estimator, settings)];
      const ratio = (peak - base) / (8 * rows * dimension);
      console.log([
        `${estimator}${settings.length === 0 ? ', scale auto' : ''}`.padEnd(18),
        String(dimension).padStart(6),
        ...[8 * rows * dimension, peak, base].map((bytes) => (bytes / 1e6).toFixed(0).padStart(10)),
        ratio.toFixed(2).padStart(8), ratio <= asked ? ' met' : ' above 1.5',
      ].join(' '));
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
