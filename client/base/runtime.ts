/**
 * What the client needs from its surroundings, so that tests and simulations can replace it.
 * client/base/defaults.ts holds the real one: the only file of the client that reads time or sets timers.
 */
export interface ClientRuntime {
  /** Milliseconds that never go back. Only differences mean anything. */
  nowMs(): number;
  /** Calls `action` once after `delayMs`; returns a canceller. */
  after(delayMs: number, action: () => void): () => void;
  /** Uniform in [0, 1): spreads retries of many clients. Not for anything secret. */
  fraction(): number;
}
