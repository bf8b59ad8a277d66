import type { IncomingMessage, ServerResponse } from 'node:http';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { encodeServerFrame, joinFrames } from '../../src/wire/index.js';
import { SingleUseNonces } from '../base/single-use-nonces.js';
import { HttpError } from '../operator/http-error.js';
import { judgeBrowser, type BrowserRules } from '../network/upgrade.js';
import { isOverloaded, type ListenerContext } from './context.js';
import { takesNoBatches } from './refusal-texts.js';
import { welcomeOf } from './server-frames.js';
import type { UnfinishedMessages } from './unfinished.js';
import { tooLarge, Upload } from './upload.js';

const contentType = 'application/x-protobuf';
const nonceHeader = 'Keelson-Nonce';

/**
 * Contributions over HTTP, for senders behind a proxy that refuses WebSockets: POST /v1/batches. A
 * request without a body gets Welcome and a nonce. A request with a nonce and frames gets the
 * answers to these frames, and the next nonce. docs/reference/protocol.md, section 9, has the proof
 * that a request which is sent twice counts once and shows nothing.
 */
export class Uploads {
  readonly #nonces: SingleUseNonces;
  #size = 0;

  constructor(
    private readonly context: ListenerContext,
    private readonly rules: BrowserRules,
    private readonly unfinished: UnfinishedMessages,
  ) {
    this.#nonces = new SingleUseNonces(context.clock, context.limits.uploadNonceMs);
  }

  /** Requests that are not answered. */
  get size(): number {
    return this.#size;
  }

  /** Answers a POST. @throws HttpError for a request that cannot be served. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#size += 1;
    try {
      await this.#answer(request, response);
    } finally {
      this.#size -= 1;
      this.context.settled.fire();
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#check(request);
    const address = this.context.clientAddress(request);
    const given = request.headers[nonceHeader.toLowerCase()];
    response.setHeader('Access-Control-Expose-Headers', `${nonceHeader}, Retry-After`);
    if (given === undefined) return this.#welcome(request, response, address);
    if (!this.#nonces.take(nonceIn(String(given)))) {
      response.setHeader(nonceHeader, toHex(this.#nonces.issue()));
      throw new HttpError(409, 'stale-nonce', 'the nonce was used, or is older than '
        + `${this.context.limits.uploadNonceMs / 1000} s: sign Hello again with the nonce of this `
        + 'answer');
    }
    if ('expect' in request.headers) response.writeContinue();
    const parts = new BodyParts(request);
    const upload = new Upload(this.context, { address, parts }, fromHex(String(given)));
    const frames = await this.#inTime(request, upload, parts);
    if (upload.struckOut || !request.complete) response.setHeader('Connection', 'close');
    this.#send(response, this.#nonces.issue(), frames);
  }

  #check(request: IncomingMessage): void {
    const { context: { limits, stopping, takesBatches }, rules } = this;
    const refusal = judgeBrowser(request, rules);
    if (refusal !== undefined) throw new HttpError(403, 'unknown-origin', refusal.text);
    if (stopping) {
      throw new HttpError(503, 'shutting-down', 'the server is stopping: connect again later');
    }
    if (!takesBatches) throw new HttpError(503, 'shutting-down', takesNoBatches);
    if (isOverloaded(this.context)) {
      throw new HttpError(503, 'overloaded', 'the journal is behind: send the same bytes again');
    }
    const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (type !== contentType) {
      throw new HttpError(415, 'wrong-content-type', `send frames as Content-Type: ${contentType}`);
    }
    if (Number(request.headers['content-length'] ?? 0) > limits.uploadBytes) {
      throw tooLarge(limits.uploadBytes);
    }
  }

  /** A request without a nonce begins: it counts as a new connection. */
  #welcome(request: IncomingMessage, response: ServerResponse, address: string): void {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    if (encoding !== undefined || (length !== undefined && length !== '0')) {
      throw new HttpError(400, 'nonce-missing', `frames need the header ${nonceHeader}: send a `
        + 'request without a body first, its answer has one');
    }
    const { connectionRates, limits } = this.context;
    if (!connectionRates.take(address)) {
      throw new HttpError(429, 'rate-limited', `an address may begin ${limits.connectionsPerSecond} `
        + 'times per second: slow down');
    }
    const nonce = this.#nonces.issue();
    this.#send(response, nonce, [encodeServerFrame(welcomeOf(this.context, nonce))]);
  }

  /** Bounds the time that a body takes, and the memory of unfinished frames over all uploads. */
  async #inTime(
    request: IncomingMessage, upload: Upload, parts: BodyParts,
  ): Promise<readonly Uint8Array[]> {
    const { clock, limits } = this.context;
    const cancel = clock.after(limits.uploadTimeoutMs, () => {
      if (!request.complete) parts.stop(tooSlow(limits.uploadTimeoutMs));
    });
    const forget = this.unfinished.hold({
      get bytes() { return upload.heldBytes; },
      cut: () => request.destroy(),
    });
    try {
      return await upload.answer();
    } finally {
      cancel();
      forget();
    }
  }

  #send(response: ServerResponse, nonce: Uint8Array, frames: readonly Uint8Array[]): void {
    response.setHeader('Content-Type', contentType);
    response.setHeader(nonceHeader, toHex(nonce));
    response.end(joinFrames(frames));
  }
}

/**
 * The body of a request. Reading throws an HttpError when the connection ends within it, or when it
 * was stopped. Node tells nothing of a body whose request was answered, not even when its
 * connection ends. So who answers earlier has to stop it, or its reader waits forever.
 */
class BodyParts implements AsyncIterable<Uint8Array> {
  #stopped: HttpError | undefined;
  #fail: (error: HttpError) => void = () => undefined;

  constructor(private readonly request: IncomingMessage) {}

  stop(error: HttpError): void {
    this.#stopped = error;
    this.#fail(error);
  }

  async* [Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const parts: AsyncIterator<Uint8Array, void> =
      this.request.iterator({ destroyOnReturn: false });
    for (;;) {
      const read: IteratorResult<Uint8Array, void> = await this.#next(parts);
      if (read.done === true) return;
      yield read.value;
    }
  }

  #next(
    parts: AsyncIterator<Uint8Array, void>,
  ): Promise<IteratorResult<Uint8Array, void>> {
    return new Promise((resolve, reject) => {
      if (this.#stopped !== undefined) return reject(this.#stopped);
      this.#fail = reject;
      parts.next().then(resolve, () => {
        const text = 'the connection ended within the body: send it again';
        reject(new HttpError(400, 'cut-off', text));
      });
    });
  }
}

function nonceIn(text: string): Uint8Array {
  if (/^[0-9a-f]{64}$/i.test(text)) return fromHex(text);
  throw new HttpError(400, 'bad-request', `${nonceHeader} has 64 hexadecimal digits`);
}

function tooSlow(withinMs: number): HttpError {
  return new HttpError(
    408, 'too-slow', `the body did not arrive within ${withinMs / 1000} s: send smaller requests`,
  );
}
