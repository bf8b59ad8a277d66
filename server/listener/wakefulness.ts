import type { Clock } from '../clock.js';
import type { ListenerLimits } from './options.js';

export type WakefulnessVerdict = 'fine' | 'ping' | 'idle' | 'silent' | 'stalled';

/** Whether the other side is there, does something, and reads what it is sent. */
export class Wakefulness {
  readonly #sinceMs: number;
  #heardMs: number;
  #pingedMs: number;
  #stuffedSinceMs: number | undefined;
  #seemedSilent = false;

  constructor(private readonly clock: Clock, private readonly limits: ListenerLimits) {
    this.#sinceMs = this.#heardMs = this.#pingedMs = clock.monotonicMs();
  }

  heard(): void {
    this.#heardMs = this.clock.monotonicMs();
  }

  /**
   * @param state.useful the socket has a channel or a subscription.
   * @param state.stuffed more is waiting in its write buffer than allowed.
   * @param state.paused we do not read from it, so its silence says nothing.
   */
  check(state: { readonly useful: boolean; readonly stuffed: boolean; readonly paused: boolean }): WakefulnessVerdict {
    const nowMs = this.clock.monotonicMs();
    const { handshakeTimeoutMs, heartbeatMs, subscriberStallMs } = this.limits;
    if (!state.useful && nowMs - this.#sinceMs >= handshakeTimeoutMs) return 'idle';
    this.#stuffedSinceMs = state.stuffed ? (this.#stuffedSinceMs ?? nowMs) : undefined;
    if (this.#stuffedSinceMs !== undefined && nowMs - this.#stuffedSinceMs >= subscriberStallMs) return 'stalled';
    if (state.paused) this.#heardMs = nowMs;
    // A stuffed socket cannot take the ping either: the stall limit decides about it.
    if (state.stuffed) return 'fine';
    // Twice in a row: after a pause of the process itself, the first check comes before what waits in the sockets is read.
    const isSilent = nowMs - this.#heardMs >= 2 * heartbeatMs;
    if (isSilent && this.#seemedSilent) return 'silent';
    this.#seemedSilent = isSilent;
    if (nowMs - this.#heardMs < heartbeatMs || nowMs - this.#pingedMs < heartbeatMs) return 'fine';
    this.#pingedMs = nowMs;
    return 'ping';
  }
}
