import { STATUS_CODES, type IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { subprotocol, subprotocols } from '../../src/wire/index.js';

/** The refusal of an upgrade: an HTTP status, and a text with the remedy. */
export interface UpgradeRefusal {
  readonly status: 400 | 401 | 403 | 404 | 429 | 503;
  readonly text: string;
}

/**
 * Answers and closes. Without the close, the HTTP socket stays half open as long as the client
 * likes.
 */
export function refuseUpgrade(
  raw: Duplex, refusal: UpgradeRefusal, headers: Readonly<Record<string, string>> = {},
): void {
  raw.once('finish', () => raw.destroy());
  const body = `${JSON.stringify({ error: { code: 'upgrade-refused', text: refusal.text } })}\n`;
  raw.end([
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    body,
  ].join('\r\n'));
}

export interface BrowserRules {
  readonly allowedOrigins: readonly string[];
  readonly allowedHosts: readonly string[];
}

/** @returns undefined when the request may become a WebSocket, otherwise the refusal. */
export function judgeUpgrade(
  request: IncomingMessage, rules: BrowserRules,
): UpgradeRefusal | undefined {
  if (!hasOneHost(request)) {
    return { status: 400, text: 'a request has one Host header: leave out the others' };
  }
  const path = (request.url ?? '/').split('?')[0];
  if (path !== '/') {
    return { status: 404, text: 'WebSocket connections are taken at the path / only' };
  }
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',')
    .map((name) => name.trim());
  if (!subprotocols.some((name) => offered.includes(name))) {
    return { status: 400, text: `name the subprotocol ${subprotocol} in Sec-WebSocket-Protocol` };
  }
  return judgeBrowser(request, rules);
}

/**
 * A page of another site can make a visitor's browser connect to servers that only the visitor can
 * reach. Browsers send the origin of the page. So the page must come from this server or from a
 * listed origin. Also, the request must name the server by a name that no stranger can point at it
 * (DNS rebinding): an IP address, localhost, or a listed name. Other clients send no Origin.
 */
export function judgeBrowser(
  request: IncomingMessage, rules: BrowserRules,
): UpgradeRefusal | undefined {
  const { origin, host } = request.headers;
  if (origin === undefined) return undefined;
  if (!isOwnHost(host ?? '', rules)) {
    return {
      status: 403,
      text: 'the server does not answer browsers under this host name: list it in allowedHosts',
    };
  }
  if (rules.allowedOrigins.includes(origin)) return undefined;
  if (/^https?:\/\//.test(origin) && origin.replace(/^https?:\/\//, '') === host) return undefined;
  return {
    status: 403, text: 'pages of another origin may not connect: list the origin in allowedOrigins',
  };
}

/**
 * A proxy may read the last of several Host headers while this server reads the first. HTTP/1.0 may
 * have none.
 */
export function hasOneHost(request: IncomingMessage): boolean {
  return (request.headersDistinct['host']?.length ?? 0) <= 1;
}

/**
 * True if the name in a Host header is one that no stranger can point at this server: an IP
 * address, localhost, or a listed name. @param host as sent, with or without a port.
 */
export function isOwnHost(host: string, rules: Pick<BrowserRules, 'allowedHosts'>): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  const address = name.replace(/^\[(.*)\]$/, '$1');
  const isLocal = name === 'localhost' || name.endsWith('.localhost');
  return isLocal || isIP(address) !== 0 || rules.allowedHosts.includes(name);
}
