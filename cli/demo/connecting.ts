import type { Fleet } from '../../client/simulation/index.js';
import type { Io } from '../io.js';

const redrawMs = 200;

/**
 * Waits until the whole fleet is connected; on a terminal a line on standard error counts the sessions.
 * @returns how long it took, in milliseconds.
 * @throws what ended a session before it was ready.
 */
export async function connected(fleet: Fleet, sessions: number, io: Io): Promise<number> {
  const startedMs = io.monotonicMs();
  const draw = (): void => {
    io.stderr.write(`\r\u001b[2Kconnecting: ${fleet.statistics().ready} of ${sessions} sessions`);
  };
  const timer = io.stderr.isTTY === true ? setInterval(draw, redrawMs) : undefined;
  try {
    await fleet.ready();
    return io.monotonicMs() - startedMs;
  } finally {
    if (timer !== undefined) {
      clearInterval(timer);
      io.stderr.write('\r\u001b[2K');
    }
  }
}
