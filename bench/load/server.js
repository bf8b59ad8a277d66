// An aggregator as `keelson serve` runs it, in a process of its own, for the benchmarks of load.
// Speaks with its parent over the fork's channel: any message asks for a sample of what it uses
// now.
// With `database` the store is there, and several servers may share it and the folder of the keys.
// usage: fork('bench/load/server.js',
//   ['{"directory","columns","every","database"?,"port"?,"leaseMs"?}'])
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  createAggregator, createLogger, openPostgresStore, openSqliteStore, parseStudyText,
} from '../../dist/server/index.js';

const options = JSON.parse(process.argv[2]);

const study = `
study: bench-load
columns: [${Array.from({ length: options.columns }, (_, i) => `c${i}`).join(', ')}]
cohort: 1000000
epoch: { every: ${options.every} }
contribution: { reduce: mean, rowsMax: 1000000000 }
estimator: mean
parameters: { scale: 10 }
privacy: { epsilon: 0.5, delta: 1e-9 }
budget: { epsilon: 100, delta: 1e-3, scope: study }
retention: release
`;

let store;
/** How long each turn of an epoch took: the old one closes and the next one opens. */
const turnsMs = [];

async function openStore(directory, clock) {
  const { database: url, leaseMs = 10_000 } = options;
  store = url === undefined
    ? await openSqliteStore({ directory, clock })
    : await openPostgresStore({
      url, clock, pool: 8, leaseMs, rowKeys: join(directory, 'row-keys'),
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

const timed = (call) => async (...args) => {
  const startedMs = performance.now();
  const result = await call(...args);
  turnsMs.push(performance.now() - startedMs);
  return result;
};

const aggregator = await createAggregator({
  dataDirectory: options.directory,
  studies: [parseStudyText(study, { name: 'bench-load.yaml' })],
  port: options.port ?? 0,
  logger:
    createLogger({ level: 'warn', destination: { write: (line) => process.stderr.write(line) } }),
  openStore,
});
const [{ studyId }] = aggregator.hub.studies();

async function sample() {
  const [view] = aggregator.hub.studies();
  const health = await store.health();
  return {
    type: 'sample', atMs: performance.now(), cpu: process.cpuUsage(), memory: process.memoryUsage(),
    descriptors: readdirSync('/proc/self/fd').length, epoch: Number(view.epoch),
    releases: view.releaseCount, fileBytes: health.fileBytes, walBytes: health.walBytes,
    batches: health.batches, commits: health.commits, retries: health.retries,
    turnsMs: turnsMs.splice(0), leads: aggregator.hub.node()?.leads.length ?? 1,
    unpurged: (await store.unpurgedEpochs(studyId)).length,
  };
}

process.on('message', () => { sample().then((result) => process.send(result)); });
process.on('disconnect', () => process.exit(1));
process.send({ type: 'ready', url: aggregator.address.replace('http', 'ws'), studyId });
