// The server of bench/release.js, in a process of its own: an aggregator whose epochs find a crowd
// in them already. The crowd's rows go to the epochs' thread the way journalled rows do; only their
// sockets and signatures are left out.
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
parameters: { spread: 1 }
privacy: { epsilon: 1, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-4, scope: study }
`;
const now = () => performance.timeOrigin + performance.now();

let state = 1;
const uniform = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;

/** Rows in one message to the epochs' thread: so few that making them hardly delays the acks. */
const fedAtOnce = 200;
const pause = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

/**
 * Reports when releases begin and end, and fills an epoch after the release of the epoch before.
 * Making rows occupies the thread that answers sockets. Real people do not do that, and do not all
 * come within a second.
 */
class WatchedRunner extends WorkerEpochRunner {
  /** Resolves at the release of the epoch that opened last. */
  #released = Promise.resolve();
  #endOf = new Map();
  #open = 0n;

  async open(setup) {
    await super.open(setup);
    this.#open = setup.epoch;
    const before = this.#released;
    this.#released = new Promise((resolve) => { this.#endOf.set(setup.epoch, resolve); });
    await before;
    const from = now();
    for (let first = 0; first < options.crowd && this.#open === setup.epoch; first += fedAtOnce) {
      super.add(setup.studyId, setup.epoch, this.#batchesFrom(first));
      await pause(2);
    }
    process.send({ type: 'filled', from, to: now() });
  }

  #batchesFrom(first) {
    return Array.from({ length: Math.min(fedAtOnce, options.crowd - first) }, (_, i) => {
      const contributor = new Uint8Array(32);
      new DataView(contributor.buffer).setUint32(0, first + i + 1);
      const values =
        Float64Array.from({ length: options.columns }, () => 3 * (uniform() + uniform() - 1));
      if ((first + i) % 20 === 0) for (let j = 0; j < values.length; j++) values[j] += 2;
      return { contributor, sequence: 1n, rows: 1, values, complete: true };
    });
  }

  async release(studyId, epoch) {
    // On a busy machine the crowd is not whole yet: a closed epoch accepts no rows.
    if (this.#open === epoch) this.#open = 0n;
    const ends = this.#endOf.get(epoch);
    const from = now();
    try {
      const result = await super.release(studyId, epoch);
      process.send({ type: 'released', from, to: now(), outcome: result.outcomes[0].kind });
      return result;
    } finally {
      ends?.();
    }
  }
}

const aggregator = await createAggregator({
  dataDirectory: options.directory,
  studies: [parseStudyText(study, { name: 'bench-release.yaml' })],
  port: 0,
  logger:
    createLogger({ level: 'warn', destination: { write: (line) => process.stderr.write(line) } }),
  runnerFactory: (onDeath) => new WatchedRunner({ onDeath }),
});
process.on('disconnect', () => process.exit(1));
const { studyId } = aggregator.hub.studies()[0];
process.send({ type: 'ready', url: aggregator.address.replace('http', 'ws'), studyId });
