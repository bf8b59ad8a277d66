import type { Clock } from '../clock.js';
import type { ListenerLimits } from './options.js';

export type WakefulnessVerdict = 'fine' | 'ping' | 'idle' | 'silent' | 'stalled' | 'replaced';

/** Whether the other side is there, does something, and reads what it is sent. */
export class Wakefulness {
  readonly #sinceMs: number;
  #heardMs: number;
  #pingedMs: number;
  #stuffedSinceMs: number | undefined;
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
   * @param state.stuffed more is waiting in its write buffer than allowed.
   * @param state.paused we do not read from it, so its silence says nothing.
   */
  check(state: { readonly useful: boolean; readonly stuffed: boolean; readonly paused: boolean; readonly owes: boolean }): WakefulnessVerdict {
    const nowMs = this.clock.monotonicMs();
    const { handshakeTimeoutMs, heartbeatMs, subscriberStallMs } = this.limits;
    if (!state.useful && nowMs - this.#sinceMs >= handshakeTimeoutMs) return 'idle';
    if (this.#outdatedSinceMs !== undefined && (!state.owes || nowMs - this.#outdatedSinceMs >= heartbeatMs)) return 'replaced';
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
