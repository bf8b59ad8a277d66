import { once } from 'node:events';
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';

/** One address for several servers. Each connection goes to the next server that accepts it. */
export class Balancer {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#accept(client));
  /** The ports of the servers, on this machine. */
  ports: readonly number[] = [];
  #next = 0;

  async start(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(client: Socket): void {
    this.#keep(client);
    client.pause();
    this.#try(client, this.ports.length);
  }

  #try(client: Socket, left: number): void {
    if (left === 0 || client.destroyed) return void client.destroy();
    const port = this.ports[this.#next++ % this.ports.length]!;
    const server = createConnection(port, '127.0.0.1');
    this.#keep(server);
    server.once('error', () => this.#try(client, left - 1));
    server.once('connect', () => {
      server.removeAllListeners('error');
      for (const socket of [client, server]) {
        socket.on('error', () => undefined);
        socket.on('close', () => { client.destroy(); server.destroy(); });
      }
      client.pipe(server).pipe(client);
    });
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
  }
}
