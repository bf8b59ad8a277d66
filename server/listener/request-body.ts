import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpError } from '../operator/http-error.js';
import { judgeBrowser, type BrowserRules } from '../network/upgrade.js';
import { isOverloaded, type ListenerContext } from './context.js';
import { takesNoBatches } from './refusal-texts.js';
import type { UnfinishedMessages } from './unfinished.js';

export const contentType = 'application/x-protobuf';

/** The checks of a request with batches before its body is read. @throws HttpError. */
export function checkBodyRequest(
  context: ListenerContext, rules: BrowserRules, request: IncomingMessage, bytesMax: number,
): void {
  const refusal = judgeBrowser(request, rules);
  if (refusal !== undefined) throw new HttpError(403, 'unknown-origin', refusal.text);
  if (context.stopping) {
    throw new HttpError(503, 'shutting-down', 'the server is stopping: connect again later');
  }
  if (!context.takesBatches) throw new HttpError(503, 'shutting-down', takesNoBatches);
  if (isOverloaded(context)) {
    throw new HttpError(503, 'overloaded', 'the journal is behind: send the same bytes again');
  }
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== contentType) {
    throw new HttpError(415, 'wrong-content-type', `send the body as Content-Type: ${contentType}`);
  }
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw tooLarge(bytesMax);
}

/** Requests with a body at one path. The listener waits for their answers before it ends. */
export abstract class BodyRequests {
  #size = 0;

  constructor(
    protected readonly context: ListenerContext,
    protected readonly rules: BrowserRules,
    protected readonly unfinished: UnfinishedMessages,
  ) {}

  /** Requests that are not answered. */
  get size(): number {
    return this.#size;
  }

  /** Answers a POST. @throws HttpError for a request that cannot be served. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#size += 1;
    try {
      await this.reply(request, response);
    } finally {
      this.#size -= 1;
      this.context.settled.fire();
    }
  }

  /** As `answer`. */
  protected abstract reply(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** A body that is being read, and its reader. */
interface Reading<Read> {
  readonly request: IncomingMessage;
  readonly parts: BodyParts;
  /** Bytes of memory that the unfinished part of the body uses. */
  readonly held: { readonly heldBytes: number };
  readonly read: () => Promise<Read>;
}

/** Bounds the time of a body, and the memory of unfinished bodies over all requests. */
export async function readInTime<Read>(
  { clock, limits }: ListenerContext, unfinished: UnfinishedMessages,
  { request, parts, held, read }: Reading<Read>,
): Promise<Read> {
  const cancel = clock.after(limits.uploadTimeoutMs, () => {
    if (!request.complete) parts.stop(tooSlow(limits.uploadTimeoutMs));
  });
  const forget = unfinished.hold({
    get bytes() { return held.heldBytes; },
    cut: () => request.destroy(),
  });
  try {
    return await read();
  } finally {
    cancel();
    forget();
  }
}

/**
 * The body of a request. Reading throws an HttpError when the connection ends within it, or when it
 * was stopped. Node reports nothing about a body whose request was answered, not even the end of
 * its connection. So a route that answers earlier has to stop the body, or its reader waits
 * forever.
 */
export class BodyParts implements AsyncIterable<Uint8Array> {
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

function tooSlow(withinMs: number): HttpError {
  return new HttpError(
    408, 'too-slow', `the body did not arrive within ${withinMs / 1000} s: send smaller requests`,
  );
}

/** The refusal of a body above the limit. */
export function tooLarge(bytesMax: number): HttpError {
  return new HttpError(
    413, 'too-large', `the body has at most ${bytesMax} bytes: send smaller or several requests`,
  );
}
