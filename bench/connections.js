// Many contributors, each on a connection of its own, to one server process: the memory for each,
// and the time of acks while all of them are there. Needs as many descriptors: ulimit -n 20000.
// Exit status 1 when not all connect or anything is lost.
import { readFileSync } from 'node:fs';
import { judge, loadText, mebibytes, sum } from './harness/measure.js';
import { optionsOf } from './harness/options.js';
import { ownFolder } from './harness/processes.js';
import { startContributors, startServer } from './load/rig.js';

const {
  connections, clients, seconds, tiny,
} = optionsOf('Memory and ack latency with a connection for each contributor.', {
  connections: { usual: 10_000, tiny: 60, means: 'at once' },
  clients: { usual: 4, tiny: 2, means: 'processes that hold them' },
  seconds: { usual: 15, tiny: 1, means: 'of sending while all are connected' },
});
const [, allowed] = /Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
if (allowed !== undefined && Number(allowed) < connections + 200) {
  throw new Error(
    `${allowed} descriptors are allowed: run "ulimit -n ${connections + 1_000}" first`,
  );
}
const server = await startServer({ directory: ownFolder('connections'), columns: 8 });
/**
 * Early contributors. The server loads some memory once for them, which must not count for the
 * others.
 */
const pioneers = tiny ? 20 : 200;
const part = Math.ceil((connections - pioneers) / clients);
const one = { url: server.url, studyId: server.studyId, rows: 16, columns: 8 };
const crowdOf = (first, count) =>
  startContributors({ ...one, first, contributors: count, sockets: count });
const crowds = [await crowdOf(1e6, pioneers)];
await crowds[0].ask({ offer: 100, seconds: 3 });
const empty = await server.sample();
const startedMs = performance.now();
for (let i = 0; i < clients; i++) crowds.push(await crowdOf(i * part, part));
const took = (performance.now() - startedMs) / 1_000;
const idle = await server.sample();
const used = ({ cpu }) => cpu.user + cpu.system;
const cpuUs = (used(idle) - used(empty)) / (clients * part);
const each = (now) =>
  ((now.memory.rss - empty.memory.rss) / (clients * part) / 1_024).toFixed(1);
console.log(loadText());
console.log(`${clients * part + pioneers} contributors on as many connections, the last `
  + `${clients * part} in ${took.toFixed(1)} s; descriptors ${empty.descriptors} to `
  + `${idle.descriptors}`);
console.log(`connected: rss ${mebibytes(empty.memory.rss)} to ${mebibytes(idle.memory.rss)} MiB, `
  + `${each(idle)} KiB each, ${cpuUs.toFixed(0)} us of the server's processor time each`);
const results =
  await Promise.all(crowds.map((crowd) => crowd.ask({ offer: 200 / crowds.length, seconds })));
const busy = await server.sample();
const worst = (name) => Math.max(...results.map((result) => result[name])).toFixed(0);
console.log(`while they send 200 batches/s: ack p50 ${worst('p50')}, p99 ${worst('p99')}, p99.9 `
  + `${worst('p999')} ms, rss ${each(busy)} KiB each`);
const ends = await Promise.all(crowds.map((crowd) => crowd.ask({ settle: 60 })));
const all = (name) => sum(ends.map((end) => end[name]));
judge(idle.descriptors >= connections, `${connections} connections at once`);
judge(all('waiting') === 0 && all('lost') === 0, `nothing lost: ${all('acked')} acked, `
  + `${all('waiting')} waiting`);
await Promise.all([...crowds, server].map((child) => child.stop()));
