import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';

/** Stands between clients and a server and keeps every byte, by direction. */
export class TappedPort {
  readonly #towardsClients: Buffer[] = [];
  readonly #towardsServer: Buffer[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#connect(client));
  #target = 0;

  static async before(port: number): Promise<TappedPort> {
    const tap = new TappedPort();
    tap.#target = port;
    await new Promise<void>((resolve) => { tap.#server.listen(0, '127.0.0.1', resolve); });
    return tap;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Everything that left the server. */
  get towardsClients(): Buffer {
    return Buffer.concat(this.#towardsClients);
  }

  get towardsServer(): Buffer {
    return Buffer.concat(this.#towardsServer);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => { this.#server.close(resolve); });
  }

  #connect(client: Socket): void {
    const server = createConnection({ port: this.#target, host: '127.0.0.1' });
    for (const [from, to, kept] of [
      [client, server, this.#towardsServer], [server, client, this.#towardsClients],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (part: Buffer) => { kept.push(part); to.write(part); });
      from.on('end', () => to.end());
      from.on('error', () => to.destroy());
    }
  }
}
