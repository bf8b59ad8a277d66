import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * What the proxy does with an upgrade; `hang`: it never answers; `strip`: as `pass`, without the
 * subprotocols.
 */
export type UpgradeManners = 'refuse' | 'cut' | 'hang' | 'pass' | 'strip';

/** A proxy that knows no WebSockets. */
export interface RefusingProxy {
  /** `ws://host:port`, as a client writes it. */
  readonly url: string;
  readonly port: number;
  manners: UpgradeManners;
  /** So many of the next answers are lost on the way back. */
  losesAnswers: number;
  /** Upgrades that came, and requests that were passed on. */
  readonly seen: { upgrades: number; requests: number };
  /** Cuts all connections of clients, with what is on its way. */
  cut(): void;
  close(): Promise<void>;
}

/**
 * Passes HTTP requests on to a server, over connections that are kept, as proxies of companies do.
 * A server that is not there gives 502.
 */
export async function startRefusingProxy(
  port: number, manners: UpgradeManners = 'refuse',
): Promise<RefusingProxy> {
  const agent = new Agent({ keepAlive: true });
  const seen = { upgrades: 0, requests: 0 };
  const upgraded = new Set<Duplex>();
  const server = createServer((asked, answer) => {
    seen.requests += 1;
    const onward = request({
      agent, host: '127.0.0.1', port, path: asked.url, method: asked.method,
      headers: asked.headers,
    }, (came) => {
      if (proxy.losesAnswers > 0) {
        proxy.losesAnswers -= 1;
        came.resume();
        return void answer.destroy();
      }
      answer.writeHead(came.statusCode ?? 502, came.headers);
      came.on('error', () => answer.destroy());
      answer.on('close', () => onward.destroy());
      came.pipe(answer);
    });
    onward.on('error', () => {
      if (answer.headersSent) return void answer.destroy();
      answer.writeHead(502).end();
    });
    asked.on('error', () => onward.destroy());
    asked.pipe(onward);
  });
  server.on('upgrade', (asked, socket, head) => {
    seen.upgrades += 1;
    upgraded.add(socket);
    socket.on('close', () => upgraded.delete(socket));
    socket.on('error', () => socket.destroy());
    if (proxy.manners === 'refuse') {
      socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
    } else if (proxy.manners === 'cut') socket.destroy();
    else if (proxy.manners === 'pass' || proxy.manners === 'strip') {
      const headers = { ...asked.headers };
      if (proxy.manners === 'strip') delete headers['sec-websocket-protocol'];
      const onward = request({
        host: '127.0.0.1', port, path: asked.url, headers, agent: false,
      });
      onward.on('response', (came) => {
        came.resume();
        socket.end(`HTTP/1.1 ${came.statusCode} Refused\r\nConnection: close\r\n\r\n`);
      });
      onward.on('error', () => socket.destroy());
      onward.on('upgrade', (came, inner, first) => {
        const lines = came.rawHeaders.reduce<string[]>((found, text, i) =>
          (i % 2 === 0 ? [...found, `${text}: ${came.rawHeaders[i + 1]}`] : found), []);
        socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
        socket.write(first);
        inner.write(head);
        inner.on('error', () => socket.destroy());
        inner.on('close', () => socket.destroy());
        socket.on('close', () => inner.destroy());
        inner.pipe(socket);
        socket.pipe(inner);
      });
      onward.end();
    }
  });
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const { port: own } = server.address() as AddressInfo;
  const proxy: RefusingProxy = {
    url: `ws://127.0.0.1:${own}`, port: own, manners, losesAnswers: 0, seen,
    cut: () => server.closeAllConnections(),
    async close() {
      agent.destroy();
      const closed = new Promise<void>((resolve) => { server.close(() => resolve()); });
      server.closeAllConnections();
      for (const socket of upgraded) socket.destroy();
      await closed;
    },
  };
  return proxy;
}
