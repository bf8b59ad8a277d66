// An aggregator as `keelson serve` runs it, in a process of its own, for the benchmarks of load.
// Speaks with its parent over the fork's channel: any message asks for a sample of what it uses
// now.
// usage: fork('bench/load/server.js', ['{"directory","columns","every"}'])
import { readdirSync } from 'node:fs';
import {
  createAggregator, createLogger, openSqliteStore, parseStudyText,
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
const aggregator = await createAggregator({
  dataDirectory: options.directory,
  studies: [parseStudyText(study, { name: 'bench-load.yaml' })],
  port: 0,
  logger:
    createLogger({ level: 'warn', destination: { write: (line) => process.stderr.write(line) } }),
  openStore: async (directory, clock) => (store = await openSqliteStore({ directory, clock })),
});
const [{ studyId }] = aggregator.hub.studies();

async function sample() {
  const [view] = aggregator.hub.studies();
  const health = await store.health();
  return {
    type: 'sample', atMs: performance.now(), cpu: process.cpuUsage(), memory: process.memoryUsage(),
    descriptors: readdirSync('/proc/self/fd').length, epoch: Number(view.epoch),
    releases: view.releaseCount, fileBytes: health.fileBytes, walBytes: health.walBytes,
    batches: health.batches, unpurged: (await store.unpurgedEpochs(studyId)).length,
  };
}

process.on('message', () => { sample().then((result) => process.send(result)); });
process.on('disconnect', () => process.exit(1));
process.send({ type: 'ready', url: aggregator.address.replace('http', 'ws'), studyId });
