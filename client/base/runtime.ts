/**
 * Clock, timers and random fractions of the client, which tests and simulations can replace.
 * client/base/defaults.ts has the platform's. Only client/base/clock.ts reads time or sets timers.
 */
export interface ClientRuntime {
  /** Milliseconds that never go back. Only differences have a meaning. */
  nowMs(): number;
  /** Unix time in milliseconds. It may be wrong: clocks of phones are. */
  unixMs(): number;
  /** Calls `action` once after `delayMs`; returns a canceller. */
  after(delayMs: number, action: () => void): () => void;
  /** Uniform in [0, 1), to spread the retries of many clients. Not for secrets. */
  fraction(): number;
}
