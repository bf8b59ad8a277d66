// Starts the processes of the benchmarks of load, and speaks with them.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** @returns the server's address and study, `sample()`, and `stop()`. */
export async function startServer(options) {
  const child = fork(here('server.js'), [JSON.stringify(options)]);
  const ended = once(child, 'exit').then(() => { throw new Error('the server ended by itself'); });
  ended.catch(() => undefined);
  const [ready] = await Promise.race([once(child, 'message'), ended]);
  return {
    ...ready,
    async sample() {
      const answer = once(child, 'message');
      child.send('sample');
      return (await Promise.race([answer, ended]))[0];
    },
    stop: () => child.kill('SIGKILL'),
  };
}

/** @returns `ask(command)`, which resolves to the answer, and `stop()`, once all are connected. */
export async function startContributors(options) {
  const child = spawn(process.execPath, [here('contributors.js'), JSON.stringify(options)],
    { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the contributors ended by themselves');
    return JSON.parse(value);
  };
  await next();
  return {
    ask(command) {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      return next();
    },
    stop: () => child.kill('SIGKILL'),
  };
}

/**
 * Acknowledged batches per second if each contributor always has a few unacknowledged. @param
 * inFlight number for each.
 */
export async function peakOf(contributors, seconds, inFlight = 2) {
  await contributors.ask({ offer: 1e6, seconds: Math.min(5, seconds), inFlight });
  const { perSecond } = await contributors.ask({ offer: 1e6, seconds, inFlight });
  await contributors.ask({ settle: 60 });
  return perSecond;
}

export const mebibytes = (bytes) => (bytes / 2 ** 20).toFixed(0);
