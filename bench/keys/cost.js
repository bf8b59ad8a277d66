// What keys that nobody listed cost in time and memory: npm run bench:key-cost [-- --rows 1000000]
// [-- --keys 10000000]. Each figure is of a process of its own. On a busy machine its processor
// time says more than its time. Ends with 1 when a target is missed. Needs the build.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { optionsOf } from '../options.js';

const { rows, keys, questions, shown, tiny } =
  optionsOf('Time and memory of keys that nobody listed.', {
    rows: { usual: 1e6, tiny: 3_000, means: 'of the file for estimate, each with its own text' },
    keys: { usual: 1e7, tiny: 20_000, means: 'distinct keys of one epoch' },
    questions: { usual: 16, tiny: 16, means: 'planned together' },
    shown: { usual: 4_096, tiny: 200, means: 'keys of one release' },
  });
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'keelson-keys-'));
const mebibyte = 2 ** 20;
let missed = 0;

function judge(what, figures, processor) {
  const met = figures.every(({ value, limit }) => value <= limit);
  if (!met) missed += 1;
  const text = figures.map(({ value, limit, unit }) => `${value.toFixed(unit === 's' ? 1 : 0)} `
    + `${unit} (asked ${limit})`);
  if (processor !== undefined) text.push(`processor ${processor.toFixed(2)} s`);
  console.log(`${(met ? 'met' : 'NOT MET').padEnd(9)}${what.padEnd(52)}${text.join(', ')}`);
}

/** Standard output, times in seconds and peak memory in bytes, of a process that must succeed. */
function ran(words) {
  const watched = `process.on('exit', () => { const { maxRSS, userCPUTime, systemCPUTime } = `
    + `process.resourceUsage(); process.stderr.write('peak ' + maxRSS + ' processor ' + `
    + `(userCPUTime + systemCPUTime) + '\\n'); })`;
  const begun = performance.now();
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(watched)}`, ...words],
    { encoding: 'utf8', maxBuffer: 1 << 26 },
  );
  const used = /^peak (\d+) processor (\d+)$/m.exec(stderr);
  if (status !== 0 || used === null) throw new Error(`it failed: ${stderr}`);
  const seconds = (performance.now() - begun) / 1000;
  return { stdout, seconds, peak: 1024 * Number(used[1]), processor: Number(used[2]) / 1e6 };
}

/**
 * A person, a text of its own and a number in each row. The first 500 share a text, so that one is
 * shown and the command succeeds.
 */
function writeRows(path) {
  const file = openSync(path, 'w');
  writeSync(file, 'id,region,minutes\n');
  for (let first = 0; first < rows; first += 10_000) {
    let text = '';
    for (let i = first; i < Math.min(rows, first + 10_000); i++) {
      text += `person${i},place ${i < 500 ? 0 : (i * 7_919) % rows},${i % 240}\n`;
    }
    writeSync(file, text);
  }
  closeSync(file);
}

const study = (by) => `study: key-cost
columns: { region: { type: text, bytes: 16 }, minutes: { type: number, low: 0, high: 240 } }
cohort: ${rows}
participation: secret
epoch: { every: 1h }
contribution: { rowsMax: 1 }
questions: { places: { estimator: count, by: { column: region, keysMax: 1, ${by} } } }
privacy: { epsilon: 1, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-5, scope: study }
`;

try {
  console.log(`load average ${loadavg().map((load) => load.toFixed(1)).join(' ')} before`);
  const input = join(folder, 'rows.csv');
  writeRows(input);
  const estimate = (name, by, ...words) => {
    const file = join(folder, 'study.yaml');
    writeFileSync(file, study(by));
    const { seconds, peak, processor } = ran([
      here('../../bin/keelson.js'), 'estimate', '--study', file, input, '--json',
      ...words,
    ]);
    judge(`estimate, ${rows} rows, ${name}`, [
      { value: seconds, limit: 8, unit: 's' }, { value: peak / mebibyte, limit: 400, unit: 'MiB' },
    ], processor);
  };
  estimate('discovered texts', 'discover: true');
  estimate('discovered texts, by person', 'discover: true', '--contributor', 'id');
  estimate('listed texts, by person', 'keys: [place 1, place 2]', '--contributor', 'id');

  const counted = JSON.parse(ran([here('cost-run.js'), JSON.stringify({ part: 'count', keys })])
    .stdout);
  const above = (bytes) => (bytes - counted.empty) / mebibyte;
  judge(`${keys} distinct keys counted`, [
    { value: counted.seconds, limit: 25, unit: 's' },
    { value: above(counted.filled), limit: 300, unit: 'MiB' },
  ], counted.processor);
  console.log(`${''.padEnd(9)}with their release: ${above(counted.released).toFixed(0)} MiB, `
    + `${counted.releaseSeconds.toFixed(1)} s`);
  const { planning, planningProcessor, release, found } = JSON.parse(ran([
    here('cost-run.js'), JSON.stringify({ part: 'short', questions, shown }),
  ]).stdout);
  judge(`planning of ${questions} questions`, [
    { value: 1000 * planning, limit: 200, unit: 'ms' },
  ], planningProcessor);
  judge(`release of ${found} keys`, [{ value: release, limit: 1, unit: 's' }]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (missed > 0 && !tiny) process.exitCode = 1;
