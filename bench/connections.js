// Many contributors, each on a connection of its own, to one server process: what one takes of its
// memory, and how long acks take while all of them are there. Build first (npm run
// bench:connections does).
//   npm run bench:connections [-- --connections 10000] [-- --clients 4] [-- --seconds 15]
// Needs that many descriptors: ulimit -n 20000. Exit status 1 when not all connect or anything is
// lost.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { mebibytes, startContributors, startServer } from './load/rig.js';
import { optionsOf } from './options.js';

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
const directory = mkdtempSync(join(tmpdir(), 'keelson-connections-'));
const server = await startServer({ directory, columns: 8, every: '1h' });
/**
 * Early contributors. The server loads some memory once for them, which must not count for the
 * others.
 */
const pioneers = tiny ? 20 : 200;
const crowds = [];
let holds = true;
const verdict = (met, what) => {
  holds &&= met;
  console.log(`${met ? 'met   ' : 'MISSED'}  ${what}`);
};
try {
  const share = Math.ceil((connections - pioneers) / clients);
  const one = { url: server.url, studyId: server.studyId, rows: 16, columns: 8 };
  crowds.push(
    await startContributors({ ...one, first: 1e6, contributors: pioneers, sockets: pioneers }),
  );
  await crowds[0].ask({ offer: 100, seconds: 3 });
  const empty = await server.sample();
  const startedMs = performance.now();
  for (let i = 0; i < clients; i++) {
    crowds.push(
      await startContributors({ ...one, first: i * share, contributors: share, sockets: share }),
    );
  }
  const took = (performance.now() - startedMs) / 1_000;
  const idle = await server.sample();
  const used = ({ cpu }) => cpu.user + cpu.system;
  const cpuUs = (used(idle) - used(empty)) / (clients * share);
  const each = (now) =>
    ((now.memory.rss - empty.memory.rss) / (clients * share) / 1_024).toFixed(1);
  console.log(`load average ${loadavg().map((load) => load.toFixed(1)).join(' ')}`);
  console.log(`${clients * share + pioneers} contributors on as many connections, the last `
    + `${clients * share} in ${took.toFixed(1)} s; descriptors ${empty.descriptors} to `
    + `${idle.descriptors}`);
  console.log(`connected: rss ${mebibytes(empty.memory.rss)} to ${mebibytes(idle.memory.rss)} MiB, `
    + `${each(idle)} KiB each, ${cpuUs.toFixed(0)} us of the server's processor time each`);
  const results =
    await Promise.all(crowds.map((crowd) => crowd.ask({ offer: 200 / crowds.length, seconds })));
  const busy = await server.sample();
  const worst = (name) => Math.max(...results.map((result) => result[name] ?? Infinity)).toFixed(0);
  console.log(`while they send 200 batches/s: ack p50 ${worst('p50')}, p99 ${worst('p99')}, p99.9 `
    + `${worst('p999')} ms, rss ${each(busy)} KiB each`);
  const ends = await Promise.all(crowds.map((crowd) => crowd.ask({ settle: 60 })));
  const sum = (name) => ends.reduce((total, end) => total + end[name], 0);
  verdict(idle.descriptors >= connections, `${connections} connections at once`);
  verdict(sum('waiting') === 0 && sum('lost') === 0, `nothing lost: ${sum('acked')} acked, `
    + `${sum('waiting')} waiting`);
} finally {
  for (const crowd of crowds) crowd.stop();
  server.stop();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}
process.exitCode = holds ? 0 : 1;
