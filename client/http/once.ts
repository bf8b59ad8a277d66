import { fromBase64, fromHex } from '../../src/base/bytes.js';
import { KeelsonError } from '../../src/base/errors.js';
import { decodeServerFrame, type Notice, type Welcome } from '../../src/wire/index.js';
import type { ClientRuntime } from '../base/runtime.js';
import type { OpenTransport, TransportHandlers } from '../websocket/contract.js';
import { RequestTransport } from './request-transport.js';
import { framesOf, plainRequest, postFrames, reasonOf, refusal } from './requests.js';
import { httpUrl, uploadUrl } from './upload-url.js';

/** The needs of a transport of single batches, besides the server. */
export interface OnceTransportOptions {
  readonly runtime: ClientRuntime;
  /** Name, or id in hexadecimal. */
  readonly study: string;
  /** The server accepts no single batches. */
  onRefused(error: KeelsonError): void;
}

/** True for the id of a study in hexadecimal, and false for a name. */
export const isStudyId = (study: string): boolean => /^[0-9a-f]{64}$/i.test(study);

/**
 * Sends each message in a request of its own, to /v1/once. Welcome comes from a cache where one
 * answers for the server, if the study is known by its id. Fails as a socket does: its owner
 * connects again, and not before the time that the server stated.
 */
export function onceTransport(options: OnceTransportOptions): OpenTransport {
  let notBeforeMs = 0;
  return (url, _subprotocols, handlers) => new OnceTransport(url, handlers, {
    ...options,
    restMs: notBeforeMs - options.runtime.nowMs(),
    onRest: (ms) => { notBeforeMs = options.runtime.nowMs() + ms; },
  });
}

class OnceTransport extends RequestTransport {
  /** @throws InvalidParameterError for a URL that can never work. */
  constructor(
    private readonly url: string, handlers: TransportHandlers,
    private readonly options: OnceTransportOptions & {
      readonly restMs: number; onRest(ms: number): void;
    },
  ) {
    super(handlers);
    httpUrl(url, '');
    const begin = (): void => this.run(() => this.welcome());
    if (options.restMs > 0) this.cancelLater = options.runtime.after(options.restMs, begin);
    else begin();
  }

  send(bytes: Uint8Array): void {
    this.run(() => this.exchange(bytes));
  }

  private run(work: () => Promise<Uint8Array>): void {
    work().then(
      (frame) => { if (!this.isClosed) this.handlers.onMessage(frame); },
      (error: unknown) => this.end(reasonOf(error)),
    );
  }

  private async welcome(): Promise<Uint8Array> {
    const { study } = this.options;
    const welcome = isStudyId(study) ? await this.readOpen(study) : null;
    if (welcome !== null) return welcome;
    // A server without this study lists its studies in its Welcome.
    const answer = await postFrames(uploadUrl(this.url), '', null, this.aborter.signal);
    return framesOf(answer)[0]!;
  }

  private readOpen(study: string): Promise<Uint8Array | null> {
    return readOpen(this.url, study, this.aborter.signal).catch((error: unknown) => {
      if (error instanceof KeelsonError) this.options.onRefused(error);
      throw error;
    });
  }

  private async exchange(bytes: Uint8Array): Promise<Uint8Array> {
    const url = httpUrl(this.url, 'v1/once');
    const response = await fetch(url, {
      ...plainRequest, signal: this.aborter.signal, method: 'POST',
      headers: { 'Content-Type': 'application/x-protobuf' }, body: Uint8Array.from(bytes),
    });
    const body = new Uint8Array(await response.arrayBuffer());
    if (response.status === 200) return body;
    if (response.status === 404 || response.status === 405) {
      this.options.onRefused(new KeelsonError(
        'unsupported', `there is no ${url}: the server is older than this client, or the address `
          + 'is wrong; createContributor of the entry client needs no such path',
      ));
    }
    this.options.onRest(1000 * (Number(response.headers.get('Retry-After')) || 0));
    throw refusal(response.status, new TextDecoder().decode(body));
  }
}

/**
 * @returns a Welcome with this study alone, and without a nonce; null where the server does not
 *   have the study.
 * @throws KeelsonError('unsupported') where the server takes rows on encrypted channels alone;
 *   Error when no server answers.
 */
async function readOpen(
  url: string, study: string, signal?: AbortSignal,
): Promise<Uint8Array | null> {
  const path = httpUrl(url, `v1/studies/${study.toLowerCase()}/open`);
  const response = await fetch(path, { ...plainRequest, ...(signal !== undefined && { signal }) });
  if (response.status === 404) return null;
  if (response.status !== 200) throw refusal(response.status, await response.text());
  // An older server says nothing of channels.
  const { welcome, encryptedOnly = false } =
    await response.json() as { readonly welcome: string; readonly encryptedOnly?: boolean };
  if (encryptedOnly) {
    throw new KeelsonError(
      'unsupported', 'the server takes rows on encrypted channels alone: use createContributor',
    );
  }
  return fromBase64(welcome);
}

/**
 * The state of a study, by its id in hexadecimal. @returns null where the server does not have it.
 * @throws as `readOpen`.
 */
export async function readNotice(url: string, study: string): Promise<Notice | null> {
  const welcome = await readOpen(url, study);
  return welcome === null ? null : noticeIn(welcome, study);
}

/** The state of the one study of a Welcome. @param study - its id in hexadecimal. */
export function noticeIn(welcome: Uint8Array, study: string): Notice {
  const { state, epoch } = (decodeServerFrame(welcome) as Welcome).studies[0]!;
  return { kind: 'notice', studyId: fromHex(study), state, epoch, closesInMs: 0n };
}
