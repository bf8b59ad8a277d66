// Ack latency while a live study of `prime` releases, beside its value while nothing is released.
// A few contributors send batches at a steady pace through sockets, signatures, journal and fsync.
import { judge, loadText, quantile } from './harness/measure.js';
import { optionsOf } from './harness/options.js';
import { ownFolder, projectPath, startChild } from './harness/processes.js';
import { startLoad } from './load/rig.js';

const {
  contributors: crowd, columns, seconds, every: everySeconds, tiny,
} = optionsOf('Ack latency while prime releases.', {
  contributors: { usual: 1e5, tiny: 3_000, means: 'in each epoch' },
  columns: { usual: 20, tiny: 2, means: 'of a row' },
  seconds: { usual: 60, tiny: 5, means: 'of measuring' },
  every: { usual: 10, tiny: 2, means: 'seconds of an epoch' },
});
const server = await startChild(projectPath('bench/release-server.js'), {
  directory: ownFolder('release'), columns, crowd, everySeconds,
});
const releases = [];
const fillings = [];
server.child.on('message', (message) => {
  if (message.type === 'released') releases.push(message);
  if (message.type === 'filled') fillings.push(message);
});
const { trace } = await startLoad({
  url: server.url, studyId: server.studyId, rows: 1, columns, contributors: 64, inFlight: 16,
  sockets: 4, seconds, warmUpSeconds: 3, pauseMs: 20, trace: true,
}).done;
const during = [];
const idle = [];
for (const [at, latency] of trace) {
  const meets = ({ from, to }) => at + latency >= from && at <= to;
  // Making the rows of the next crowd occupies the thread that answers. These seconds count for
  // neither figure.
  const follows = ({ from, to }) => at + latency >= from - 50 && at <= to + 500;
  if (fillings.some(meets)) continue;
  if (releases.some(meets)) during.push(latency);
  else if (!releases.some(follows)) idle.push(latency);
}
const shown = (values) => `p50 ${quantile(values, 0.5).toFixed(1)}, p99 `
  + `${quantile(values, 0.99).toFixed(1)} ms (${values.length} acks)`;
const took = releases.map(({ from, to }) => to - from);
console.log(`${crowd} contributors, ${columns} columns; ${loadText()}`);
console.log(`releases: ${releases.length}, ${releases.map(({ outcome }) => outcome).join(' ')}; `
  + `median ${quantile(took, 0.5).toFixed(0)} ms`);
console.log(`idle:     ${shown(idle)}`);
console.log(`release:  ${shown(during)}`);
const ratio = quantile(during, 0.99) / quantile(idle, 0.99);
judge(ratio <= 2, `p99 while releasing is ${ratio.toFixed(2)} x idle (asked: at most 2)`, !tiny);
await server.stop();
