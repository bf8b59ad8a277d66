import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Alert } from './alert.js';
import type { AlertChannel } from './channels.js';

/** Waits between tries. The last one repeats. */
const waitsMs = [1_000, 10_000, 60_000, 300_000] as const;
/** An alert that was not accepted for a day is given up. */
const triesMost = 290;
/** Without an answer, the oldest alerts above this number are given up. */
const waitingMost = 100;

/**
 * Alerts of one channel that were not accepted yet, oldest first. An alert is sent again until the
 * other side accepts it. So it may arrive twice, if an answer was lost. Waiting alerts are lost
 * with the process: the log has a line for each alert.
 */
export class AlertOutbox {
  readonly #waiting: Alert[] = [];
  #tries = 0;
  #isBusy = false;
  #isClosed = false;
  #cancel: () => void = () => undefined;

  constructor(
    private readonly channel: AlertChannel, private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  add(alert: Alert): void {
    this.#waiting.push(alert);
    if (this.#waiting.length > waitingMost) this.#giveUp();
    if (!this.#isBusy) void this.#sendOldest();
  }

  /** Sends nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  async #sendOldest(): Promise<void> {
    const [oldest] = this.#waiting;
    if (this.#isClosed || oldest === undefined) return void (this.#isBusy = false);
    this.#isBusy = true;
    const { name } = this.channel;
    try {
      await this.channel.send(oldest);
      this.#forget(oldest);
      this.logger.info({ channel: name, kind: oldest.kind, study: oldest.study },
        'an alert was sent');
      return void this.#sendOldest();
    } catch (error) {
      if (this.#tries++ === 0) {
        this.logger.warn({ channel: name, cause: causeOf(error) },
          'an alert could not be sent: it is tried again');
      } else if (this.#tries >= triesMost) this.#giveUp();
    }
    const wait = waitsMs[Math.min(this.#tries, waitsMs.length) - 1] ?? waitsMs[0];
    this.#cancel = this.clock.after(wait, () => void this.#sendOldest());
  }

  #giveUp(): void {
    const [oldest] = this.#waiting;
    if (oldest === undefined) return;
    this.#forget(oldest);
    this.logger.error({ channel: this.channel.name, kind: oldest.kind, study: oldest.study },
      'an alert was given up: nobody took it');
  }

  #forget(alert: Alert): void {
    const at = this.#waiting.indexOf(alert);
    if (at >= 0) this.#waiting.splice(at, 1);
    this.#tries = 0;
  }
}

/** A code or a status, never the whole message: that may quote an address with a secret. */
function causeOf(error: unknown): string {
  const { code, cause, message, name } =
    error as Error & { readonly code?: unknown; readonly cause?: { readonly code?: unknown } };
  const known = [cause?.code, code].find((each) => typeof each === 'string');
  return known ?? /^the receiver answered \d+$/.exec(message)?.[0] ?? name;
}
