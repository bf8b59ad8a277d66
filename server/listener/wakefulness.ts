import type { Clock } from '../base/clock.js';
import type { ListenerLimits } from '../network/options.js';

export type WakefulnessVerdict = 'fine' | 'ping' | 'idle' | 'silent' | 'stalled' | 'replaced';

/** How a socket stands when it is looked at; see `Wakefulness.check`. */
export interface SocketState {
  readonly useful: boolean;
  readonly waitingBytes: number;
  readonly paused: boolean;
  readonly owes: boolean;
}

/** Whether the other side is there, does something, and reads what it is sent. */
export class Wakefulness {
  readonly #sinceMs: number;
  #heardMs: number;
  #pingedMs: number;
  #stuffedSinceMs: number | undefined;
  /** Bytes that waited when it was looked at last. */
  #waitingBytes = 0;
  #seemedSilent = false;
  #outdatedSinceMs: number | undefined;

  constructor(private readonly clock: Clock, private readonly limits: ListenerLimits) {
    this.#sinceMs = this.#heardMs = this.#pingedMs = clock.monotonicMs();
  }

  heard(): void {
    this.#heardMs = this.clock.monotonicMs();
  }

  /** What Welcome said is not so any more: the other side should connect again. */
  outdated(): void {
    this.#outdatedSinceMs ??= this.clock.monotonicMs();
  }

  /**
   * @param state.owes an answer to it is on its way: a socket that is outdated waits for that, though not for long.
   * @param state.useful the socket has a channel or a subscription.
   * @param state.waitingBytes in its write buffer. A large release is one write, of which nobody sees how much is taken, and pings
   *   and their answers wait behind it: so it gets the time that the slowest reader needs for it.
   * @param state.paused we do not read from it, so its silence says nothing.
   */
  check(state: SocketState): WakefulnessVerdict {
    const nowMs = this.clock.monotonicMs();
    const { handshakeTimeoutMs, heartbeatMs, subscriberStallMs, subscriberBufferBytes, readerBytesPerSecond } = this.limits;
    const { waitingBytes } = state;
    const stuffed = waitingBytes > subscriberBufferBytes;
    const takesMs = (bytes: number): number => Math.floor((Math.max(0, bytes) / readerBytesPerSecond) * 1000);
    if (waitingBytes < this.#waitingBytes) this.#heardMs = nowMs;
    this.#waitingBytes = waitingBytes;
    if (!state.useful && nowMs - this.#sinceMs >= handshakeTimeoutMs) return 'idle';
    if (this.#outdatedSinceMs !== undefined && (!state.owes || nowMs - this.#outdatedSinceMs >= heartbeatMs)) return 'replaced';
    this.#stuffedSinceMs = stuffed ? (this.#stuffedSinceMs ?? nowMs) : undefined;
    const stallMs = subscriberStallMs + takesMs(waitingBytes - subscriberBufferBytes);
    if (this.#stuffedSinceMs !== undefined && nowMs - this.#stuffedSinceMs >= stallMs) return 'stalled';
    if (state.paused) this.#heardMs = nowMs;
    // A stuffed socket cannot take the ping either: the stall limit decides about it.
    if (stuffed) return 'fine';
    // Twice in a row: after a pause of the process itself, the first check comes before what waits in the sockets is read.
    const isSilent = nowMs - this.#heardMs >= 2 * heartbeatMs + takesMs(waitingBytes);
    if (isSilent && this.#seemedSilent) return 'silent';
    this.#seemedSilent = isSilent;
    if (nowMs - this.#heardMs < heartbeatMs || nowMs - this.#pingedMs < heartbeatMs) return 'fine';
    this.#pingedMs = nowMs;
    return 'ping';
  }
}
