import { codeOf } from '../../src/base/errors.js';
import { UsageError } from './errors.js';

/** Starts a server. @throws UsageError when it cannot listen there, with what to do. */
export async function listening<Running>(
  port: number, host: string, start: () => Promise<Running>,
): Promise<Running> {
  try {
    return await start();
  } catch (error) {
    const remedies: Readonly<Record<string, string>> = {
      EADDRINUSE: `port ${port} of ${host} is in use: stop what listens there, or choose another `
        + '--port',
      EACCES: `port ${port} needs rights that this user does not have: choose one above 1023`,
      EADDRNOTAVAIL: `--host ${host} is no address of this machine: leave it out, or give one of `
        + 'its own',
      ENOTFOUND: `--host ${host} is not a name that this machine can find: give an address`,
    };
    const remedy = remedies[codeOf(error)];
    throw remedy === undefined ? error : new UsageError(remedy);
  }
}

export function interruption(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }));
}
