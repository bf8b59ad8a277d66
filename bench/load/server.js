// An aggregator as `keelson serve` runs it, in a process of its own, for the benchmarks of load.
// Speaks with its parent over the fork's channel: any message asks for a sample of what it uses
// now. Its options are one JSON text:
//   directory, columns, every?       its data folder, the columns of a row, the length of an epoch
//   texts?, people?                  the last column is a text; the most people of an epoch
//   news?                            a second study, to which nobody sends, with such epochs
//   database?, leaseMs?, port?       the store is there; servers may share it and the keys
//   preload?, contributors?          fills the replay table and ends, so that what filling leaves
//                                    in memory is not in the figures
//   checkThreads?, limits?           as of `createAggregator`
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  createAggregator, createLogger, openPostgresStore, openSqliteStore, parseStudyText,
} from '../../dist/server/index.js';
import { statOf } from '../harness/processes.js';
import { hexOf, signerOf } from './frames.js';

const options = JSON.parse(process.argv[2]);
const names = Array.from({ length: options.columns }, (_, i) => `c${i}`);
const numbers = names.slice(0, -1);

/** With texts, keys of the last column are discovered, beside the mean of the other columns. */
const asked = options.texts !== true ? `
columns: [${names.join(', ')}]
estimator: mean
parameters: { spread: 10 }` : `
columns:
${numbers.map((name) => `  ${name}: number`).join('\n')}
  app: { type: text, bytes: 16 }
questions:
  means: { estimator: mean, columns: [${numbers.join(', ')}], parameters: { spread: 10 } }
  apps: { estimator: count, by: { column: app, discover: true, groupsMax: 4 } }`;

const study = (name, every) => parseStudyText(`
study: ${name}
cohort: ${options.people ?? 1_000_000}
${options.people === undefined ? '' : `peopleMax: ${options.people}`}
epoch: { every: ${every} }
contribution: { reduce: mean, rowsMax: 1000000000 }
privacy: { epsilon: 0.5, delta: 1e-9 }
budget: { epsilon: 100, delta: 1e-3, scope: study }
retention: release${asked}
`, { name: `${name}.yaml` });

let store;
/** The time of each turn of an epoch: the old one closes and the next one opens. */
const turnsMs = [];

const timed = (call) => async (...args) => {
  const startedMs = performance.now();
  const result = await call(...args);
  turnsMs.push(performance.now() - startedMs);
  return result;
};

async function openStore(directory, clock) {
  const { database: url, leaseMs = 10_000 } = options;
  store = url === undefined
    ? await openSqliteStore({ directory, clock })
    : await openPostgresStore({
      url, clock, pool: 8, leaseMs, encryptionKeys: join(directory, 'row-keys'),
    });
  if (url === undefined) return { ...store, turnEpoch: timed(store.turnEpoch) };
  return {
    ...store,
    async lead(...which) {
      const leadership = await store.lead(...which);
      return leadership && { ...leadership, turnEpoch: timed(leadership.turnEpoch) };
    },
  };
}

const aggregator = await createAggregator({
  dataDirectory: options.directory,
  studies: [
    study('bench-load', options.every ?? '1h'),
    ...(options.news === undefined ? [] : [study('bench-news', options.news)]),
  ],
  port: options.port ?? 0,
  ...(options.checkThreads !== undefined && { checkThreads: options.checkThreads }),
  ...(options.limits !== undefined && { network: { limits: options.limits } }),
  logger:
    createLogger({ level: 'warn', destination: { write: (line) => process.stderr.write(line) } }),
  openStore,
});
const [{ studyId }, news] = aggregator.hub.studies();

/** Keys of nobody, with those of the load's contributors spread evenly among them. */
function preloadKeys({ preload, contributors }) {
  const every = Math.max(1, Math.floor(preload / contributors));
  return Array.from({ length: preload }, (_, i) => {
    const isOwn = i % every === 0 && i / every < contributors;
    return isOwn ? hexOf(signerOf(i / every).publicKey)
      : createHash('sha256').update(`somebody else ${i}`).digest('hex');
  });
}

/**
 * Each key settles one sequence through the store's own hot path. It is refused, so that no row has
 * to be rebuilt.
 */
async function preload() {
  const [keys, listBatches] = [preloadKeys(options), 5_000];
  const started = performance.now();
  const [body, signature] = [new Uint8Array(16), new Uint8Array(64)];
  for (let first = 0; first < keys.length; first += listBatches) {
    const list = keys.slice(first, first + listBatches).map((contributor, i) => {
      const digest = new Uint8Array(64);
      new DataView(digest.buffer).setFloat64(0, first + i);
      return {
        studyId, contributor, sequence: 1n, epoch: 1n, last: false, rows: 1, digest, body,
        signature, rejectAs: 'not-finite', peopleMax: keys.length,
      };
    });
    const results = await store.admit(list);
    if (results.some((result) => result.code !== 'not-finite')) {
      throw new Error('a preloaded row was not settled');
    }
  }
  return (performance.now() - started) / 1_000;
}

/** Microseconds of processor time that each thread has used; null where there is no /proc. */
function cpuOfThreads() {
  if (!existsSync('/proc/self/task')) return null;
  return Object.fromEntries(readdirSync('/proc/self/task').flatMap((id) => {
    const fields = statOf(`/proc/self/task/${id}/stat`);
    // Ticks of a hundredth of a second in user mode and in the kernel.
    return fields === null ? [] : [[id, (Number(fields[11]) + Number(fields[12])) * 10_000]];
  }));
}

async function sample() {
  const [view] = aggregator.hub.studies();
  return {
    atMs: performance.now(), cpu: process.cpuUsage(), threads: cpuOfThreads(),
    memory: process.memoryUsage(), loop: performance.eventLoopUtilization(),
    descriptors: readdirSync('/proc/self/fd').length, epoch: Number(view.epoch),
    releases: view.releaseCount, health: await store.health(),
    turnsMs: turnsMs.splice(0), leads: aggregator.hub.node()?.leads.length ?? 1,
    unpurged: (await store.unpurgedEpochs(studyId)).length,
  };
}

if (options.preload > 0) {
  const seconds = await preload();
  await aggregator.close();
  process.send({ seconds });
  process.disconnect();
} else {
  process.on('message', (wish) => {
    // Only for profiles, which Node writes at a normal exit.
    if (wish === 'exit') process.exit(0);
    sample().then((result) => process.send(result));
  });
  process.on('disconnect', () => process.exit(1));
  process.send({
    url: aggregator.address.replace('http', 'ws'), studyId, newsId: news?.studyId,
  });
}
