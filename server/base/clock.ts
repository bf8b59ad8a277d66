/** The only place in the server that reads time or sets timers. */
export interface Clock {
  /** Unix time in milliseconds: for records and schedules. May jump. */
  nowMs(): number;
  /** Milliseconds that never go back: for durations. */
  monotonicMs(): number;
  /**
   * Calls `action` once after `delayMs`; returns a canceller. Long delays are split. A timer alone
   * does not keep the process alive.
   */
  after(delayMs: number, action: () => void): () => void;
}

/**
 * Unix time of 2020, before this program existed. A clock before it is wrong, for example because
 * it has no battery.
 */
export const earliestTimeMs = 1_577_836_800_000;

/** setTimeout fires at once for delays past 2^31 - 1 ms; longer ones are split below this. */
const longestTimerMs = 2 ** 31 - 1;

/** The clock of the machine. */
export const systemClock: Clock = {
  // Messages cannot hold a time before 1970. A clock that is set there while the server runs reads
  // as 1970.
  nowMs: () => Math.max(Date.now(), 0),
  monotonicMs: () => performance.now(),
  after(delayMs, action) {
    let timer: NodeJS.Timeout;
    const arm = (left: number): void => {
      const step = Math.min(Math.max(left, 0), longestTimerMs);
      timer = setTimeout(() => {
        if (left > step) arm(left - step);
        else action();
      }, step);
      timer.unref();
    };
    arm(delayMs);
    return () => clearTimeout(timer);
  },
};

/**
 * Keeps the process alive until the work is done. Timers of a clock alone do not, and a process
 * that only waits on them, with no socket open, ends in silence: for example one that waits for a
 * database that is away.
 */
export async function whileAlive<T>(work: () => Promise<T>): Promise<T> {
  const keeper = setInterval(() => undefined, longestTimerMs);
  try {
    return await work();
  } finally {
    clearInterval(keeper);
  }
}
