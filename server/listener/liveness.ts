import type { Clock } from '../base/clock.js';
import type { ListenerLimits } from '../network/options.js';

export type LivenessVerdict = 'fine' | 'ping' | 'idle' | 'silent' | 'stalled' | 'replaced';

/** The state of a socket at a check; see `Liveness.check`. */
export interface SocketState {
  readonly useful: boolean;
  readonly waitingBytes: number;
  readonly paused: boolean;
  readonly owes: boolean;
}

/**
 * Decides whether the other side is alive, has something to do, and reads the bytes that it is
 * sent.
 */
export class Liveness {
  readonly #sinceMs: number;
  #heardMs: number;
  #pingedMs: number;
  #backpressuredSinceMs: number | undefined;
  /** Bytes in the write buffer at the last check. */
  #waitingBytes = 0;
  #seemedSilent = false;
  #outdatedSinceMs: number | undefined;

  constructor(private readonly clock: Clock, private readonly limits: ListenerLimits) {
    this.#sinceMs = this.#heardMs = this.#pingedMs = clock.monotonicMs();
  }

  heard(): void {
    this.#heardMs = this.clock.monotonicMs();
  }

  /** Welcome is outdated: the other side should connect again. */
  outdated(): void {
    this.#outdatedSinceMs ??= this.clock.monotonicMs();
  }

  /**
   * @param state.owes an answer to the socket is not sent yet. An outdated socket waits for it, for
   *   one heartbeat at most.
   * @param state.useful the socket has a channel or a subscription.
   * @param state.waitingBytes bytes in its write buffer. A large release is one write, and it is
   *   unknown how much of it has been read. Pings and their answers wait behind it. So the socket
   *   gets the time that the slowest allowed reader needs.
   * @param state.paused the server does not read from the socket, so its silence means nothing.
   */
  check(state: SocketState): LivenessVerdict {
    const nowMs = this.clock.monotonicMs();
    const {
      handshakeTimeoutMs, heartbeatMs, subscriberStallMs, subscriberBufferBytes,
      readerBytesPerSecond,
    } = this.limits;
    const { waitingBytes } = state;
    const backpressured = waitingBytes > subscriberBufferBytes;
    const takesMs = (bytes: number): number =>
      Math.floor((Math.max(0, bytes) / readerBytesPerSecond) * 1000);
    if (waitingBytes < this.#waitingBytes) this.#heardMs = nowMs;
    this.#waitingBytes = waitingBytes;
    if (!state.useful && nowMs - this.#sinceMs >= handshakeTimeoutMs) return 'idle';
    if (this.#outdatedSinceMs !== undefined
        && (!state.owes || nowMs - this.#outdatedSinceMs >= heartbeatMs)) return 'replaced';
    this.#backpressuredSinceMs = backpressured ? (this.#backpressuredSinceMs ?? nowMs) : undefined;
    const stallMs = subscriberStallMs + takesMs(waitingBytes - subscriberBufferBytes);
    if (this.#backpressuredSinceMs !== undefined && nowMs - this.#backpressuredSinceMs >= stallMs) {
      return 'stalled';
    }
    if (state.paused) this.#heardMs = nowMs;
    // A ping would wait behind the full buffer. The stall limit decides instead.
    if (backpressured) return 'fine';
    // Two checks in a row: after a pause of this process, the first check runs before the waiting
    // bytes are read.
    const isSilent = nowMs - this.#heardMs >= 2 * heartbeatMs + takesMs(waitingBytes);
    if (isSilent && this.#seemedSilent) return 'silent';
    this.#seemedSilent = isSilent;
    if (nowMs - this.#heardMs < heartbeatMs || nowMs - this.#pingedMs < heartbeatMs) return 'fine';
    this.#pingedMs = nowMs;
    return 'ping';
  }
}
