// Processes of benchmarks: servers and loads that answer messages, programs whose use is measured,
// and folders that go when the benchmark ends.
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The path of a file of the project. */
export const projectPath = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
export const keelson = projectPath('bin/keelson.js');
/** For programs beside which one thread is compared. */
export const oneThread = {
  ...process.env, OPENBLAS_NUM_THREADS: '1', OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1',
};
// The core type may be one of this process alone; numpy finds the machine's own.
delete oneThread.OPENBLAS_CORETYPE;
const python = '/usr/bin/python3';

/** True if the system's Python has these modules. */
export const hasPython = (modules, interpreter = python) =>
  spawnSync(interpreter, ['-c', `import ${modules}`], { env: oneThread }).status === 0;

// A benchmark may start many children, and each has to end with it.
process.setMaxListeners(0);

/** A new folder, which is deleted when this process ends. */
export function ownFolder(name, place = tmpdir()) {
  const folder = mkdtempSync(join(place, `keelson-${name}-`));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/**
 * A child that reports when it is ready and answers each message with one. It is killed when this
 * process ends.
 * @param profile - folder for a CPU profile, or null. Node writes it at a normal exit, so `stop`
 *   asks for one then.
 */
export async function startChild(file, options, profile = null) {
  const child = fork(file, [JSON.stringify(options)], {
    execArgv: profile === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const ended = once(child, 'exit').then(() => { throw new Error(`${file} ended by itself`); });
  ended.catch(() => undefined);
  const next = async () => (await Promise.race([once(child, 'message'), ended]))[0];
  return {
    ...await next(), child,
    ended: ended.catch(() => undefined),
    ask(wish) {
      const answer = next();
      child.send(wish);
      return answer;
    },
    stop() {
      if (profile === null) child.kill('SIGKILL');
      else child.send('exit');
      return ended.catch(() => undefined);
    },
  };
}

const watched = `process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  process.stderr.write('\\nused ' + JSON.stringify({
    processor: (user + system) / 1e6, wall: process.uptime(),
    mebibytes: process.resourceUsage().maxRSS / 1024,
  }) + '\\n');
})`;

/**
 * The resources that a Node.js script used until it ended.
 * @returns `stdout` and `stderr`, seconds of `processor` and `wall` time, and `mebibytes` at most.
 * @throws Error with its output, if it failed.
 */
export function usedBy(words) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [
    '--import', `data:text/javascript,${encodeURIComponent(watched)}`, ...words,
  ], { encoding: 'utf8', maxBuffer: 1 << 28 });
  const found = /\nused (\{.*\})\n$/.exec(stderr);
  if (status !== 0 || found === null) throw new Error(`${words.join(' ')}: ${stderr}`);
  return { ...JSON.parse(found[1]), stdout, stderr: stderr.slice(0, found.index) };
}

/** @returns the last line of a program's output, as JSON; null if the program fails. */
export function saidBy(program, args) {
  const { status, stdout } = spawnSync(
    program, args, { encoding: 'utf8', env: oneThread, maxBuffer: 1 << 26 },
  );
  return status === 0 ? JSON.parse(stdout.trim().split('\n').at(-1)) : null;
}
export const saidByPython = (args) => saidBy(python, args);

/** Fields of a `stat` in /proc from the state on; null when the process or thread has ended. */
export function statOf(path) {
  try {
    const text = readFileSync(path, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}
