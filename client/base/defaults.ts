import { signing } from '#signing';
import type { ClientRuntime } from './runtime.js';

/** The platform's clock and timers; jitter from the system's generator. */
export const systemRuntime: ClientRuntime = {
  nowMs: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, Math.max(0, delayMs));
    return () => clearTimeout(timer);
  },
  fraction() {
    const bytes = signing.randomBytes(4);
    return (bytes[0]! * 2 ** 24 + bytes[1]! * 2 ** 16 + bytes[2]! * 2 ** 8 + bytes[3]!) / 2 ** 32;
  },
};

/** Times and sizes of the client, each overridable through options. */
export const clientDefaults = {
  /** First wait before a new connection attempt; doubles from there. Jitter takes up to half off. */
  backoffInitialMs: 250,
  /** Longest wait between connection attempts. */
  backoffMaxMs: 30_000,
  /** A socket that has not said Welcome by then is dropped. */
  handshakeTimeoutMs: 10_000,
  /** A socket that was silent for this long while something was owed to us is dropped. */
  idleTimeoutMs: 30_000,
  /** Bytes that may wait in the socket before batches wait in the channel. */
  socketBufferBytes: 1024 * 1024,
  /** How often a full socket buffer is looked at again. */
  socketPollMs: 20,
  /** First wait before batches or a Hello that the server put off are sent again; doubles up to the maximum. */
  retryInitialMs: 200,
  retryMaxMs: 10_000,
  /** A stopped study may still have one release in the making: a subscription ends this long after the head. */
  endGraceMs: 2_000,
  /** Releases that a subscriber holds for a slow reader; past it they are asked for again later. */
  releasesHeldMax: 256,
  /** Bytes of rows that a contributor holds unsettled; past it `send` refuses. */
  waitingBytesMax: 64 * 1024 * 1024,
} as const;
