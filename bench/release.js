// Ack latency while a live study of `prime` releases, beside its value while nothing is released.
//   npm run bench:release [-- --contributors 100000] [-- --columns 20] [-- --seconds 60]
// A few contributors send batches at a steady pace through sockets, signatures, journal and fsync.
// Build first.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { optionsOf } from './options.js';

const {
  contributors: crowd, columns, seconds, every: everySeconds, tiny,
} = optionsOf('Ack latency while prime releases.', {
  contributors: { usual: 1e5, tiny: 3_000, means: 'in each epoch' },
  columns: { usual: 20, tiny: 2, means: 'of a row' },
  seconds: { usual: 60, tiny: 5, means: 'of measuring' },
  every: { usual: 10, tiny: 2, means: 'seconds of an epoch' },
});
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'keelson-release-'));
const quantile = (values, share) => {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
};

const server =
  fork(here('release-server.js'), [JSON.stringify({ directory, columns, crowd, everySeconds })]);
let load;
try {
  const releases = [];
  const fillings = [];
  const [ready] = await once(server, 'message');
  server.on('message', (message) => {
    if (message.type === 'released') releases.push(message);
    if (message.type === 'filled') fillings.push(message);
  });
  load = spawn(process.execPath, [here('load-generator.js'), JSON.stringify({
    url: ready.url, studyId: ready.studyId, rows: 1, columns, contributors: 64, inFlight: 16,
    sockets: 4, seconds, warmUpSeconds: 3, pauseMs: 20, trace: true,
  })], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  load.stdout.on('data', (part) => { text += part; });
  const [code] = await once(load, 'exit');
  if (code !== 0) throw new Error(`the load generator ended with status ${code}`);
  const { trace } = text.trim()
    .split('\n').map((line) => JSON.parse(line)).find(({ type }) => type === 'done');
  const during = [];
  const idle = [];
  for (const [at, latency] of trace) {
    const meets = ({ from, to }) => at + latency >= from && at <= to;
    // Making the rows of the next crowd takes the thread that answers. These seconds count for
    // neither figure.
    const follows = ({ from, to }) => at + latency >= from - 50 && at <= to + 500;
    if (fillings.some(meets)) continue;
    if (releases.some(meets)) during.push(latency);
    else if (!releases.some(follows)) idle.push(latency);
  }
  const shown = (values) => `p50 ${quantile(values, 0.5).toFixed(1)}, p99 `
    + `${quantile(values, 0.99).toFixed(1)} ms (${values.length} acks)`;
  const took = releases.map(({ from, to }) => to - from);
  console.log(`${crowd} contributors, ${columns} columns; load average `
    + `${loadavg().map((one) => one.toFixed(1)).join(' ')}`);
  console.log(`releases: ${releases.length}, ${releases.map(({ outcome }) => outcome).join(' ')}; `
    + `median ${quantile(took, 0.5).toFixed(0)} ms`);
  console.log(`idle:     ${shown(idle)}`);
  console.log(`release:  ${shown(during)}`);
  const ratio = quantile(during, 0.99) / quantile(idle, 0.99);
  console.log(`p99 while releasing is ${ratio.toFixed(2)} x idle (asked: at most 2)`);
  process.exitCode = tiny || ratio <= 2 ? 0 : 1;
} finally {
  load?.kill('SIGKILL');
  server.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
}
