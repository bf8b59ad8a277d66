import type { HubEvent, StudyHub } from '../studies/contract.js';

/** A subscriber to the events of a study. */
export interface Subscriber {
  hear(event: HubEvent, frame: () => Uint8Array): void;
}

/**
 * The subscribers of each study. The cost of an event grows with the number of its subscribers
 * only.
 */
export class SubscriberRegistry {
  readonly #subscribers = new Map<string, Set<Subscriber>>();

  /** Returns false when the member had joined the study before. */
  join(studyId: string, subscriber: Subscriber): boolean {
    const subscribers = this.#subscribers.get(studyId) ?? new Set<Subscriber>();
    this.#subscribers.set(studyId, subscribers);
    if (subscribers.has(subscriber)) return false;
    subscribers.add(subscriber);
    return true;
  }

  leave(studyId: string, subscriber: Subscriber): void {
    const subscribers = this.#subscribers.get(studyId);
    subscribers?.delete(subscriber);
    if (subscribers?.size === 0) this.#subscribers.delete(studyId);
  }

  /**
   * Passes each event of the hub to the subscribers of its study.
   * @param encode makes the event's frame; called at most once per event, and only when a
   *   subscriber needs it.
   * @param failed receives the error of a member. The other members and the hub continue.
   * @returns a function that stops it.
   */
  follow(
    hub: StudyHub,
    encode: (event: HubEvent) => Uint8Array,
    failed: (error: unknown) => void,
  ): () => void {
    return hub.onEvent((event) => {
      let encoded: Uint8Array | undefined;
      const frame = (): Uint8Array => (encoded ??= encode(event));
      // A copy: a member that leaves during the loop must not shift the others.
      for (const subscriber of [...(this.#subscribers.get(event.studyId) ?? [])]) {
        try {
          subscriber.hear(event, frame);
        } catch (error) {
          failed(error);
        }
      }
    });
  }
}
