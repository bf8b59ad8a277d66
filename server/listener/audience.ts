import type { HubEvent, StudyHub } from '../studies/contract.js';

/** One who wants to hear what happens in a study. */
export interface Member {
  hear(event: HubEvent, frame: () => Uint8Array): void;
}

/** Who follows which study, so that an event costs as much as it has listeners. */
export class Audience {
  readonly #members = new Map<string, Set<Member>>();

  /** Returns false when the member followed the study already. */
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
   * Hands each event of the hub to the followers of its study.
   * @param encode makes the event's frame; called at most once per event, and only when somebody needs it.
   * @param failed takes what a member throws: the others, and the hub, go on.
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
      // A copy: a member that leaves while it listens does not shift the others.
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
