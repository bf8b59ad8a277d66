// The cost of a person who sends one row and leaves, by each way to send: over a WebSocket
// (connection, Hello, one batch, close), in one request to /v1/once on a connection of its own, and
// in one on a kept connection, as behind a proxy. Everybody has a new key. The ways take turns in
// one run at one server. Build first (npm run bench:people does).
//   npm run bench:people [-- --people 2500] [-- --rounds 5] [-- --profile DIR]
// Figures are processor time. Exit status 1 when a bar is missed, or a row was not accepted.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkThreadsFor } from '../dist/server/checks/threads.js';
import { optionsOf } from './options.js';

const values = optionsOf('Processor time of the server for each person who sends one row.', {
  people: { usual: 2_500, tiny: 30, means: 'with a new key, by each way in each round' },
  rounds: { usual: 5, tiny: 1, means: 'in which the ways take turns' },
  atOnce: { usual: 64, tiny: 8, means: 'people at the same time' },
  columns: { usual: 2, means: 'numbers of each row' },
  directory: { usual: tmpdir(), means: 'where the data folder goes' },
  profile: { usual: null, means: 'folder for CPU profiles of the server' },
});
const { people, rounds, tiny } = values;
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

const ways = { socket: 'WebSocket', once: 'once', kept: 'once, connection kept' };
/** Ratios of `once` to WebSocket. */
const bars = { all: 0.6, main: 0.55 };

/** Starts a child that answers each message with one. */
async function start(file, options, execArgv = []) {
  const child = fork(here(file), [JSON.stringify(options)], { execArgv });
  const ended = once(child, 'exit').then(() => { throw new Error(`${file} ended by itself`); });
  ended.catch(() => undefined);
  const next = async () => (await Promise.race([once(child, 'message'), ended]))[0];
  return {
    ready: await next(), child,
    ask(wish) {
      const answer = next();
      child.send(wish);
      return answer;
    },
    async stop() {
      // Node writes a profile at a normal exit.
      if (values.profile === null) child.kill('SIGKILL');
      else child.send('exit');
      await ended.catch(() => undefined);
    },
  };
}

/** Microseconds of the server for each person, and what its main thread has of them. */
async function measured(server, load, way, count) {
  const before = await server.ask('sample');
  const { refused } = await load.ask({ way, count });
  const after = await server.ask('sample');
  if (refused.length > 0) throw new Error(`${ways[way]}: ${refused.join('; ')}`);
  const used = ({ cpu }) => cpu.user + cpu.system;
  const main = ({ threads }) => threads?.[server.child.pid] ?? NaN;
  return {
    all: (used(after) - used(before)) / count, main: (main(after) - main(before)) / count,
    accepted: after.health.batches - before.health.batches,
  };
}

const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

const directory = mkdtempSync(join(values.directory, 'keelson-people-'));
let server;
let load;
try {
  server = await start('ingest-server.js', {
    directory, columns: values.columns, preload: 0, contributors: 1,
    checkThreads: checkThreadsFor(cpus().length),
    // All people come from one address.
    limits: { connectionsBurst: 1e6, helloBurst: 1e6 },
  }, values.profile === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`]);
  const { url, studyId } = server.ready;
  load = await start('people-load.js', {
    url, studyId, atOnce: values.atOnce, columns: values.columns,
  });
  console.log(`${cpus().length} x ${cpus()[0].model}, Node ${process.version}, load average `
    + loadavg().map((value) => value.toFixed(1)).join(' '));
  for (const way of Object.keys(ways)) await measured(server, load, way, people);
  const results = [];
  for (let round = 0; round < rounds; round++) {
    const result = {};
    for (const way of Object.keys(ways)) {
      result[way] = await measured(server, load, way, people);
      if (result[way].accepted !== people) {
        throw new Error(`${ways[way]}: ${result[way].accepted} of ${people} rows were stored`);
      }
    }
    results.push(result);
  }
  console.log(`${people} people by each way, ${rounds} rounds; us of processor time a person`);
  console.log(`${''.padEnd(24)}${'server'.padEnd(32)}main thread`);
  const listed = (way, part) => results.map((result) => result[way][part].toFixed(0)).join(' ');
  for (const [way, name] of Object.entries(ways)) {
    console.log(`${name.padEnd(24)}${listed(way, 'all').padEnd(32)}${listed(way, 'main')}`);
  }
  for (const [part, name] of [['all', 'server'], ['main', 'main thread']]) {
    for (const way of ['once', 'kept']) {
      const ratio = median(results.map((result) => result[way][part] / result.socket[part]));
      // The bar is one of whole persons, who connect.
      const isMet = ratio <= bars[part] || way === 'kept' || tiny || Number.isNaN(ratio);
      if (!isMet) process.exitCode = 1;
      const judged = way === 'kept' || tiny ? ''
        : `  ${isMet ? 'met' : 'missed'}: at most ${bars[part]}`;
      console.log(`${`${ways[way]} / WebSocket, ${name}`.padEnd(50)}${ratio.toFixed(2)}${judged}`);
    }
  }
} finally {
  await load?.stop();
  await server?.stop();
  rmSync(directory, { recursive: true, force: true });
}
