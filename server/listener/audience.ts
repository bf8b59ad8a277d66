import type { HubEvent, StudyHub } from '../studies/contract.js';

/** A subscriber to the events of a study. */
export interface Member {
  hear(event: HubEvent, frame: () => Uint8Array): void;
}

/**
 * The subscribers of each study. The cost of an event grows with the number of its subscribers
 * only.
 */
export class Audience {
  readonly #members = new Map<string, Set<Member>>();

  /** Returns false when the member had joined the study before. */
  join(studyId: string, member: Member): boolean {
    const members = this.#members.get(studyId) ?? new Set<Member>();
    this.#members.set(studyId, members);
    if (members.has(member)) return false;
    members.add(member);
    return true;
  }

  leave(studyId: string, member: Member): void {
    const members = this.#members.get(studyId);
    members?.delete(member);
    if (members?.size === 0) this.#members.delete(studyId);
  }

  /**
   * Passes each event of the hub to the subscribers of its study.
   * @param encode makes the event's frame; called at most once per event, and only when a
   *   subscriber needs it.
   * @param failed receives what a member throws. The other members and the hub continue.
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
      for (const member of [...(this.#members.get(event.studyId) ?? [])]) {
        try {
          member.hear(event, frame);
        } catch (error) {
          failed(error);
        }
      }
    });
  }
}
