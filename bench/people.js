// The cost of a person who sends one row and leaves, by each way to send: over a WebSocket
// (connection, Hello, one batch, close), in one request to /v1/once on a connection of its own, and
// in one on a kept connection, as behind a proxy. Everybody has a new key. The ways take turns in
// one run at one server.
// Figures are processor time. Exit status 1 when a bar is missed, or a row was not accepted.
import { cpus, tmpdir } from 'node:os';
import { checkThreadsFor } from '../dist/server/checks/threads.js';
import { inTurns, judge, loadText, ratioInTurns } from './harness/measure.js';
import { optionsOf } from './harness/options.js';
import { ownFolder, projectPath, startChild } from './harness/processes.js';
import { startServer } from './load/rig.js';

const values = optionsOf('Processor time of the server for each person who sends one row.', {
  people: { usual: 2_500, tiny: 30, means: 'with a new key, by each way in each round' },
  rounds: { usual: 5, tiny: 1, means: 'in which the ways take turns' },
  atOnce: { usual: 64, tiny: 8, means: 'people at the same time' },
  columns: { usual: 2, means: 'numbers of each row' },
  directory: { usual: tmpdir(), means: 'where the data folder goes' },
  profile: { usual: null, means: 'folder for CPU profiles of the server' },
});
const { people, rounds, tiny } = values;

const ways = { socket: 'WebSocket', once: 'once', kept: 'once, connection kept' };
/** Ratios of `once` to WebSocket. */
const bars = { all: 0.6, main: 0.55 };

/** Microseconds of the server for each person, and the part of its main thread. */
async function measured(server, load, way, count) {
  const before = await server.sample();
  const { refused } = await load.ask({ way, count });
  const after = await server.sample();
  if (refused.length > 0) throw new Error(`${ways[way]}: ${refused.join('; ')}`);
  const used = ({ cpu }) => cpu.user + cpu.system;
  const main = ({ threads }) => threads?.[server.child.pid] ?? NaN;
  const accepted = after.health.batches - before.health.batches;
  if (accepted !== count) throw new Error(`${ways[way]}: ${accepted} of ${count} rows were stored`);
  return {
    all: (used(after) - used(before)) / count, main: (main(after) - main(before)) / count,
  };
}

const directory = ownFolder('people', values.directory);
const server = await startServer({
  directory, columns: values.columns, people: 100_000, checkThreads: checkThreadsFor(cpus().length),
  // All people come from one address.
  limits: { connectionsBurst: 1e6, helloBurst: 1e6 },
}, values.profile);
const { url, studyId } = server;
const load = await startChild(projectPath('bench/load/people.js'), {
  url, studyId, atOnce: values.atOnce, columns: values.columns,
});
console.log(`${cpus().length} x ${cpus()[0].model}, Node ${process.version}, ${loadText()}`);
// Once without counting, so that the code is compiled.
const turns = Object.fromEntries(Object.keys(ways).map((way) =>
  [way, () => measured(server, load, way, people)]));
await inTurns(1, turns);
const found = await inTurns(rounds, turns);
console.log(`${people} people by each way, ${rounds} rounds; us of processor time a person`);
console.log(`${''.padEnd(24)}${'server'.padEnd(32)}main thread`);
const listed = (way, part) => found[way].map((result) => result[part].toFixed(0)).join(' ');
for (const [way, name] of Object.entries(ways)) {
  console.log(`${name.padEnd(24)}${listed(way, 'all').padEnd(32)}${listed(way, 'main')}`);
}
for (const [part, name] of [['all', 'server'], ['main', 'main thread']]) {
  for (const way of ['once', 'kept']) {
    const ratio = ratioInTurns(found[way], found.socket, (result) => result[part]);
    const text = `${`${ways[way]} / WebSocket, ${name}`.padEnd(50)}${ratio.toFixed(2)}`;
    // The bar is one of whole persons, who connect.
    if (way === 'kept' || Number.isNaN(ratio)) console.log(text);
    else judge(ratio <= bars[part], `${text} (asked: at most ${bars[part]})`, !tiny);
  }
}
await load.stop();
await server.stop();
