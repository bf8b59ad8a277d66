import { fromHex } from '../../src/base/bytes.js';
import { decodeServerFrame, joinFrames } from '../../src/wire/index.js';
import { clientDefaults } from '../base/defaults.js';
import type { ClientRuntime } from '../base/runtime.js';
import type { HelloAgain, TransportHandlers } from '../websocket/contract.js';
import { RequestTransport } from './request-transport.js';
import { framesOf, postFrames, reasonOf, type Answer } from './requests.js';
import { uploadUrl } from './upload-url.js';

/**
 * A transport of one contributor over HTTP requests. The first request gets Welcome. Each later one
 * carries a Hello for its own nonce and the frames that wait, and brings their answers. Only one
 * request runs at a time, so the order of the frames is kept. When nothing waits, it asks now and
 * then for the state of the study. A request that fails closes the transport: its owner connects
 * again and sends again what is not settled.
 */
export class UploadTransport extends RequestTransport {
  private readonly url: string;
  private queue: Uint8Array[] = [];
  private nonce = '';
  private isBusy = true;
  /** The server has answered a Hello on this transport. */
  private isGreeted = false;
  private isDue = false;
  private quietPolls = 0;
  /** Time until the open epoch closes, as the server last reported. 0: it did not report one. */
  private closesInMs = 0;

  /** @throws InvalidParameterError for a URL that can never work. */
  constructor(
    url: string, handlers: TransportHandlers,
    private readonly runtime: ClientRuntime,
  ) {
    super(handlers);
    this.url = uploadUrl(url);
    void this.run(async () => {
      const frames = framesOf(await this.post(null));
      handlers.onOpen();
      this.deliver(frames);
    });
  }

  send(bytes: Uint8Array): void {
    if (this.isClosed) return;
    this.queue.push(bytes);
    this.bufferedAmount += bytes.length;
    this.flushSoon();
  }

  /** Frames that are sent in one turn share one request. */
  private flushSoon(): void {
    if (this.isDue || this.isBusy) return;
    this.isDue = true;
    queueMicrotask(() => {
      this.isDue = false;
      if (!this.isBusy && !this.isClosed) void this.run(() => this.exchange());
    });
  }

  private async run(work: () => Promise<void>): Promise<void> {
    this.cancelLater();
    this.isBusy = true;
    try {
      await work();
    } catch (error) {
      return this.end(reasonOf(error));
    }
    // The owner may have closed it meanwhile.
    if (this.isClosed) return;
    this.isBusy = false;
    if (this.queue.length > 0) this.flushSoon();
    else if (this.isGreeted) this.schedulePoll();
  }

  private async exchange(): Promise<void> {
    const frames = this.take();
    let again = this.helloAgain();
    let answer = await this.postWith(again, frames);
    if (answer.status === 409 && again !== null) {
      again = this.helloAgain();
      answer = await this.postWith(again, frames);
    }
    const answers = framesOf(answer);
    this.bufferedAmount -= bytesOf(frames);
    const first = answers[0] === undefined ? null : decodeServerFrame(answers[0]);
    if (first?.kind !== 'ready') return this.deliver(answers);
    if (again !== null && !await again.isProvenBy(first)) {
      throw new Error('the server did not prove its key');
    }
    this.isGreeted = true;
    this.deliver(again === null ? answers : answers.slice(1));
  }

  /** The first Hello comes from the owner, which signed the nonce of Welcome. */
  private helloAgain(): HelloAgain | null {
    return this.isGreeted ? (this.handlers.regreet?.(fromHex(this.nonce)) ?? null) : null;
  }

  private async postWith(
    again: HelloAgain | null, frames: readonly Uint8Array[],
  ): Promise<Answer> {
    return this.post(joinFrames(again === null ? frames : [await again.hello(), ...frames]));
  }

  /** The frames of the next request, in order: at least one, if any waits. */
  private take(): Uint8Array[] {
    let bytes = 0;
    let count = 0;
    while (count < this.queue.length
      && (count === 0 || bytes + this.queue[count]!.length <= clientDefaults.uploadBytes)) {
      bytes += this.queue[count++]!.length;
    }
    return this.queue.splice(0, count);
  }

  private async post(body: Uint8Array | null): Promise<Answer> {
    const answer = await postFrames(this.url, this.nonce, body, this.aborter.signal);
    this.nonce = answer.nonce;
    this.handlers.onActivity();
    return answer;
  }

  private deliver(frames: readonly Uint8Array[]): void {
    for (const frame of frames) {
      if (!this.isClosed) this.handlers.onMessage(frame);
    }
    const last = frames.at(-1) === undefined ? null : decodeServerFrame(frames.at(-1)!);
    if (last?.kind === 'notice') this.closesInMs = Number(last.closesInMs);
    this.quietPolls = frames.length > 1 ? 0 : this.quietPolls + 1;
  }

  /** Asks again soon after the epoch closes, and otherwise less and less often. */
  private schedulePoll(): void {
    const { pollInitialMs, pollMaxMs } = clientDefaults;
    const waitMs = this.closesInMs > 0
      ? this.closesInMs + pollInitialMs : pollInitialMs * 2 ** Math.min(8, this.quietPolls);
    const delayMs = Math.min(waitMs, pollMaxMs) * (1 + this.runtime.fraction() / 4);
    this.cancelLater = this.runtime.after(delayMs, () => this.flushSoon());
  }
}

function bytesOf(frames: readonly Uint8Array[]): number {
  return frames.reduce((sum, { length }) => sum + length, 0);
}
