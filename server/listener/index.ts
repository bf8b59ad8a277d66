import { createServer, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { InvalidInputError } from '../../src/base/errors.js';
import { protocolLimits as defaultLimits } from '../../src/base/limits.js';
import { createHttpHandler } from '../operator/http.js';
import { watchProcess } from '../base/process-figures.js';
import { observeServer } from '../metrics/observe-server.js';
import { FigureHistory } from '../metrics/figure-history.js';
import { recordsInMemory } from '../base/operator-records.js';
import { boundArrivals } from './arrivals.js';
import { checkedIdentity } from './before-listening.js';
import { Connections } from './connections.js';
import type { ListenerContext } from './context.js';
import { descriptorLimit, withinDescriptors } from './descriptors.js';
import { UnfinishedMessages } from './unfinished.js';
import { OnceRequests, welcomeOfOnce } from './once.js';
import type { BodyRequests } from './request-body.js';
import { Uploads } from './uploads.js';
import { EventStreams } from './event-streams.js';
import { contextOf, followHub } from './new-context.js';
import type { Listener, ListenerLimits, ListenerOptions, TlsIdentity } from '../network/options.js';

export type {
  Listener, ListenerLimits, ListenerOptions, NetworkOptions, TlsIdentity,
} from '../network/options.js';

/**
 * Opens the server's one port: WebSocket sessions (subprotocols keelson.v1 and keelson.v2) at /,
 * HTTP beside them.
 * @throws the system's error (e.g. EADDRINUSE) when it cannot listen.
 */
export async function createListener(options: ListenerOptions): Promise<Listener> {
  const descriptors = options.descriptors ?? descriptorLimit();
  const context = contextOf({ ...options, limits: attainableLimits(options, descriptors) });
  const { hub, clock } = options;
  const { allowedOrigins = [], allowedHosts = [] } = options;
  const rules = { allowedOrigins, allowedHosts };
  const { figures, watched } = watchFigures(context, options, descriptors);
  const unfinished = new UnfinishedMessages(context);
  const stop = (): void => [unfinished, context.shares, watched].forEach((part) => part.stop());
  const streams = new EventStreams(context);
  const uploads = new Uploads(context, rules, unfinished);
  const once = new OnceRequests(context, rules, unfinished);
  const connections = new Connections(context, rules, unfinished);
  const open = { connections, streams, requests: [uploads, once] };
  const handler = createHttpHandler({
    hub, clock, logger: options.logger,
    limits: context.limits,
    logReads: context.logReads,
    metrics: context.metrics,
    storeHealth: options.storeHealth,
    figures,
    notes: options.notes ?? recordsInMemory().notes,
    operatorToken: options.operatorToken,
    ...rules,
    frameAncestors: options.frameAncestors ?? [],
    clientAddress: context.clientAddress,
    isStopping: () => context.stopping,
    takesBatches: context.takesBatches,
    encryptedOnly: context.encryptedOnly,
    events: (...begun) => streams.begin(...begun),
    upload: (request, response) => uploads.answer(request, response),
    once: (request, response) => once.answer(request, response),
    welcome: (view) => welcomeOfOnce(context, view),
  });
  const server = createHttpServer(context, options.tls);
  server.on('request', handler);
  // Otherwise node itself would answer these, without the rate limit and without closing the
  // connection.
  server.on('checkExpectation', handler);
  server.on('upgrade', (...upgrade) => {
    if (options.takePeer?.(...upgrade) !== true) open.connections.upgrade(...upgrade);
  });
  try {
    await listen(server, options);
  } catch (error) {
    stop();
    open.connections.terminate();
    throw error;
  }
  const unfollow = followHub(context);
  const { port } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    port,
    address: `http${options.tls === undefined ? '' : 's'}://`
      + `${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    renewTls: (identity) => {
      if (!(server instanceof TlsServer)) {
        throw new InvalidInputError('the server speaks no TLS: start it with a key');
      }
      const { certificate: cert, key } = identity;
      checkedIdentity(() => server.setSecureContext({ cert, key }));
    },
    close: (graceful = true) =>
      (closing ??= closeAll(context, server, open, graceful).finally(() => {
        unfollow();
        stop();
      })),
  };
}

/** Reads what the server does, for its operator. */
function watchFigures(
  { metrics, checks, clock }: ListenerContext, { hub, storeHealth }: ListenerOptions,
  descriptors: number | undefined,
): { readonly figures: FigureHistory; readonly watched: { stop(): void } } {
  const process = watchProcess();
  const unobserve = observeServer(metrics.registry, {
    hub, clock, storeHealth, process, descriptors, checkThreads: checks.threads,
  });
  const figures = new FigureHistory(clock, metrics, storeHealth);
  return {
    figures,
    watched: {
      stop() {
        process.stop();
        unobserve();
        figures.stop();
      },
    },
  };
}

/** Lowers the limits to what the process's descriptors allow, and logs when that changes them. */
function attainableLimits(
  { limits, logger }: ListenerOptions, descriptors: number | undefined,
): ListenerLimits {
  const wanted = { ...defaultLimits, ...limits };
  const attainable = withinDescriptors(wanted, descriptors);
  const { sockets, socketsPerAddress } = attainable;
  if (sockets < wanted.sockets) {
    logger.warn(
      { sockets, socketsPerAddress },
      'the limit on open files (LimitNOFILE, ulimit -n) lowers the limit on connections',
    );
  }
  return attainable;
}

/** Bounds what a slow or silent HTTP client can hold. */
function createHttpServer(context: ListenerContext, tls: TlsIdentity | undefined): Server {
  const { limits, logger } = context;
  const settings: ServerOptions = {
    maxHeaderSize: limits.httpHeaderBytes,
    headersTimeout: limits.handshakeTimeoutMs,
    // The only requests with a body are those with batches. They have a limit of their own.
    requestTimeout: limits.uploadTimeoutMs + limits.handshakeTimeoutMs,
    connectionsCheckingInterval: Math.ceil(limits.handshakeTimeoutMs / 2),
    keepAliveTimeout: 5_000,
  };
  const server = tls
    === undefined ? createServer(settings) : checkedIdentity(() => createTlsServer({
    ...settings, cert: tls.certificate, key: tls.key, minVersion: 'TLSv1.2',
    handshakeTimeout: limits.handshakeTimeoutMs,
  }));
  // By default node drops headers past the thousandth without notice, and a proxy writes its own
  // last. So all headers are read, within the byte limit above.
  server.maxHeadersCount = 0;
  // A reader that reads nothing for this long is cut off. The limit ends for WebSockets at their
  // upgrade.
  server.timeout = limits.subscriberStallMs;
  boundArrivals(server, context);
  // A handshake failed or took too long. An answer would wait for the handshake's end, which may
  // never come.
  server.on('tlsClientError', (_error: Error, raw: TLSSocket) => raw.destroy());
  server.on('clientError', (error: NodeJS.ErrnoException, raw) => {
    logger.debug({ reason: error.name }, 'a request could not be read');
    // The bytes may be no HTTP at all, for example repeated TLS renegotiation. An answer could then
    // wait without end.
    const isHttp = /^(HPE_|ERR_HTTP_)/.test(error.code ?? '');
    if (!raw.writable || !isHttp) return void raw.destroy();
    raw.once('finish', () => raw.destroy());
    raw.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
  });
  return server;
}

function listen(server: Server, options: ListenerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      server.on('error', (error) => options.logger.error({ err: error }, 'the HTTP server failed'));
      resolve();
    });
  });
}

async function closeAll(
  context: ListenerContext,
  server: Server,
  { connections, streams, requests }: {
    connections: Connections; streams: EventStreams; requests: readonly BodyRequests[];
  },
  graceful: boolean,
): Promise<void> {
  context.stopping = true;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const { closeTimeoutMs } = context.limits;
  if (graceful) {
    const { totals } = context.metrics;
    await context.settled
      .until(
      () => totals.queuedBatches === 0 && requests.every(({ size }) => size === 0), closeTimeoutMs);
    connections.stop();
    streams.stop();
    server.closeIdleConnections();
    await context.settled.until(() => connections.size === 0, closeTimeoutMs);
  }
  connections.terminate();
  server.closeAllConnections();
  await closed;
}
