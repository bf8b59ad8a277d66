import { KeelsonError } from '../../src/base/errors.js';
import { decodeHeadBody, encodeServerFrame } from '../../src/wire/index.js';
import type { ReleaseRecord } from '../store/contract.js';
import type { ListenerContext, SessionSocket } from './context.js';
import { releaseFrame } from './event-frames.js';

/**
 * One subscriber in one study. First it gets the log from the requested index on, in pages, no
 * faster than it reads. Then it gets a signed head, then each release as it is published. A live
 * subscriber that does not keep up misses releases, but always gets the newest. The indices show
 * the gap, and HTTP has the missing releases.
 */
export class Subscription {
  #next: number;
  #live = false;
  #closed = false;
  #stoppedMeanwhile = false;
  /** Number of releases published, according to events. */
  #announced = 0;
  #newest: ReleaseRecord | undefined;
  #wake: (() => void) | undefined;

  constructor(
    private readonly context: ListenerContext,
    private readonly socket: SessionSocket,
    readonly studyId: string,
    from: number,
  ) {
    this.#next = from;
  }

  /**
   * Sends the stored releases. Resolves when live or closed. @throws whatever the hub's store
   * throws.
   */
  async catchUp(): Promise<void> {
    let emptyPages = 0;
    while (!this.#closed) {
      // A page is read when there is room for it, so that no page waits in memory for a slow
      // reader.
      await this.#room();
      const page = await this.#page();
      if (this.#closed) return;
      for (const release of page) this.#transmit(release, releaseFrame(release));
      this.context.logReads.note(this.socket);
      emptyPages = page.length > 0 ? 0 : emptyPages + 1;
      if (page.length > 0) continue;
      if (await this.#sendHead()) return this.#goLive();
      // A release may come between the page and the head. A log that never yields the releases that
      // its head counts is broken.
      if (emptyPages > 8) {
        throw new KeelsonError('internal', 'the release log is shorter than its head says');
      }
    }
  }

  /** True until all stored releases were sent. */
  get catchesUp(): boolean {
    return !this.#live && !this.#closed;
  }

  async #page(): Promise<readonly ReleaseRecord[]> {
    const { hub, limits: { releasesPerPage, releasePageBytes }, logReads } = this.context;
    return logReads.page(async () =>
      (this.#closed
        ? [] : hub.releases(this.studyId, this.#next, releasesPerPage, releasePageBytes)));
  }

  #goLive(): void {
    this.#live = true;
    if (this.#stoppedMeanwhile) this.#headAfterEnd();
  }

  /** Called when a release was published. */
  onRelease(release: ReleaseRecord, frame: () => Uint8Array): void {
    this.#announced = Math.max(this.#announced, release.index + 1);
    if (!this.#live || this.#closed || release.index < this.#next) return;
    if (this.#full()) {
      if (this.#newest !== undefined) this.context.metrics.releasesSkipped.add();
      this.#newest = release;
      return;
    }
    this.#transmit(release, frame());
    this.#headAfterEnd();
  }

  /** Called when the study stopped: a live subscriber gets the head of the finished log. */
  onStopped(): void {
    if (this.#live) this.#headAfterEnd();
    else this.#stoppedMeanwhile = true;
  }

  /** Called when the socket's buffer has emptied. */
  onDrain(): void {
    const newest = this.#newest;
    if (newest !== undefined && !this.#closed && !this.#full()) {
      this.#newest = undefined;
      this.#transmit(newest, releaseFrame(newest));
      this.#headAfterEnd();
    }
    this.#wake?.();
  }

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  /**
   * Returns false when the log has grown past the sent releases. The caller must then read on
   * first.
   */
  async #sendHead(): Promise<boolean> {
    const head = await this.context.hub.head(this.studyId);
    if (this.#closed) return true;
    const behind = Number(decodeHeadBody(head.body).count) > this.#next
      || this.#announced > this.#next;
    if (behind) return false;
    this.socket.send(encodeServerFrame({ kind: 'head', ...head }));
    return true;
  }

  #headAfterEnd(): void {
    if (this.context.hub.study(this.studyId)?.state === 'open') return;
    this.#sendHead().catch((error: unknown) => {
      this.context.logger
        .error({ study: this.studyId, error }, 'the head of a release log could not be sent');
    });
  }

  #transmit(release: ReleaseRecord, frame: Uint8Array): void {
    this.#next = release.index + 1;
    this.socket.send(frame);
    this.context.metrics.releasesSent.add();
  }

  #full(): boolean {
    return this.socket.bufferedBytes > this.context.limits.subscriberBufferBytes;
  }

  async #room(): Promise<void> {
    while (this.context.logReads.isBehind(this.socket) && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}
