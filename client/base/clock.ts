import type { ClientRuntime } from './runtime.js';

/** The platform's clock and timers. Pages that read no log load nothing else of the client. */
export const systemClock: Pick<ClientRuntime, 'nowMs' | 'unixMs' | 'after'> = {
  nowMs: () => performance.now(),
  unixMs: () => Date.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, Math.max(0, delayMs));
    return () => clearTimeout(timer);
  },
};
