// Half of the peak for as long as it is told, while epochs close, releases are made and rows are deleted: what the acks take,
// and whether memory, the file and its log stay bounded. Build first (npm run bench:soak does).
//   node bench/soak.js [--minutes 30] [--every 30s] [--contributors 512] [--rate batches/s instead of half the peak]
// Exit status 1 when something was lost, rows were not deleted, or memory grew.
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mebibytes, peakOf, startContributors, startServer } from './load/rig.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' }, every: { type: 'string', default: '30s' },
    contributors: { type: 'string', default: '512' }, rate: { type: 'string' },
  },
});
const pieces = 10;
const columns = 8;
const directory = mkdtempSync(join(tmpdir(), 'keelson-soak-'));
const server = await startServer({ directory, columns, every: values.every });
let contributors;
let holds = true;
try {
  contributors = await startContributors({
    url: server.url, studyId: server.studyId, first: 0, contributors: Number(values.contributors), sockets: 16, rows: 16,
    columns,
  });
  const peak = await peakOf(contributors, 15);
  const rate = values.rate === undefined ? peak / 2 : Number(values.rate);
  console.log(`peak ${peak.toFixed(0)} batches/s of 16 x ${columns} doubles, load average ${loadavg().map((load) => load.toFixed(1)).join(' ')}`);
  console.log(`soak at ${rate.toFixed(0)}/s for ${values.minutes} minutes, an epoch every ${values.every}`);
  console.log('minute  acked/s    p50    p99  p99.9 ms  put off   rss  heap  file   log MiB  epochs  releases  kept');
  const samples = [await server.sample()];
  for (let piece = 1; piece <= pieces; piece++) {
    const result = await contributors.ask({ offer: rate, seconds: Number(values.minutes) * 60 / pieces });
    const now = await server.sample();
    samples.push(now);
    console.log([
      (Number(values.minutes) * piece / pieces).toFixed(1).padStart(6), result.perSecond.toFixed(0).padStart(8),
      result.p50.toFixed(0).padStart(6), result.p99.toFixed(0).padStart(6), result.p999.toFixed(0).padStart(9),
      String(result.putOff).padStart(8), mebibytes(now.memory.rss).padStart(5), mebibytes(now.memory.heapUsed).padStart(5),
      mebibytes(now.fileBytes).padStart(5), mebibytes(now.walBytes).padStart(9), String(now.epoch).padStart(7),
      String(now.releases).padStart(9), String(now.unpurged).padStart(5),
    ].join(' '));
  }
  const end = await contributors.ask({ settle: 120 });
  const third = samples.slice(Math.floor(samples.length / 3));
  const [first, last] = [third[0], third.at(-1)];
  const verdict = (met, what) => {
    holds &&= met;
    console.log(`${met ? 'met   ' : 'MISSED'}  ${what}`);
  };
  verdict(end.waiting === 0 && end.lost === 0, `nothing lost: ${end.acked} acked, ${end.waiting} waiting, ${end.lost} refused for good, ${end.reconnects} connections lost`);
  verdict(last.releases > first.releases, `releases went on: ${last.releases}`);
  verdict(Math.max(...samples.map(({ unpurged }) => unpurged)) <= 2, 'rows of released epochs are deleted');
  verdict(last.memory.rss < first.memory.rss * 1.3 + 64 * 2 ** 20, `memory: ${mebibytes(first.memory.rss)} to ${mebibytes(last.memory.rss)} MiB`);
  verdict(last.fileBytes < first.fileBytes * 2, `file: ${mebibytes(first.fileBytes)} to ${mebibytes(last.fileBytes)} MiB`);
} finally {
  contributors?.stop();
  server.stop();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}
process.exitCode = holds ? 0 : 1;
