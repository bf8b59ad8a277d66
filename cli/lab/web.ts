import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import { KeelsonError } from '../../src/base/errors.js';
import { toJson } from '../base/output.js';
import { paces, type LabConfig, type LabSession, type LabNews, type Pace } from './session.js';
import type { Setting } from './setting.js';
import { labPeople } from './studies.js';

/** A file of the page, in the form in which it is sent. */
export interface PageFile {
  readonly type: string;
  readonly body: Uint8Array;
}

export interface LabWeb {
  readonly port: number;
  /** `http://host:port/lab`. */
  readonly address: string;
  close(): Promise<void>;
}

const bodyBytesMax = 4096;

/**
 * Allows only this page with its own files and events: nothing inline, nothing from other sites.
 */
const headers = {
  'Content-Security-Policy': "default-src 'none'; script-src 'self'; style-src 'self'; img-src "
    + "'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/**
 * The lab's own small server, for this machine only. It serves the page, server-sent events, and
 * three commands from the page. The private answers in the events come from a subscriber that
 * verified them.
 * @param files of the page by path, such as `/lab`.
 */
export async function serveLab(
  session: LabSession, files: ReadonlyMap<string, PageFile>, host: string, port: number,
): Promise<LabWeb> {
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.on('error', () => response.destroy());
    answer(session, files, request, response).catch((error: unknown) => {
      const known = error instanceof KeelsonError;
      send(response, known
        ? 400 : 500, { error: known ? error.message : 'the laboratory failed at this' });
    });
  });
  await listen(server, host, port);
  const { port: taken } = server.address() as AddressInfo;
  return {
    port: taken,
    address: `http://${host}:${taken}/lab`,
    close: () => new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function answer(
  session: LabSession, files: ReadonlyMap<string, PageFile>, request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '/').split('?')[0]!;
  if (!isOwn(request)) {
    return send(response, 403, { error: 'the laboratory answers its own page only' });
  }
  if (request.method === 'GET' || request.method === 'HEAD') {
    const file = files.get(path === '/' ? '/lab' : path);
    if (file !== undefined) return sendFile(response, file);
    if (path === '/favicon.ico') return void response.writeHead(204).end();
    if (path === '/lab/events') return follow(session, response);
    if (path === '/lab/programme') return send(response, 200, session.programme());
  }
  if (request.method === 'POST' && path === '/lab/setting') {
    session.set((await bodyOf(request)) as Setting);
    return send(response, 200, session.state);
  }
  if (request.method === 'POST' && path === '/lab/scene') {
    session.show(configOf(await bodyOf(request)));
    return send(response, 200, session.state);
  }
  if (request.method === 'POST' && path === '/lab/pace') {
    await session.pace(paceOf(await bodyOf(request)));
    return send(response, 200, session.state);
  }
  send(response, 404, { error: 'there is nothing here: the page is at /lab' });
}

/**
 * The page of another site can make a browser send requests here; the browser then names that
 * origin. A foreign host name that points here (DNS rebinding) is not this machine's name.
 */
function isOwn({ headers: { origin, host = '' } }: IncomingMessage): boolean {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (name !== 'localhost' && isIP(name) === 0) return false;
  return origin === undefined || origin === `http://${host}`;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > bodyBytesMax) {
      throw new KeelsonError('invalid-input', `an order has at most ${bodyBytesMax} bytes`);
    }
    parts.push(part);
  }
  try {
    const order: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'));
    if (typeof order === 'object' && order !== null) return order;
  } catch {
    // The answer below covers this case.
  }
  throw new KeelsonError('invalid-input', 'an order is a JSON object');
}

function configOf(order: unknown): LabConfig {
  const { data, estimators: names, contributors, epsilon } =
    order as Readonly<Record<string, unknown>>;
  const isList = Array.isArray(names) && names.length > 0 && names.length <= 8
    && names.every((name) => typeof name === 'string') && new Set(names).size === names.length;
  if (typeof data !== 'string' || !isList) {
    throw new KeelsonError(
      'invalid-input', 'a scene names its data and one to eight different estimators',
    );
  }
  if (!isWithin(contributors, labPeople) || !Number.isInteger(contributors)) {
    throw new KeelsonError('invalid-input', `a scene has ${labPeople.atLeast} to `
      + `${labPeople.atMost} people`);
  }
  if (!isWithin(epsilon, epsilonRange)) {
    throw new KeelsonError('invalid-input', `epsilon is a number from ${epsilonRange.atLeast} to `
      + `${epsilonRange.atMost}`);
  }
  return { data, estimators: names, contributors, epsilon };
}

/** The range of epsilon in the page's orders. */
const epsilonRange = { atLeast: 0.01, atMost: 20 } as const;

function isWithin(
  value: unknown, { atLeast, atMost }: { readonly atLeast: number; readonly atMost: number },
): value is number {
  return typeof value === 'number' && value >= atLeast && value <= atMost;
}

function paceOf(order: unknown): Pace {
  const { pace } = order as Readonly<Record<string, unknown>>;
  const found = paces.find((each) => each === pace);
  if (found !== undefined) return found;
  throw new KeelsonError('invalid-input', `a pace is one of ${paces.join(', ')}`);
}

/** Sends all events so far, then each new one. */
function follow(session: LabSession, response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
  const tell = (news: LabNews): void => {
    const { kind, ...rest } = news;
    response.write(`event: ${kind}\ndata: ${toJson(rest)}\n\n`);
  };
  tell({ kind: 'state', state: session.state });
  for (const round of session.rounds) tell({ kind: 'round', round });
  response.on('close', session.listen(tell));
}

function sendFile(response: ServerResponse, { type, body }: PageFile): void {
  response.writeHead(200, { 'Content-Type': type });
  response.end(body);
}

function send(response: ServerResponse, status: number, document: unknown): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(`${toJson(document)}\n`);
}
