// Half of the peak load for the given time, while epochs close, releases are made and rows are
// deleted: the time of acks, and whether memory, the file and its log stay bounded. Exit status 1
// when something was lost, rows were not deleted, or memory grew.
import { judge, loadText, mebibytes } from './harness/measure.js';
import { optionsOf } from './harness/options.js';
import { ownFolder } from './harness/processes.js';
import { peakOf, startContributors, startServer } from './load/rig.js';

const {
  minutes, every, contributors: people, rate: asked, peak: peakSeconds, tiny,
} = optionsOf('Half of the peak, for long.', {
  minutes: { usual: 30, tiny: 0.1, means: 'of load' },
  every: { usual: '30s', tiny: '1s', means: 'length of an epoch' },
  contributors: { usual: 512, tiny: 32, means: 'that send' },
  rate: { usual: 0, tiny: 100, means: 'batches per second; 0: half the peak' },
  peak: { usual: 15, tiny: 1, means: 'seconds for finding the peak' },
});
const pieces = 10;
const columns = 8;
const server = await startServer({ directory: ownFolder('soak'), columns, every });
const contributors = await startContributors({
  url: server.url, studyId: server.studyId, first: 0, contributors: people, sockets: 16, rows: 16,
  columns,
});
const peak = await peakOf(contributors, peakSeconds);
const rate = asked === 0 ? peak / 2 : asked;
console.log(`peak ${peak.toFixed(0)} batches/s of 16 x ${columns} doubles, ${loadText()}`);
console.log(`soak at ${rate.toFixed(0)}/s for ${minutes} minutes, an epoch every ${every}`);
console.log('minute  acked/s    p50    p99  p99.9 ms  put off   rss  heap  file   log MiB  '
  + 'epochs  releases  kept');
const samples = [await server.sample()];
for (let piece = 1; piece <= pieces; piece++) {
  const result = await contributors.ask({ offer: rate, seconds: minutes * 60 / pieces });
  const now = await server.sample();
  samples.push(now);
  console.log([
    (minutes * piece / pieces).toFixed(1).padStart(6), result.perSecond.toFixed(0).padStart(8),
    result.p50.toFixed(0).padStart(6), result.p99.toFixed(0).padStart(6),
    result.p999.toFixed(0).padStart(9), String(result.putOff).padStart(8),
    mebibytes(now.memory.rss).padStart(5), mebibytes(now.memory.heapUsed).padStart(5),
    mebibytes(now.health.fileBytes).padStart(5), mebibytes(now.health.walBytes).padStart(9),
    String(now.epoch).padStart(7), String(now.releases).padStart(9),
    String(now.unpurged).padStart(5),
  ].join(' '));
}
const end = await contributors.ask({ settle: 120 });
const third = samples.slice(Math.floor(samples.length / 3));
const [first, last] = [third[0], third.at(-1)];
judge(end.waiting === 0 && end.lost === 0, `nothing lost: ${end.acked} acked, ${end.waiting} `
  + `waiting, ${end.lost} refused for good, ${end.reconnects} connections lost`);
judge(last.releases > first.releases, `releases went on: ${last.releases}`);
judge(Math.max(...samples.map(({ unpurged }) => unpurged)) <= 2,
  'rows of released epochs are deleted', !tiny);
judge(last.memory.rss < first.memory.rss * 1.3 + 64 * 2 ** 20,
  `memory: ${mebibytes(first.memory.rss)} to ${mebibytes(last.memory.rss)} MiB`, !tiny);
const files = [first, last].map(({ health }) => health.fileBytes);
judge(files[1] < files[0] * 2, `file: ${files.map(mebibytes).join(' to ')} MiB`, !tiny);
await contributors.stop();
await server.stop();
