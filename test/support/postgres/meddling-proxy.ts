import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { memoryFolder } from '../memory-folder.js';

/** What happens to the next message of a client that has these bytes. */
export interface Meddling {
  readonly marker: string | Buffer;
  /** Runs before the message goes on. */
  readonly before?: () => Promise<void>;
  /**
   * `before`: the server never gets the message. `after`: the client never gets its answer, though
   * the server has done all of it.
   */
  readonly cut?: 'before' | 'after';
}

/** The last message of an answer: the server is idle, in no transaction. */
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/** Stands between clients and the socket of a PostgreSQL server, and cuts connections. */
export class MeddlingProxy {
  readonly #folder = mkdtempSync(join(memoryFolder, 'keelson-cut-'));
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#pass(client));
  /** What to do, once each. */
  readonly planned: Meddling[] = [];
  /** Drops every notification, as a pooler does that shares connections by transactions. */
  dropsNews = false;

  private constructor(private readonly target: string) {}

  /** @param url an address with the folder of a socket as its host. */
  static async start(
    url: string,
  ): Promise<{ readonly proxy: MeddlingProxy; readonly url: string }> {
    const address = new URL(url);
    const target = join(address.searchParams.get('host')!, '.s.PGSQL.5432');
    const proxy = new MeddlingProxy(target);
    proxy.#server.listen(join(proxy.#folder, '.s.PGSQL.5432'));
    await once(proxy.#server, 'listening');
    address.searchParams.set('host', proxy.#folder);
    return { proxy, url: address.href };
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #pass(client: Socket): void {
    const server = createConnection(this.target);
    const cut = (): void => { client.destroy(); server.destroy(); };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', cut).on('close', () => { this.#sockets.delete(socket); cut(); });
    }
    let dropsAnswer = false;
    let sending = Promise.resolve();
    client.on('data', (data) => {
      const at = this.planned.findIndex(({ marker }) => data.includes(marker));
      const [meddling] = at < 0 ? [] : this.planned.splice(at, 1);
      sending = sending.then(async () => {
        await meddling?.before?.();
        if (meddling?.cut === 'before') return cut();
        dropsAnswer ||= meddling?.cut === 'after';
        server.write(data);
      });
    });
    const withoutNews = newsFilter();
    server.on('data', (received) => {
      const data = this.dropsNews ? withoutNews(received) : received;
      if (!dropsAnswer) client.write(data);
      else if (data.subarray(-ready.length).equals(ready)) cut();
    });
  }
}

/** Passes whole messages of a server on, without its notifications. */
function newsFilter(): (data: Buffer) => Buffer {
  let rest = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    const passed: Buffer[] = [];
    while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
      const length = 1 + rest.readUInt32BE(1);
      // A for NotificationResponse.
      if (rest[0] !== 0x41) passed.push(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
    return Buffer.concat(passed);
  };
}
