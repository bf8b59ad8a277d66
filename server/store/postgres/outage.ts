import type { Clock } from '../../base/clock.js';
import type { Connections } from './connection.js';
import { PostgresFailure } from './failures.js';

/** The time that a read waits for a database that is gone, and the interval of its attempts. */
const outageMostMs = 60_000;
export const outageStepMs = 250;
/** The time that a server which is ending waits for a database that does not answer. */
const endMostMs = 8_000;
/** The time that it waits on a connection that it already had, and on which nothing comes. */
const silentMostMs = 4_000;

export const pause = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => { clock.after(ms, resolve); });

/**
 * Runs an action that may be repeated until the database is there.
 * @param givesUp asked after each failure. Default: a minute has passed.
 * @throws PostgresFailure of the last try.
 */
export async function throughOutage<T>(
  clock: Clock, action: () => Promise<T>, givesUp?: () => boolean,
): Promise<T> {
  const endsMs = clock.monotonicMs() + outageMostMs;
  const isOver = givesUp ?? (() => clock.monotonicMs() > endsMs);
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof PostgresFailure) || !error.retryable || isOver()) throw error;
      await pause(clock, outageStepMs);
    }
  }
}

/**
 * Watches the database of a server that is ending, and cuts its connections when no query has been
 * answered for `endMostMs`. A cut network reports nothing, so a query may wait for a minute. After
 * such a network is back, new connections answer, and those of before may stay silent for minutes:
 * each of these on which nothing comes is cut sooner, and its waiting queries begin again.
 */
export async function cutWhenSilent(
  connections: Connections, clock: Clock, isOver: () => boolean,
): Promise<void> {
  const heard = connections.heard();
  const keep = clock.after(silentMostMs, () => connections.cutSilent(heard));
  let answeredMs = clock.monotonicMs();
  const answers = (): Promise<boolean> =>
    connections.use((session) => session.text('SELECT 1')).then(() => true, () => false);
  while (!isOver()) {
    const leftMs = answeredMs + endMostMs - clock.monotonicMs();
    if (leftMs <= 0) {
      connections.cut();
      break;
    }
    const isThere = await Promise.race([answers(), pause(clock, leftMs).then(() => false)]);
    if (isThere) answeredMs = clock.monotonicMs();
    await pause(clock, outageStepMs);
  }
  keep();
}
