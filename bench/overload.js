// Three times the server's peak load, offered whether or not it answers: it has to go on accepting
// at nearly its peak, and deferred batches have to arrive later, once each. Peak and overload take
// turns over one server; ratios are of medians. Exit status 1 when one is below 0.9 or anything is
// lost.
import { loadText, median, mebibytes } from './harness/measure.js';
import { optionsOf } from './harness/options.js';
import { ownFolder } from './harness/processes.js';
import { startContributors, startServer } from './load/rig.js';

const {
  seconds, rounds, times, contributors: people, tiny,
} = optionsOf('Durable batches per second under overload.', {
  seconds: { usual: 20, tiny: 1, means: 'of each phase' },
  rounds: { usual: 3, tiny: 1, means: 'of peak and overload' },
  times: { usual: 3, means: 'what is offered, in peaks' },
  contributors: { usual: 512, tiny: 64, means: 'that send' },
});
const columns = 8;
const server = await startServer({ directory: ownFolder('overload'), columns });
const contributors = await startContributors({
  url: server.url, studyId: server.studyId, first: 0, contributors: people, sockets: 16, rows: 16,
  columns,
});

/**
 * One phase, measured once the queues are full: batches that became durable, by the server's own
 * clock, and the processor time of the server for them.
 */
async function phase(command) {
  await contributors.ask(command);
  const before = await server.sample();
  const result = await contributors.ask(command);
  const after = await server.sample();
  const cpuSeconds =
    (after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system) / 1e6;
  const durable = after.health.batches - before.health.batches;
  return {
    ...result, rss: after.memory.rss, perSecond: durable / ((after.atMs - before.atMs) / 1_000),
    perCpuSecond: durable / cpuSeconds,
  };
}

await contributors.ask({ offer: 1e6, seconds: Math.min(5, seconds), inFlight: 2 });
console.log(loadText());
console.log(
  'phase      offered/s   durable/s  of each CPU second   put off   p50 ms   p99 ms   rss MiB',
);
const peaks = [];
const overloads = [];
for (let round = 0; round < rounds; round++) {
  const peak = await phase({ offer: 1e6, seconds, inFlight: 2 });
  const overload = await phase({ offer: times * peak.perSecond, seconds });
  await contributors.ask({ settle: 300 });
  peaks.push(peak);
  overloads.push(overload);
  for (const [name, result] of [['peak', peak], ['overload', overload]]) {
    console.log([
      name.padEnd(9),
      (name === 'peak' ? 'at will' : (result.offered / result.seconds).toFixed(0)).padStart(10),
      result.perSecond.toFixed(0).padStart(11), result.perCpuSecond.toFixed(0).padStart(19),
      String(result.putOff).padStart(9), result.p50.toFixed(0).padStart(8),
      result.p99.toFixed(0).padStart(8), mebibytes(result.rss).padStart(9),
    ].join(' '));
  }
}
const end = await contributors.ask({ settle: 300 });
const sample = await server.sample();
const ratio = (name) =>
  median(overloads.map((result) => result[name])) / median(peaks.map((result) => result[name]));
const held = ratio('perSecond');
console.log(`accepted under ${times} x the peak: ${held.toFixed(2)} of the peak by the clock `
  + `(asked: 0.90), ${ratio('perCpuSecond').toFixed(2)} for each second of the server's `
  + 'processor time');
console.log(`${end.acked} acknowledged, ${end.waiting} waiting, ${end.lost} lost; put off and `
  + `sent again ${end.putOff}; the store saw ${sample.health.batches} in all`);
process.exitCode = (tiny || held >= 0.9) && end.waiting === 0 && end.lost === 0 ? 0 : 1;
await contributors.stop();
await server.stop();
