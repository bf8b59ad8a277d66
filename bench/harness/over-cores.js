// Independent runs of a benchmark, side by side in copies of its own script: one for each core.
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { keptLines } from './pages.js';

const flag = 'KEELSON_BENCH_COPY';
/** True if this process is such a copy. Copies print nothing and write no file. */
export const isCopy = process.env[flag] !== undefined;

/** Threads for the work of one run, so that all copies together have one for each core. */
export const threadsOfRun = isCopy ? 1 : availableParallelism();

/** Options of every benchmark that is measured in pieces, for `optionsOf`. */
export const piecesOptions = {
  processes: {
    usual: availableParallelism(), tiny: 2, means: 'runs that are measured side by side',
  },
  minutes: { usual: 1e3, means: 'no run starts later than this; --out keeps what there is' },
  out: { usual: null, means: 'file of results: one JSON line each; known ones are not run again' },
};

const progressEveryMs = 20_000;

/**
 * Measures runs in copies of this script, and reports whether every run is there. Every copy makes
 * the same list of runs from the command line, and calls this function too: there it answers to its
 * parent, and never returns.
 * @param runs - a run needs nothing that another run leaves behind.
 * @param measure - (run) => Promise of its lines of results, an array of JSON values.
 * @param keyOf - the run of a line: lines with the same key come from one run.
 * @param options - `piecesOptions`, as they were read.
 * @returns the lines of all runs that are known, in the order of the runs.
 */
export async function measuredRuns(runs, measure, keyOf, { processes, minutes, out }) {
  if (isCopy) await answerParent(runs, measure);
  const kept = keptLines(out, keyOf);
  const left = runs.flatMap((run, index) => (kept.has(run) ? [] : [index]));
  const known = runs.length - left.length;
  if (known > 0) console.log(`${known} of ${runs.length} runs are known`);
  const progress = progressOf(left.length);
  const end = performance.now() + minutes * 60_000;
  const next = () => (performance.now() > end ? undefined : left.shift());
  const done = (lines) => {
    kept.add(lines);
    progress();
  };
  const wanted = Math.min(processes, left.length);
  await Promise.all(Array.from({ length: wanted }, () => oneCopy(next, done)));
  console.log(left.length === 0 ? 'every run is there'
    : 'time is up: run again with the same --out');
  return kept.inOrderOf(runs);
}

/** Prints now and then how many runs are done, and how long the others may take. */
function progressOf(total) {
  const start = performance.now();
  let [done, said] = [0, start];
  return () => {
    done += 1;
    const now = performance.now();
    if (done < total && now - said < progressEveryMs) return;
    said = now;
    const minutes = (now - start) / 60_000;
    console.log(`${done} of ${total} runs in ${minutes.toFixed(1)} minutes`
      + `${done < total ? `, about ${(minutes * (total / done - 1)).toFixed(1)} left` : ''}`);
  };
}

/** Starts a copy and gives it one run after the other. */
function oneCopy(next, done) {
  const child = fork(process.argv[1], process.argv.slice(2), {
    env: { ...process.env, [flag]: '1' }, stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    const give = () => {
      const index = next();
      if (index === undefined) child.disconnect();
      else child.send(index);
    };
    child.once('error', reject);
    child.on('message', (lines) => {
      if (lines !== null) done(lines);
      give();
    });
    child.once('exit', (code, signal) => (code === 0 ? resolve()
      : reject(new Error(`a copy of the benchmark ended with ${signal ?? `status ${code}`}`))));
  });
}

async function answerParent(runs, measure) {
  process.once('disconnect', () => process.exit(0));
  process.on('message', (index) => {
    measure(runs[index]).then((lines) => process.send(lines), (error) => {
      console.error(error);
      process.exit(1);
    });
  });
  // Ready for the first run.
  process.send(null);
  await new Promise(() => {});
}
