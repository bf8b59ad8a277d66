import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AddressRates } from '../network/rates.js';
import { hasOneHost, isOwnHost } from '../network/upgrade.js';
import { createOperatorCheck } from './auth.js';
import type { HttpOptions } from './exchange.js';
import { HttpError } from './http-error.js';
import { routes, type Route } from './routes.js';
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

/** The route of a path. @throws HttpError 404. */
function routeAt(path: string): Route {
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (route === undefined) {
    const known = Object.keys(routes).join(', ');
    throw new HttpError(404, 'not-found', `no such resource: there are ${known}`);
  }
  return route;
}

/** @throws HttpError 401, with the header that names what is missing. */
function demandToken(response: ServerResponse): never {
  response.setHeader('WWW-Authenticate', 'Bearer realm="keelson"');
  throw new HttpError(
    401, 'unauthorized', 'send the operator token: Authorization: Bearer TOKEN',
  );
}

/** Answers with the error; what is no HttpError is logged, and answered without details. */
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
  const { clock, limits, logger } = options;
  const isOperator = createOperatorCheck(options.operatorToken);
  const sessions = createOperatorSessions(clock);
  const rates =
    new AddressRates(clock, limits.httpPerSecond, limits.httpBurst, limits.rateAddresses);
  const unanswered = new WeakMap<Socket, number>();
  /** Connections whose last answer is being sent. */
  const closing = new WeakSet<Socket>();

  /** The checks before the path is read. @throws HttpError: then the connection is closed. */
  const admit = (request: IncomingMessage, response: ServerResponse): void => {
    for (const [name, value] of Object.entries(headersOfAll)) response.setHeader(name, value);
    allowOrigin(request, response, options.allowedOrigins);
    refuseBody(request);
    if (!hasOneHost(request)) {
      throw new HttpError(
        400, 'bad-request', 'a request has one Host header: leave out the others',
      );
    }
    if (unanswered.get(request.socket)! > limits.httpPipelined) {
      throw new HttpError(
        429, 'rate-limited',
        `more than ${limits.httpPipelined} requests at once on a connection: wait for the answers`,
      );
    }
    if (!rates.take(options.clientAddress(request))) {
      throw new HttpError(
        429, 'rate-limited', `more than ${limits.httpPerSecond} requests per second: slow down`,
      );
    }
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = urlOf(request);
    const route = routeAt(url.pathname);
    checkMethod(route, request, response);
    const withToken = isOperator(request);
    if (!withToken) checkHost(route, request, options.allowedHosts);
    const operator = withToken || sessions.holds(request);
    if (route.access === 'operator' && !operator) demandToken(response);
    await route.answer({
      ...options, request, response, sessions, query: url.searchParams, operator, withToken,
      isHead: request.method === 'HEAD',
    });
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
      closing.add(socket);
      response.setHeader('Connection', 'close');
      return failWith(logger, request, response, error);
    }
    answer(request, response).catch((error: unknown) => failWith(logger, request, response, error));
  };
}

/**
 * Pages of other sites can make a browser send a POST. So routes that change something accept only
 * this server's pages.
 */
function checkMethod(route: Route, request: IncomingMessage, response: ServerResponse): void {
  const allowed = route.changes === true ? ['POST'] : ['GET', 'HEAD'];
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

/** No route reads a body. An announced body is refused without waiting for it. */
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
  // An incomplete answer is cut, so that no reader takes it for a complete one.
  if (response.headersSent) return void response.destroy();
  response.statusCode = error.status;
  if (error.status === 429) response.setHeader('Retry-After', '1');
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.end(`${JSON.stringify({ error: { code: error.code, text: error.message } })}\n`);
}
