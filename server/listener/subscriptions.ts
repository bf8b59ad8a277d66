import { toHex } from '../../src/base/bytes.js';
import type { Subscribe, Unsubscribe } from '../../src/wire/messages.js';
import type { HubEvent } from '../studies/contract.js';
import type { ListenerContext, SessionSocket } from './context.js';
import { Subscription } from './subscription.js';
import type { SessionOutput } from './session-output.js';

/** The subscriptions of one socket: at most one for each study that the server runs. */
export class Subscriptions {
  readonly #byStudy = new Map<string, Subscription>();
  /** The end of the last read of each study, so that only one read per study runs at a time. */
  readonly #reads = new Map<string, Promise<void>>();

  constructor(
    private readonly context: ListenerContext,
    private readonly socket: SessionSocket,
    private readonly output: SessionOutput,
  ) {
    socket.onDrain(() => {
      context.logReads.note(socket);
      this.#byStudy.forEach((subscription) => subscription.onDrain());
    });
  }

  get size(): number {
    return this.#byStudy.size;
  }

  close(): void {
    for (const subscription of this.#byStudy.values()) subscription.close();
    this.context.logReads.forget(this.socket);
    this.context.metrics.totals.subscriptions -= this.#byStudy.size;
    this.#byStudy.clear();
  }

  /**
   * A second subscription to the same study replaces the first. It counts as a strike when it
   * exceeds the rate, or comes before the log of the first was sent: no honest client sends many of
   * these.
   */
  subscribe(frame: Subscribe): void {
    const { context, output } = this;
    const subject = { studyId: frame.studyId };
    const view = context.hub.study(toHex(frame.studyId));
    if (context.stopping) return output.refuse('shutting-down', subject);
    if (!this.#isWithinRate(frame.studyId)) return;
    if (view === undefined) return output.refuse('unknown-study', subject);
    // An index above the exact range of a number is past the end of any log.
    const from = Number(frame.fromRelease > indexMax ? indexMax : frame.fromRelease);
    if (this.#byStudy.get(view.studyId)?.catchesUp === true) output.strike('hastySubscribe');
    if (output.closed) return;
    this.#drop(view.studyId);
    const subscription = new Subscription(context, this.socket, view.studyId, from);
    this.#byStudy.set(view.studyId, subscription);
    context.metrics.totals.subscriptions += 1;
    output.follow(view.studyId);
    const before = this.#reads.get(view.studyId) ?? Promise.resolve();
    const read = before.then(() => subscription.catchUp()).catch((error: unknown) => {
      context.logger
        .error({ study: view.name, err: error }, 'releases could not be read for a subscriber');
      if (this.#byStudy.get(view.studyId) === subscription) this.#drop(view.studyId);
      output.refuse('internal', subject);
    }).finally(() => {
      if (this.#reads.get(view.studyId) === read) this.#reads.delete(view.studyId);
    });
    this.#reads.set(view.studyId, read);
  }

  /**
   * Counts against the rate of Subscribe: without that, these frames alone could keep the server
   * busy.
   */
  unsubscribe(frame: Unsubscribe): void {
    if (!this.#isWithinRate(frame.studyId)) return;
    const studyId = toHex(frame.studyId);
    if (this.context.hub.study(studyId) === undefined) {
      this.output.refuse('unknown-study', { studyId: frame.studyId });
      return this.output.rest();
    }
    this.#drop(studyId);
  }

  hear(event: HubEvent, frame: () => Uint8Array): void {
    const subscription = this.#byStudy.get(event.studyId);
    if (event.kind === 'release') subscription?.onRelease(event.release, frame);
    else if (event.kind === 'study-stopped') subscription?.onStopped();
  }

  #isWithinRate(studyId: Uint8Array): boolean {
    const { limits, subscribeRates } = this.context;
    if (subscribeRates.take(this.socket.address)) return true;
    this.output.refuse(
      'rate-limited', { studyId, facts: { limits, perSecond: limits.subscribePerSecond } },
    );
    this.output.strike('hastySubscribe');
    return false;
  }

  #drop(studyId: string): void {
    const subscription = this.#byStudy.get(studyId);
    if (subscription === undefined) return;
    subscription.close();
    this.#byStudy.delete(studyId);
    this.context.metrics.totals.subscriptions -= 1;
  }
}

const indexMax = BigInt(Number.MAX_SAFE_INTEGER);
