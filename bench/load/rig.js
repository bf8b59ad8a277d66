// Starts the processes of the benchmarks of load, and speaks with them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { projectPath, startChild } from '../harness/processes.js';

/** @returns the server's address and study, `sample()`, and `stop()`. */
export async function startServer(options, profile = null) {
  const server = await startChild(projectPath('bench/load/server.js'), options, profile);
  return { ...server, sample: () => server.ask('sample') };
}

/** The least that a server of encrypted channels does. @returns as `startServer`. */
export async function startFloor(options) {
  const server = await startChild(projectPath('bench/load/floor.js'), options);
  return { ...server, sample: () => server.ask('sample') };
}

/** @returns `ask(command)`, which resolves to the answer, and `stop()`, once all are connected. */
export const startContributors = (options) =>
  startChild(projectPath('bench/load/contributors.js'), options);

/**
 * Acknowledged batches per second if each contributor always has a few unacknowledged.
 * @param inFlight - number for each.
 */
export async function peakOf(contributors, seconds, inFlight = 2) {
  await contributors.ask({ offer: 1e6, seconds: Math.min(5, seconds), inFlight });
  const { perSecond } = await contributors.ask({ offer: 1e6, seconds, inFlight });
  await contributors.ask({ settle: 60 });
  return perSecond;
}

/**
 * Starts bench/load/generator.js.
 * @returns promises of its messages: `measuring`, and `done` with what it counted; and `child`.
 */
export function startLoad(options) {
  const child = spawn(process.execPath,
    [projectPath('bench/load/generator.js'), JSON.stringify(options)],
    { stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill('SIGKILL'));
  const waiting = new Map();
  const failed = once(child, 'exit').then(([code]) => {
    if (code !== 0) throw new Error(`the load generator ended with status ${code}`);
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.type)?.(message);
  });
  const until = (type) => Promise.race([
    new Promise((resolve) => waiting.set(type, resolve)),
    failed.then(() => new Promise(() => undefined)),
  ]);
  return { measuring: until('measuring'), done: until('done'), child };
}
