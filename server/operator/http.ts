import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AddressRates } from '../network/rates.js';
import { hasOneHost, isOwnHost } from '../network/upgrade.js';
import { createOperatorCheck } from './auth.js';
import type { HttpOptions } from './exchange.js';
import { HttpError } from './http-error.js';
import { OutcomeHistory } from './outcome-history.js';
import { routeOf, routes, type Route } from './routes.js';
import { createOperatorSessions, isFromOwnPage } from './sessions.js';

/** Headers of every answer: answers are data, not pages, and must not be cached. */
const headersOfAll = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The route of a URL. A study that its path names is put into the query. @throws HttpError 404. */
function routeAt(url: URL): Route {
  const found = routeOf(url.pathname);
  if (found === undefined) {
    const known = Object.keys(routes).join(', ');
    throw new HttpError(404, 'not-found',
      `no such resource: there are ${known}, `
        + '/v1/studies/STUDY/releases, /v1/studies/STUDY/notes, /v1/studies/ID/open');
  }
  if (found.study !== undefined) url.searchParams.set('study', decoded(found.study));
  return found.route;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new HttpError(400, 'bad-request', 'the path of the request cannot be read');
  }
}

/** @throws HttpError 401, with the header that names the missing credential. */
function demandToken(response: ServerResponse): never {
  response.setHeader('WWW-Authenticate', 'Bearer realm="keelson"');
  throw new HttpError(
    401, 'unauthorized', 'send the operator token: Authorization: Bearer TOKEN',
  );
}

/**
 * Answers with the error. An error that is no HttpError is logged, and answered without details.
 */
function failWith(
  logger: HttpOptions['logger'], request: IncomingMessage, response: ServerResponse,
  error: unknown,
): void {
  if (error instanceof HttpError) return fail(response, error);
  logger.error({ err: error, path: request.url?.split('?')[0] }, 'a request failed');
  fail(response, new HttpError(500, 'internal', 'the server failed: try again'));
}

/** Answers plain HTTP requests. Never throws; a route that fails gives a 500 without details. */
export function createHttpHandler(options: HttpOptions): Handler {
  const { hub, clock, limits, logger } = options;
  const isOperator = createOperatorCheck(options.operatorToken);
  const kept = { sessions: createOperatorSessions(clock), outcomes: new OutcomeHistory(hub) };
  const rates =
    new AddressRates(clock, limits.httpPerSecond, limits.httpBurst, limits.rateAddresses);
  const unanswered = new WeakMap<Socket, number>();
  /** Connections whose last answer is being sent. */
  const closing = new WeakSet<Socket>();

  /** The checks before the path is read. @throws HttpError: then the connection is closed. */
  const admit = (request: IncomingMessage, response: ServerResponse): void => {
    for (const [name, value] of Object.entries(headersOfAll)) response.setHeader(name, value);
    allowOrigin(request, response, options.allowedOrigins);
    const takesBody = takesBodyAt(request);
    if (!takesBody) refuseBody(request);
    if (!hasOneHost(request)) {
      throw new HttpError(400, 'bad-request', 'a request has one Host header: send one');
    }
    if (unanswered.get(request.socket)! > limits.httpPipelined) {
      throw new HttpError(
        429, 'rate-limited',
        `more than ${limits.httpPipelined} requests at once on a connection: wait for the answers`,
      );
    }
    if (!takesBody && !rates.take(options.clientAddress(request))) {
      throw new HttpError(
        429, 'rate-limited', `more than ${limits.httpPerSecond} requests per second: slow down`,
      );
    }
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = urlOf(request);
    const route = routeAt(url);
    if (answersPreflight(route, request, response)) return;
    checkMethod(route, request, response);
    const withToken = isOperator(request);
    if (!withToken) checkHost(route, request, options.allowedHosts);
    const operator = withToken || kept.sessions.holds(request);
    if (route.access === 'operator' && !operator) demandToken(response);
    await route.answer({
      ...options, ...kept, request, response, query: url.searchParams, operator, withToken,
      isHead: request.method === 'HEAD',
    });
  };

  const endWith = (request: IncomingMessage, response: ServerResponse, error: unknown): void => {
    closing.add(request.socket);
    closeAfter(response);
    failWith(logger, request, response, error);
  };

  return (request, response) => {
    const { socket } = request;
    // Requests behind the one that closes the connection are read, but not answered.
    if (closing.has(socket)) return;
    unanswered.set(socket, (unanswered.get(socket) ?? 0) + 1);
    response.on('close', () => unanswered.set(socket, unanswered.get(socket)! - 1));
    response.on('error', () => response.destroy());
    try {
      // Synchronous: a thousand requests may have been read from the connection together.
      admit(request, response);
    } catch (error) {
      return endWith(request, response, error);
    }
    answer(request, response).catch((error: unknown) => (takesBodyAt(request)
      ? endWith(request, response, error) : failWith(logger, request, response, error)));
  };
}

/**
 * Pages of other sites can make a browser send a POST. So routes that change something accept only
 * this server's pages.
 */
function checkMethod(route: Route, request: IncomingMessage, response: ServerResponse): void {
  const allowed = route.changes === true || route.takesBody === true ? ['POST'] : ['GET', 'HEAD'];
  if (!allowed.includes(request.method ?? '')) {
    response.setHeader('Allow', allowed.join(', '));
    throw new HttpError(405, 'method-not-allowed', `use ${allowed[0]}`);
  }
  if (route.changes === true && !isFromOwnPage(request)) {
    throw new HttpError(
      403, 'not-own-page', 'only pages of this server may ask for this: open /operator',
    );
  }
}

/**
 * A stranger can point a name at this server (DNS rebinding). The server then looks like part of
 * the stranger's site, so that site's pages could read everything public on a network that they
 * cannot reach. A request with the token is allowed.
 */
function checkHost(
  route: Route, { headers: { host } }: IncomingMessage, allowedHosts: readonly string[],
): void {
  if (route.anyHost === true || host === undefined || isOwnHost(host, { allowedHosts })) return;
  throw new HttpError(403, 'unknown-host', 'the server does not answer under this host name: list '
    + 'it with --allow-host');
}

function urlOf(request: IncomingMessage): URL {
  try {
    return new URL(request.url ?? '/', 'http://localhost');
  } catch {
    throw new HttpError(400, 'bad-request', 'the path of the request cannot be read');
  }
}

/** The rest of a body, and any requests behind it, are not read. */
function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

function takesBodyAt({ url = '/' }: IncomingMessage): boolean {
  const path = url.split('?')[0]!;
  return Object.hasOwn(routes, path) && routes[path]!.takesBody === true;
}

/**
 * Browsers ask first whether a page of another origin may send a body. @returns whether this was
 * such a question.
 */
function answersPreflight(
  route: Route, request: IncomingMessage, response: ServerResponse,
): boolean {
  const { method, headers: { origin } } = request;
  if (route.takesBody !== true || method !== 'OPTIONS' || origin === undefined) return false;
  response.setHeader('Access-Control-Allow-Methods', 'POST');
  response.setHeader('Access-Control-Allow-Headers', 'Content-Type, Keelson-Nonce');
  response.setHeader('Access-Control-Max-Age', '600');
  response.statusCode = 204;
  response.end();
  return true;
}

/** No other route reads a body. An announced body is refused without waiting for it. */
function refuseBody(request: IncomingMessage): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding === undefined && (length === undefined || length === '0')) return;
  throw new HttpError(413, 'body-not-allowed', 'requests have no body here');
}

function allowOrigin(
  request: IncomingMessage, response: ServerResponse, allowed: readonly string[],
): void {
  const { origin } = request.headers;
  if (origin === undefined || !allowed.includes(origin)) return;
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  response.setHeader('Vary', 'Origin');
}

function fail(response: ServerResponse, error: HttpError): void {
  // An incomplete answer is cut, so that no reader mistakes it for a complete one.
  if (response.headersSent) return void response.destroy();
  response.statusCode = error.status;
  if (error.status === 429 || error.status === 503) response.setHeader('Retry-After', '1');
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(`${JSON.stringify({ error: { code: error.code, text: error.message } })}\n`);
}
