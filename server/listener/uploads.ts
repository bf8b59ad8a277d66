import type { IncomingMessage, ServerResponse } from 'node:http';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { encodeServerFrame, joinFrames } from '../../src/wire/index.js';
import { SingleUseNonces } from '../base/single-use-nonces.js';
import { HttpError } from '../operator/http-error.js';
import {
  BodyParts, BodyRequests, checkBodyRequest, contentType, readInTime,
} from './request-body.js';
import { welcomeOf } from './server-frames.js';
import { Upload } from './upload.js';

const nonceHeader = 'Keelson-Nonce';

/**
 * Contributions over HTTP, for senders behind a proxy that refuses WebSockets: POST /v1/batches. A
 * request without a body gets Welcome and a nonce. A request with a nonce and frames gets the
 * answers to these frames, and the next nonce. docs/reference/protocol.md, section 9, has the proof
 * that a request which is sent twice counts once and shows nothing.
 */
export class Uploads extends BodyRequests {
  readonly #nonces =
    new SingleUseNonces(this.context.clock, this.context.limits.uploadNonceMs);

  protected async reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    checkBodyRequest(this.context, this.rules, request, this.context.limits.uploadBytes);
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
    const frames = await readInTime(this.context, this.unfinished, {
      request, parts, held: upload, read: () => upload.answer(),
    });
    if (upload.struckOut || !request.complete) response.setHeader('Connection', 'close');
    this.#send(response, this.#nonces.issue(), frames);
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

  #send(response: ServerResponse, nonce: Uint8Array, frames: readonly Uint8Array[]): void {
    response.setHeader('Content-Type', contentType);
    response.setHeader(nonceHeader, toHex(nonce));
    response.end(joinFrames(frames));
  }
}

function nonceIn(text: string): Uint8Array {
  if (/^[0-9a-f]{64}$/i.test(text)) return fromHex(text);
  throw new HttpError(400, 'bad-request', `${nonceHeader} has 64 hexadecimal digits`);
}
