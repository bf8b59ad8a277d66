import { systemClock } from './clock.js';
import type { ClientRuntime } from './runtime.js';
import { signing } from './signing.js';

/** The platform's clock and timers; jitter from the system's generator. */
export const systemRuntime: ClientRuntime = {
  ...systemClock,
  fraction() {
    const bytes = signing.randomBytes(4);
    return (bytes[0]! * 2 ** 24 + bytes[1]! * 2 ** 16 + bytes[2]! * 2 ** 8 + bytes[3]!) / 2 ** 32;
  },
};

/** Times and sizes of the client, each overridable through options. */
export const clientDefaults = {
  /**
   * First wait before a new connection attempt. It doubles from there. Jitter shortens it by up to
   * half.
   */
  backoffInitialMs: 250,
  /** Longest wait between connection attempts. */
  backoffMaxMs: 30_000,
  /** A socket without a Welcome after this time is dropped. */
  handshakeTimeoutMs: 10_000,
  /** A socket that was silent for this long, while an answer was expected, is dropped. */
  idleTimeoutMs: 30_000,
  /** Above this number of bytes in the socket, batches wait in the channel. */
  socketBufferBytes: 1024 * 1024,
  /** Time between two checks of a full socket buffer. */
  socketPollMs: 20,
  /**
   * First wait before batches or a Hello that the server deferred are sent again. It doubles up to
   * the maximum.
   */
  retryInitialMs: 200,
  retryMaxMs: 10_000,
  /**
   * A study that stopped may still publish one release. A subscription ends this long after the
   * head.
   */
  endGraceMs: 2_000,
  /** Releases held for a slow reader. Above this number they are requested again later. */
  releasesHeldMax: 256,
  /** Bytes of frames in one request, where rows travel over HTTP. One frame always fits. */
  uploadBytes: 1024 * 1024,
  /**
   * Over HTTP the server cannot send by itself. When nothing waits, the client asks for the state
   * of the study: this long after the open epoch closes, or after this wait, doubled up to the
   * maximum.
   */
  pollInitialMs: 250,
  pollMaxMs: 15_000,
  /** A stream of events over HTTP that is silent for this long is dropped. */
  eventSilenceMs: 60_000,
  /** First wait before a WebSocket is tried again beside HTTP. It doubles up to the maximum. */
  probeInitialMs: 300_000,
  probeMaxMs: 3_600_000,
  /** Bytes of unsettled rows that a contributor holds. Above this `send` refuses. */
  waitingBytesMax: 64 * 1024 * 1024,
} as const;
