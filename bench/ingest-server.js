// The server of bench/ingest.js, in a process of its own: an aggregator as `keelson serve` runs it.
// Speaks with its parent over the fork's channel. With `preload` above 0 it only fills the replay
// table, through its own store, and ends: so that what filling leaves in memory is not in the
// figures.
// usage: fork('bench/ingest-server.js',
//   ['{"directory","columns","texts"?,"preload","contributors","checkThreads"?,"limits"?}'])
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import {
  createAggregator, createLogger, openSqliteStore, parseStudyText,
} from '../dist/server/index.js';
import { signing } from '../dist/src/signing/node.js';
import { seedOf } from './load-generator.js';

const options = JSON.parse(process.argv[2]);
const listBatches = 5_000;

const names = Array.from({ length: options.columns }, (_, i) => `c${i}`);
const lasting = `
study: bench-ingest
cohort: 100000
peopleMax: 100000
epoch: { every: 1h }
contribution: { reduce: mean, rowsMax: 1000000000 }
privacy: { epsilon: 1, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-5, scope: study }
`;
const numeric = `${lasting}
columns: [${names.join(', ')}]
estimator: mean
parameters: { scale: 10 }
`;
/** The last column is a text. Its keys are discovered, beside the mean of the other columns. */
const withTexts = `${lasting}
columns:
${names.slice(0, -1).map((name) => `  ${name}: number`).join('\n')}
  app: { type: text, bytes: 16 }
questions:
  means: { estimator: mean, columns: [${names.slice(0, -1).join(', ')}], parameters: { scale: 10 } }
  apps: { estimator: count, by: { column: app, discover: true, keysMax: 4 } }
`;
const study = options.texts === true ? withTexts : numeric;

/**
 * Keys of nobody. Those of the load's contributors are spread evenly among them, and so over the
 * table.
 */
function preloadKeys() {
  const every = Math.max(1, Math.floor(options.preload / options.contributors));
  return Array.from({ length: options.preload }, (_, i) => {
    const own = i % every === 0 && i / every < options.contributors;
    return own ? Buffer.from(signing.createSigner(seedOf(i / every)).publicKey).toString('hex')
      : createHash('sha256').update(`somebody else ${i}`).digest('hex');
  });
}

/**
 * Each key settles one sequence through the store's own hot path. It is refused, so that no row has
 * to be rebuilt.
 */
async function preload(store, studyId) {
  const keys = preloadKeys();
  const started = performance.now();
  const body = new Uint8Array(16);
  const signature = new Uint8Array(64);
  for (let first = 0; first < keys.length; first += listBatches) {
    const results = await store.admit(keys.slice(first, first
      + listBatches).map((contributor, i) => {
      const digest = new Uint8Array(64);
      new DataView(digest.buffer).setFloat64(0, first + i);
      return {
        studyId, contributor, sequence: 1n, epoch: 1n, last: false, rows: 1, digest, body,
        signature, rejectAs: 'not-finite', peopleMax: keys.length,
      };
    }));
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
    try {
      const text = readFileSync(`/proc/self/task/${id}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      // Ticks of a hundredth of a second in user mode and in the kernel.
      return [[id, (Number(fields[11]) + Number(fields[12])) * 10_000]];
    } catch {
      // The thread has ended.
      return [];
    }
  }));
}

let store;
const aggregator = await createAggregator({
  dataDirectory: options.directory,
  studies: [parseStudyText(study, { name: 'bench-ingest.yaml' })],
  port: 0,
  ...(options.checkThreads !== undefined && { checkThreads: options.checkThreads }),
  ...(options.limits !== undefined && { limits: options.limits }),
  logger:
    createLogger({ level: 'warn', destination: { write: (line) => process.stderr.write(line) } }),
  openStore: async (directory, clock) => (store = await openSqliteStore({ directory, clock })),
});
const { studyId } = aggregator.hub.studies()[0];

if (options.preload > 0) {
  const seconds = await preload(store, studyId);
  await aggregator.close();
  process.send({ type: 'preloaded', seconds });
  process.disconnect();
} else {
  process.on('message', async (wish) => {
    // Only for profiles, which Node writes at a normal exit.
    if (wish === 'exit') process.exit(0);
    process.send({
      type: 'sample', atMs: performance.now(), cpu: process.cpuUsage(),
      threads: cpuOfThreads(), memory: process.memoryUsage(),
      loop: performance.eventLoopUtilization(),
      health: await store.health(),
    });
  });
  process.on('disconnect', () => process.exit(1));
  process.send({ type: 'ready', url: aggregator.address.replace('http', 'ws'), studyId });
}
