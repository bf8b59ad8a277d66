// The server of bench/release.js, in a process of its own: an aggregator whose epochs find a crowd in them already. The
// crowd's rows go to the epochs' thread the way journalled rows do; only their sockets and signatures are left out.
// usage: fork('bench/release-server.js', ['{"directory","columns","crowd","everySeconds"}'])
import { createAggregator, createLogger, parseStudyText } from '../dist/server/index.js';
import { WorkerEpochRunner } from '../dist/server/epochs/worker-runner.js';

const options = JSON.parse(process.argv[2]);
const study = `
study: bench-release
columns: [${Array.from({ length: options.columns }, (_, i) => `c${i}`).join(', ')}]
cohort: ${options.crowd}
epoch: { every: ${options.everySeconds}s }
contribution: { reduce: mean, rowsMax: 1000000000 }
estimator: prime
parameters: { scale: 1 }
privacy: { epsilon: 1, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-4, scope: study }
`;
const now = () => performance.timeOrigin + performance.now();

let state = 1;
const uniform = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;

/** Tells when releases begin and end, and fills epochs as they open. */
class WatchedRunner extends WorkerEpochRunner {
  async open(setup) {
    await super.open(setup);
    const key = new Uint8Array(32);
    for (let first = 0; first < options.crowd; first += 1000) {
      const parts = Array.from({ length: Math.min(1000, options.crowd - first) }, (_, i) => {
        const contributor = key.slice();
        new DataView(contributor.buffer).setUint32(0, first + i + 1);
        const values = Float64Array.from({ length: options.columns }, () => 3 * (uniform() + uniform() - 1));
        if ((first + i) % 20 === 0) for (let j = 0; j < values.length; j++) values[j] += 2;
        return { contributor, rows: 1, values, rank: 0n, complete: true };
      });
      super.add(setup.studyId, setup.epoch, parts);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async release(studyId, epoch) {
    const from = now();
    const outcome = await super.release(studyId, epoch);
    process.send({ type: 'released', from, to: now(), outcome: outcome.kind });
    return outcome;
  }
}

const aggregator = await createAggregator({
  dataDirectory: options.directory,
  studies: [parseStudyText(study, { name: 'bench-release.yaml' })],
  port: 0,
  logger: createLogger({ level: 'warn', destination: { write: (line) => process.stderr.write(line) } }),
  runnerFactory: (onDeath) => new WatchedRunner({ onDeath }),
});
process.on('disconnect', () => process.exit(1));
const { studyId } = aggregator.hub.studies()[0];
process.send({ type: 'ready', url: aggregator.address.replace('http', 'ws'), studyId });
