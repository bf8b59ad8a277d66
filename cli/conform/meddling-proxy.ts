import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

/** Which way a message goes: `up` from the contributor to the server. */
export type Way = 'up' | 'down';

/** The messages that are sent on in place of one: none, itself, another, or several. */
export type Meddle = (way: Way, message: Uint8Array) => readonly Uint8Array[];

/**
 * A proxy that reads and writes what goes over WebSockets, as one does that ends TLS. It keeps all
 * messages of both ways.
 */
export class MeddlingProxy {
  readonly seen: { readonly way: Way; readonly message: Uint8Array }[] = [];
  meddle: Meddle = (_way, message) => [message];
  /** Subprotocols that it lets through; the server then picks one of them. */
  offers = (names: readonly string[]): readonly string[] => names;
  sockets = 0;
  readonly #http: Server = createServer();
  readonly #server: WebSocketServer;

  private constructor(port: number) {
    this.#server = new WebSocketServer({
      server: this.#http, handleProtocols: (names) => this.offers([...names])[0]!,
    });
    this.#server.on('connection', (near) => {
      this.sockets += 1;
      const far = new WebSocket(`ws://127.0.0.1:${port}/`, near.protocol);
      const early: Uint8Array[] = [];
      const pass = (way: Way, from: WebSocket, to: WebSocket): void => {
        from.on('message', (data: Buffer) => {
          const message = Uint8Array.from(data);
          this.seen.push({ way, message });
          for (const one of this.meddle(way, message)) {
            if (to.readyState === WebSocket.CONNECTING) early.push(one);
            else if (to.readyState === WebSocket.OPEN) to.send(one);
          }
        });
        from.on('error', () => to.terminate());
        from.on('close', () => to.terminate());
      };
      far.on('open', () => { for (const message of early) far.send(message); });
      pass('up', near, far);
      pass('down', far, near);
    });
  }

  static async to(port: number): Promise<MeddlingProxy> {
    const proxy = new MeddlingProxy(port);
    proxy.#http.listen(0, '127.0.0.1');
    await once(proxy.#http, 'listening');
    return proxy;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Says something to all contributors, and goodbye. */
  say(message: Uint8Array): void {
    for (const socket of this.#server.clients) {
      socket.send(message);
      socket.close();
    }
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.#server.clients) socket.terminate();
  }

  async close(): Promise<void> {
    this.cut();
    this.#http.closeAllConnections();
    await new Promise((resolve) => { this.#http.close(resolve); });
  }
}
