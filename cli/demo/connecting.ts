import type { Fleet } from '../../simulation/index.js';
import type { Io } from '../base/io.js';
import { startProgress } from '../base/progress.js';

const redrawMs = 100;

/**
 * Waits until all people are connected. On a terminal, a bar on standard error counts them.
 * @param studies number of studies. Each person takes part in all of them, with one session for
 *   each.
 * @returns how long it took, in milliseconds.
 * @throws the error that ended a session before it was ready.
 */
export async function connected(
  fleet: Fleet, contributors: number, studies: number, io: Io,
): Promise<number> {
  const startedMs = io.monotonicMs();
  const progress = startProgress('connecting', io, { name: 'people', size: studies, digits: 0 });
  const timer =
    setInterval(() => progress.update(fleet.statistics().ready, contributors * studies), redrawMs);
  try {
    await fleet.ready();
    return io.monotonicMs() - startedMs;
  } finally {
    clearInterval(timer);
    progress.end();
  }
}
