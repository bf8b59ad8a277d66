import type { Clock } from '../../base/clock.js';
import { PostgresFailure } from './failures.js';

/** How long a read waits for a database that is gone, and how often it asks. */
const outageMostMs = 60_000;
export const outageStepMs = 250;

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
      const waits = error instanceof PostgresFailure
        && (error.kind === 'lost' || error.kind === 'full');
      if (!waits || isOver()) throw error;
      await pause(clock, outageStepMs);
    }
  }
}
