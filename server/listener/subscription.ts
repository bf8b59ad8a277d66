import { KeelsonError } from '../../src/base/errors.js';
import { decodeHeadBody, encodeServerFrame } from '../../src/wire/index.js';
import type { ReleaseRecord } from '../store/contract.js';
import type { ListenerContext, SessionSocket } from './context.js';
import { releaseFrame } from './event-frames.js';

/**
 * One subscriber in one study. First the log from where it asked, in pages and no faster than it
 * reads; a signed head when it has all; then each release as it comes. A live subscriber that does
 * not keep up misses releases, but always gets the newest: indices show the gap, and HTTP has the rest.
 */
export class Subscription {
  #next: number;
  #live = false;
  #closed = false;
  #stoppedMeanwhile = false;
  /** Releases published, as far as events told. */
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

  /** Sends what is stored. Resolves when live or closed. @throws whatever the hub's store throws. */
  async catchUp(): Promise<void> {
    let emptyPages = 0;
    while (!this.#closed) {
      // A page is read when there is room for it, so that none waits in memory for a reader that is slow.
      await this.#room();
      const page = await this.#page();
      if (this.#closed) return;
      for (const release of page) this.#transmit(release, releaseFrame(release));
      this.context.logReads.note(this.socket);
      emptyPages = page.length > 0 ? 0 : emptyPages + 1;
      if (page.length > 0) continue;
      if (await this.#sendHead()) return this.#goLive();
      // A release may land between the page and the head; a log that never yields what its head counts is broken.
      if (emptyPages > 8) throw new KeelsonError('internal', 'the release log is shorter than its head says');
    }
  }

  /** True until everything stored was sent. */
  get catchesUp(): boolean {
    return !this.#live && !this.#closed;
  }

  async #page(): Promise<readonly ReleaseRecord[]> {
    const { hub, limits: { releasesPerPage, releasePageBytes }, logReads } = this.context;
    return logReads.page(async () =>
      (this.#closed ? [] : hub.releases(this.studyId, this.#next, releasesPerPage, releasePageBytes)));
  }

  #goLive(): void {
    this.#live = true;
    if (this.#stoppedMeanwhile) this.#headAfterEnd();
  }

  /** A release was published. */
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

  /** The study stopped: a live subscriber gets the head of the finished log. */
  onStopped(): void {
    if (this.#live) this.#headAfterEnd();
    else this.#stoppedMeanwhile = true;
  }

  /** The socket's buffer emptied. */
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

  /** False when the log grew past what was sent: read on first. */
  async #sendHead(): Promise<boolean> {
    const head = await this.context.hub.head(this.studyId);
    if (this.#closed) return true;
    const behind = Number(decodeHeadBody(head.body).count) > this.#next || this.#announced > this.#next;
    if (behind) return false;
    this.socket.send(encodeServerFrame({ kind: 'head', ...head }));
    return true;
  }

  #headAfterEnd(): void {
    if (this.context.hub.study(this.studyId)?.state === 'open') return;
    this.#sendHead().catch((error: unknown) => {
      this.context.logger.error({ study: this.studyId, error }, 'the head of a release log could not be sent');
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
