import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { limits as defaultLimits } from '../../src/base/limits.js';
import { createHttpHandler } from '../operator/http.js';
import { createServerMetrics, observeServer } from '../operator/server-metrics.js';
import { Audience } from './audience.js';
import { Connections } from './connections.js';
import type { ListenerContext } from './context.js';
import { eventFrame } from './event-frames.js';
import type { Listener, ListenerOptions } from './options.js';
import { AddressRates } from './rates.js';
import { Signal } from './signal.js';

export type { Listener, ListenerLimits, ListenerLogger, ListenerOptions } from './options.js';

/**
 * Opens the server's one port: WebSocket sessions (subprotocol keelson.v1) at /, HTTP beside them.
 * @throws the system's error (e.g. EADDRINUSE) when it cannot listen.
 */
export async function createListener(options: ListenerOptions): Promise<Listener> {
  const context = contextOf(options);
  const { hub, clock } = options;
  const rules = { allowedOrigins: options.allowedOrigins ?? [], allowedHosts: options.allowedHosts ?? [] };
  observeServer(context.metrics.registry, hub, options.storeHealth);
  const handler = createHttpHandler({
    hub,
    clock,
    logger: options.logger,
    limits: context.limits,
    metrics: context.metrics,
    storeHealth: options.storeHealth,
    operatorToken: options.operatorToken,
    allowedOrigins: rules.allowedOrigins,
    isStopping: () => context.stopping,
  });
  const server = createHttpServer(context);
  server.on('request', handler);
  const connections = new Connections(context, rules);
  server.on('upgrade', (request, raw, head) => connections.upgrade(request, raw, head));
  try {
    await listen(server, options);
  } catch (error) {
    connections.terminate();
    throw error;
  }
  const unfollow = context.audience.follow(
    hub,
    (event) => eventFrame(event, hub, clock.nowMs()),
    (error) => options.logger.error({ err: error }, 'an event could not be told'),
  );
  const { port } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    port,
    address: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    close: (graceful = true) => (closing ??= closeAll(context, server, connections, graceful).finally(unfollow)),
  };
}

function contextOf(options: ListenerOptions): ListenerContext {
  const limits = { ...defaultLimits, ...options.limits };
  return {
    hub: options.hub,
    clock: options.clock,
    logger: options.logger,
    limits,
    metrics: options.metrics ?? createServerMetrics(),
    audience: new Audience(),
    helloRates: new AddressRates(options.clock, limits.helloPerSecond, limits.helloBurst, limits.rateAddresses),
    settled: new Signal(options.clock),
    stopping: false,
  };
}

/** Bounds what a slow or silent HTTP client can hold. */
function createHttpServer(context: ListenerContext): Server {
  const { limits, logger } = context;
  const server = createServer({
    maxHeaderSize: limits.httpHeaderBytes,
    headersTimeout: limits.handshakeTimeoutMs,
    requestTimeout: limits.handshakeTimeoutMs,
    connectionsCheckingInterval: Math.ceil(limits.handshakeTimeoutMs / 2),
    keepAliveTimeout: 5_000,
  });
  // A reader that takes nothing for this long is cut. WebSockets leave this behind at their upgrade.
  server.timeout = limits.subscriberStallMs;
  // Above the sockets' own limit, so that one client too many is told so instead of being reset.
  server.maxConnections = limits.sockets + 1_000;
  server.on('clientError', (error: Error, raw) => {
    logger.debug({ reason: error.name }, 'a request could not be read');
    if (!raw.writable) return void raw.destroy();
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
  connections: Connections,
  graceful: boolean,
): Promise<void> {
  context.stopping = true;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const { closeTimeoutMs } = context.limits;
  if (graceful) {
    const { totals } = context.metrics;
    await context.settled.until(() => totals.queuedBatches === 0, closeTimeoutMs);
    connections.stop();
    server.closeIdleConnections();
    await context.settled.until(() => connections.size === 0, closeTimeoutMs);
  }
  connections.terminate();
  server.closeAllConnections();
  await closed;
}
