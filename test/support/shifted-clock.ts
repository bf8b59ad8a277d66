import { systemClock, type Clock } from '../../server/base/clock.js';

interface Timer {
  readonly dueMs: number;
  readonly action: () => void;
  cancel: () => void;
}

/**
 * The system's clock, whose Unix time a test can put forward: timers of the time between are due
 * at once. Durations stay real, so sockets do not look silent. For tests that say when an epoch
 * or a token ends.
 */
export class ShiftedClock implements Clock {
  #shiftMs = 0;
  readonly #timers = new Set<Timer>();

  nowMs = (): number => systemClock.nowMs() + this.#shiftMs;
  monotonicMs = (): number => systemClock.monotonicMs();

  after = (delayMs: number, action: () => void): () => void => {
    const timer: Timer = { dueMs: this.#timelineMs() + delayMs, action, cancel: () => undefined };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => {
      timer.cancel();
      this.#timers.delete(timer);
    };
  };

  advance(ms: number): void {
    this.#shiftMs += ms;
    for (const timer of this.#timers) {
      timer.cancel();
      this.#arm(timer);
    }
  }

  #timelineMs(): number {
    return systemClock.monotonicMs() + this.#shiftMs;
  }

  #arm(timer: Timer): void {
    timer.cancel = systemClock.after(Math.max(0, timer.dueMs - this.#timelineMs()), () => {
      this.#timers.delete(timer);
      timer.action();
    });
  }
}
