import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../server/base/clock.js';
import { periodAt } from '../../src/base/token-periods.js';
import { modulusOf } from '../../src/signing/index.js';
import type { Grant, Issuer, IssuerRecord } from './folder.js';
import { IssuerLimits, requestRate } from './limits.js';
import { signBlinded, type TokenKey } from './token-keys.js';

/** A TokenRequest of RFC 9578: type, last byte of the key's id, blinded message. */
const requestBytes = 2 + 1 + 256;
const directoryPath = '/.well-known/private-token-issuer-directory';
const requestPath = '/token-request';
const types = {
  directory: 'application/private-token-issuer-directory',
  request: 'application/private-token-request',
  response: 'application/private-token-response',
} as const;

/** Pages of any site may ask: a code is needed, and browsers send none by themselves. */
const anyOrigin = {
  'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Allow-Headers': 'authorization, content-type',
  'Access-Control-Expose-Headers': 'Retry-After', 'Cache-Control': 'no-store',
} as const;

/** An answer of the issuer. */
interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Uint8Array | string;
}

/** The address and the options of an issuer. */
export interface IssuerOptions {
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  /** Addresses or networks of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
}

/** A running issuer. */
export interface RunningIssuer {
  /** http://host:port */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Serves the two endpoints of RFC 9578: the directory and the requests. It logs no request. It
 * speaks plain HTTP: a reverse proxy in front of it adds TLS.
 */
export async function serveIssuer(
  issuer: Issuer, record: IssuerRecord, { host, port, clock, trustedProxies }: IssuerOptions,
): Promise<RunningIssuer> {
  const limits = new IssuerLimits(clock, trustedProxies);
  const issuing = new Issuing(issuer, record, () => clock.nowMs());
  const server = createServer({
    headersTimeout: 10_000, requestTimeout: 10_000, keepAliveTimeout: 5_000,
    maxHeaderSize: 8_192,
  }, (request, response) => {
    if (!limits.take(request)) return send(response, tooMany);
    void issuing.answer(request).catch(() => undefined).then((answer) => send(response, answer));
  });
  limits.bound(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { address, family, port: bound } = server.address() as AddressInfo;
  return {
    address: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    close: () => closed(server),
  };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

/** @param answer undefined when there was a fault of this program, or the sender went away. */
function send(response: ServerResponse, answer: Answer | undefined): void {
  const { status, type, body } =
    answer ?? refused(500, 'internal', 'the issuer failed to do this: try again later');
  if (status === 429) {
    response.setHeader('Retry-After', '1');
    // The body of the request is not read.
    response.setHeader('Connection', 'close');
  }
  response.writeHead(status, { ...anyOrigin, 'Content-Type': type });
  response.end(body);
}

function refused(status: number, code: string, text: string): Answer {
  return { status, type: 'application/json', body: JSON.stringify({ error: { code, text } }) };
}

const tooMany = refused(429, 'rate-limited', 'an address may make '
  + `${requestRate.perSecond} requests a second: wait for the seconds in Retry-After`);

class Issuing {
  constructor(
    private readonly issuer: Issuer, private readonly record: IssuerRecord,
    private readonly nowMs: () => number,
  ) {}

  async answer(request: IncomingMessage): Promise<Answer> {
    const path = (request.url ?? '/').split('?')[0];
    if (request.method === 'OPTIONS') return { status: 204, type: 'text/plain', body: '' };
    if (path === directoryPath && request.method === 'GET') return this.#directory();
    if (path !== requestPath) {
      return refused(
        404, 'not-found', `there is nothing here: the directory is at ${directoryPath}`,
      );
    }
    if (request.method !== 'POST') return refused(405, 'method', 'a token is asked for by POST');
    if (request.headers['content-type'] !== types.request) {
      return refused(415, 'type', `a request has the content type ${types.request}`);
    }
    return this.#issue(request.headers.authorization ?? '', await bodyOf(request));
  }

  /** The key in force, and the next one. */
  #directory(): Answer {
    const { issuer } = this;
    const index = this.#index();
    const shown = issuer.keys.slice(Math.max(0, index), index + 2);
    return {
      status: 200, type: types.directory, body: JSON.stringify({
        'issuer-request-uri': requestPath,
        'token-keys': shown.map(({ tokenKey }, i) => ({
          'token-type': 2, 'token-key': Buffer.from(tokenKey).toString('base64url'),
          'not-before': Math.floor(periodAt(issuer, Math.max(0, index) + i).fromMs / 1_000),
        })),
      }),
    };
  }

  #issue(authorization: string, body: Uint8Array | undefined): Answer {
    const period = this.#index();
    const key = this.issuer.keys[period];
    if (key === undefined || !this.record.begin(period)) {
      return refused(503, 'no-period', 'this issuer has no period now: ask its operator to check '
        + 'its clock, or to make keys for more periods');
    }
    const code = /^Bearer ([\w.~+/-]+=*)$/.exec(authorization)?.[1];
    if (code === undefined) {
      return refused(401, 'no-code', 'a request has a code: Authorization: Bearer CODE');
    }
    if (body === undefined || body[0] !== 0 || body[1] !== 2) {
      return refused(422, 'malformed', `a request has ${requestBytes} bytes and token type 2`);
    }
    if (body[2] !== Number.parseInt(key.id.slice(-2), 16)) {
      return refused(422, 'another-key', 'the request is for another key than the one in force: '
        + 'read the directory again');
    }
    const blinded = body.subarray(3);
    if (Buffer.compare(blinded, modulusOf(key.tokenKey)!) >= 0) {
      return refused(422, 'malformed', 'the blinded message is not below the modulus of the key');
    }
    return this.#sign(key, this.record.grant(period, code, blinded), blinded);
  }

  /** @param grant durable already: the signature leaves after it. */
  #sign(key: TokenKey, grant: Grant, blinded: Uint8Array): Answer {
    switch (grant) {
      case 'granted':
        return { status: 200, type: types.response, body: signBlinded(key.secret, blinded) };
      case 'unknown-code':
        return refused(401, 'unknown-code', 'the issuer knows no such code: check it, or ask the '
          + 'operator of the issuer for one');
      case 'given':
        return refused(409, 'given', 'the token of this code and period was given to another key, '
          + 'or for another study: use that key, or wait for the next period');
    }
  }

  #index(): number {
    return Math.floor((this.nowMs() - this.issuer.fromMs) / this.issuer.perMs);
  }
}

/** @returns undefined unless it has the length of a request. */
async function bodyOf(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const body = Buffer.alloc(requestBytes);
  let filled = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    if (filled + part.length > requestBytes) return undefined;
    filled += part.copy(body, filled);
  }
  return filled === requestBytes ? body : undefined;
}
