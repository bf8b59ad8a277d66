import type { Clock } from '../../base/clock.js';
import { PostgresFailure } from './failures.js';

/** How long a call waits for a database that is gone, and how often it asks. */
const outageMostMs = 60_000;
const outageStepMs = 250;

export const pause = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => { clock.after(ms, resolve); });

/** Runs an action that may be repeated until the database is there. */
export async function throughOutage<T>(clock: Clock, action: () => Promise<T>): Promise<T> {
  const endsMs = clock.monotonicMs() + outageMostMs;
  for (;;) {
    try {
      return await action();
    } catch (error) {
      const isLost = error instanceof PostgresFailure && error.kind === 'lost';
      if (!isLost || clock.monotonicMs() > endsMs) throw error;
      await pause(clock, outageStepMs);
    }
  }
}
