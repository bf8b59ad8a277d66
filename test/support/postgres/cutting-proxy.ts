import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { memoryFolder } from '../memory-folder.js';
import { StepWatch, type StepPoint } from './step-watch.js';

/** What is held back at a point of a step. */
interface Held {
  readonly point: StepPoint;
  /** Called when the point is reached, with what lets the answers go on. */
  readonly reached: (goOn: () => void) => void;
}

/** Stands between one server and PostgreSQL's socket, and is a network that fails. */
export class CuttingProxy {
  readonly #folder = mkdtempSync(join(memoryFolder, 'keelson-net-'));
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  readonly #server = createServer((client) => this.#pass(client));
  #isSilent = false;
  #delayMs = 0;
  #held: Held | null = null;
  #cutAfter = Infinity;
  #refuses = 0;

  private constructor(private readonly target: string) {}

  /** @param url an address with the folder of a socket as its host. */
  static async start(
    url: string,
  ): Promise<{ readonly proxy: CuttingProxy; readonly url: string }> {
    const address = new URL(url);
    const proxy = new CuttingProxy(join(address.searchParams.get('host')!, '.s.PGSQL.5432'));
    proxy.#server.listen(join(proxy.#folder, '.s.PGSQL.5432'));
    await once(proxy.#server, 'listening');
    address.searchParams.set('host', proxy.#folder);
    return { proxy, url: address.href };
  }

  /** Breaks every connection that there is. */
  cut(): void {
    for (const [client, server] of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /**
   * Cuts every connection when so many messages have come from the client, and then refuses as many
   * connections as are given.
   */
  cutAfter(messages: number, refuses: number): void {
    this.#cutAfter = messages;
    this.#refuses = refuses;
  }

  /** Nothing passes, in either direction, until `heal`; new connections get no answer. */
  silence(): void {
    this.#isSilent = true;
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  /**
   * Nothing passes any more on the connections that there are; new ones work. So it is after a
   * network was away: what was sent meanwhile is sent again only minutes later.
   */
  freeze(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  /** Everything from now on arrives so much later, in both directions; 0 until `delay`. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /**
   * Closes one end of every connection. The other end stays open and hears nothing, until `cut`.
   * @param end `client`: the server's; `database`: PostgreSQL's.
   */
  halfClose(end: 'client' | 'database'): void {
    for (const [client, server] of this.#pairs) {
      const [closed, open] = end === 'client' ? [client, server] : [server, client];
      closed.removeAllListeners('close');
      closed.destroy();
      open.removeAllListeners('data');
      open.pause();
    }
  }

  /**
   * Holds back the answers of one connection at a point of a step, once.
   * @returns what lets them go on, when the point is reached; and what stops waiting for it.
   */
  holdAt(point: StepPoint): { readonly held: Promise<() => void>; readonly cancel: () => void } {
    const held = new Promise<() => void>((reached) => { this.#held = { point, reached }; });
    return { held, cancel: () => { this.#held = null; } };
  }

  heal(): void {
    this.#isSilent = false;
    for (const pair of this.#pairs) for (const socket of pair) socket.resume();
  }

  async stop(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #pass(client: Socket): void {
    if (this.#cutAfter === 0 && this.#refuses > 0) {
      this.#refuses -= 1;
      client.destroy();
      return;
    }
    const server = createConnection(this.target);
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    for (const [from, to] of [pair, [server, client] as const]) {
      let sent: Promise<unknown> = Promise.resolve();
      const reaches = from === server ? this.#reaches() : () => false;
      from.on('data', (data) => {
        if (from === client && this.#cutAfter > 0 && --this.#cutAfter === 0) return this.cut();
        const arrives = this.#delayMs > 0 && pause(this.#delayMs);
        const goesOn = reaches(data) && this.#hold();
        // After what came before, also when the delay becomes less.
        sent = Promise.all([sent, arrives, goesOn]).then(() => to.write(data));
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        to.destroy();
        this.#pairs.delete(pair);
      });
      if (this.#isSilent) from.pause();
    }
  }

  /** True if a piece of the answers on one connection reaches the point that is waited for. */
  #reaches(): (answer: Buffer) => boolean {
    let watch: StepWatch | null = null;
    let watched: Held | null = null;
    return (answer) => {
      if (this.#held !== watched) {
        watched = this.#held;
        watch = watched === null ? null : new StepWatch(watched.point);
      }
      return watch?.reached(answer) === true;
    };
  }

  #hold(): Promise<void> {
    const { reached } = this.#held!;
    this.#held = null;
    return new Promise((resolve) => { reached(resolve); });
  }
}
