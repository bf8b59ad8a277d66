import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { signing } from '#signing';
import { fromHex, toHex } from '../../src/base/bytes.js';
import type { ShortFacts, StudyDocument } from '../../src/wire/index.js';
import type { Signer } from '../../src/signing/index.js';
import { ConformanceFault, expect } from './fault.js';
import { MeddlingProxy } from './meddling-proxy.js';
import type { Program, ProgramEvent } from './program.js';
import { ScriptedServer } from './scripted-server.js';

/** A skill that a program declares in its first line. */
export type Skill =
  | 'contribute' | 'encrypt' | 'encrypted-only' | 'once' | 'withdraw' | 'subscribe' | 'verify'
  | 'typed' | 'sealed';

/** One thing that a client must do, or must not do. */
export interface ConformanceCase {
  readonly name: string;
  readonly needs: Skill;
  /** Its servers have encrypted channels, so it needs `encrypt`, too. */
  readonly isEncrypted?: true;
  run(stage: Stage): Promise<void>;
}

/** Rows of numbers that nobody else sends. */
let rowsMade = 0;
export const freshRows = (count: number): number[][] =>
  Array.from({ length: count }, () => [++rowsMade + 0.25, -rowsMade / 3]);

interface Sent {
  readonly id: string;
  readonly rows: readonly string[];
}

/** The environment of one case: a folder, the program, a contributor of its own, and servers. */
export class Stage {
  readonly seed = toHex(signing.generateSeed());
  private readonly servers: ScriptedServer[] = [];
  private readonly closing: (() => Promise<unknown>)[] = [];
  /** Rejects with the first fault that is noticed while the case runs. */
  readonly noticed: Promise<never>;
  private notice!: (fault: ConformanceFault) => void;
  private readonly sent: Sent[] = [];
  private running: Program | null = null;
  private isOver = false;

  /**
   * @param start starts the program; `onEvent` gets each of its events at once.
   * @param isEncrypted whether its servers have encrypted channels.
   */
  constructor(
    readonly folder: string,
    private readonly start: (onEvent: (event: ProgramEvent) => void) => Promise<Program>,
    private readonly isEncrypted: boolean,
  ) {
    mkdirSync(folder);
    this.noticed = new Promise((_, reject) => { this.notice = reject; });
    this.noticed.catch(() => undefined);
  }

  /** The contributor's public key. */
  get contributorKey(): Uint8Array {
    return signing.createSigner(fromHex(this.seed)).publicKey;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  async server(
    document: Partial<ShortFacts> | StudyDocument = {}, signer?: Signer,
  ): Promise<ScriptedServer> {
    const server = await ScriptedServer.start(document, signer);
    server.isEncrypted = this.isEncrypted;
    server.onFault = (text) => this.notice(new ConformanceFault(text));
    server.onReuse = (sequence) => server.onFault(`sequence ${sequence} was used for two bodies`);
    this.servers.push(server);
    return server;
  }

  /** A proxy in front of a server, which may read and change what goes through it. */
  async proxy(url: string): Promise<MeddlingProxy> {
    const proxy = await MeddlingProxy.to(Number(new URL(url).port));
    this.atEnd(() => proxy.close());
    return proxy;
  }

  /** Calls `close` at the end of the case, whatever comes of it. */
  atEnd(close: () => Promise<unknown>): void {
    this.closing.push(close);
  }

  /**
   * The program; started when it does not run.
   * @throws ConformanceFault at the end of the case: a fault may end it before its steps do.
   */
  async program(): Promise<Program> {
    const over = new ConformanceFault('the case is over');
    if (this.isOver) throw over;
    if (this.running === null) {
      const started = await this.start((event) => this.watch(event));
      if (this.isOver) {
        await started.kill();
        throw over;
      }
      this.running = started;
    }
    return this.running;
  }

  /** Opens a contributor. @param more other members of `open`. */
  async open(
    server: { readonly url: string; readonly serverKey?: string } | ScriptedServer,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    const study = server instanceof ScriptedServer ? server.document.study : undefined;
    const serverKey = server instanceof ScriptedServer
      ? toHex(server.signer.publicKey) : server.serverKey;
    (await this.program()).say({
      do: 'open', url: server.url, study, seed: this.seed, outbox: this.path('outbox'), serverKey,
      ...more,
    });
  }

  /** Hands rows of numbers to the program, to be settled together. @returns their id. */
  async send(rows: readonly (readonly number[])[], last = false): Promise<string> {
    const id = `s${this.sent.length + 1}`;
    this.sent.push({ id, rows: rows.map((row) => row.join()) });
    (await this.program()).say({ do: 'send', id, rows, last });
    return id;
  }

  /** Waits until the rows are settled. @returns the code. */
  async settled(id: string | undefined): Promise<string> {
    const { event, code } = await this.event((one) =>
      one.event === 'ended' || (one.event === 'settled' && one.id === id));
    expect(event === 'settled', `it ended with ${code}, and rows were waiting`);
    expect(typeof code === 'string', 'an event "settled" has no code');
    return code;
  }

  async accepted(id: string | undefined): Promise<void> {
    const code = await this.settled(id);
    expect(code === 'accepted', `rows were settled as ${code}, and they were accepted`);
  }

  /** Asks the program to take back its rows of the open epoch, and waits until it has. */
  async withdraw(epoch: number): Promise<void> {
    (await this.program()).say({ do: 'withdraw' });
    await this.withdrawn(epoch);
  }

  async withdrawn(epoch: number): Promise<void> {
    const found = await this.event(({ event }) => event === 'withdrawn');
    expect(found['epoch'] === epoch, `the withdrawal ended with ${found.code ?? 'another epoch'}, `
      + `and epoch ${epoch} was withdrawn`);
  }

  /** Waits until the contributor or the subscription has ended because of an error. */
  async ended(...codes: readonly string[]): Promise<void> {
    const { code } = await this.event(({ event }) => event === 'ended' || event === 'closed');
    const wanted = codes.join(' or ');
    expect(code !== undefined, `it was closed, and it must end with ${wanted}`);
    if (codes.length > 0) expect(codes.includes(code), `it ended with ${code}, not ${wanted}`);
  }

  /** Asks the program to settle what it has and to disconnect, and waits for it. */
  async close(): Promise<void> {
    (await this.program()).say({ do: 'close' });
    const { event, code } = await this.event((one) =>
      one.event === 'closed' || one.event === 'ended');
    expect(event === 'closed', `it ended with ${code}, and nothing was wrong`);
  }

  /** When it resolves, the program has reported all that it had to report before. */
  async ping(): Promise<void> {
    (await this.program()).say({ do: 'ping' });
    await this.event(({ event }) => event === 'pong');
  }

  async event(fits: (event: ProgramEvent) => boolean): Promise<ProgramEvent> {
    return (await this.program()).event(fits);
  }

  /** Ends the program as `kill -9` does. The next use starts it again. */
  async kill(): Promise<void> {
    const { running } = this;
    this.running = null;
    await running?.kill();
  }

  /** Waits for the server, or for the end of the program. */
  async until(server: ScriptedServer, holds: () => boolean): Promise<void> {
    const program = await this.program();
    const never = program.event(() => false);
    never.catch(() => undefined);
    await Promise.race([server.until(holds), never]);
  }

  /** Every row that was sent is with the server, once. */
  expectOnce(server: ScriptedServer, ids: readonly string[] = this.sent.map(({ id }) => id)): void {
    const wanted = this.sent.filter(({ id }) => ids.includes(id)).flatMap(({ rows }) => rows);
    const columns = server.document.columns.length;
    const found = server.taken.flatMap(({ values, rows }) => Array.from({ length: rows }, (_, i) =>
      values.slice(i * columns, (i + 1) * columns).join()));
    for (const row of new Set([...wanted, ...found])) {
      const count = found.filter((one) => one === row).length;
      const due = wanted.includes(row) ? 1 : 0;
      expect(count === due, `a row counts ${count} times, and it must count ${due} times`);
    }
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.kill();
    for (const close of this.closing) await close();
    for (const server of this.servers) await server.crash();
  }

  /** No row may be reported as accepted before the server has acknowledged it. */
  private watch({ event, id, code }: ProgramEvent): void {
    if (event !== 'settled' || code !== 'accepted' || this.servers.length === 0) return;
    const rows = this.sent.find((one) => one.id === id)?.rows ?? [];
    const isKnown = rows.every((row) => this.servers.some(({ acknowledged }) =>
      acknowledged.has(row)));
    const text = 'rows were reported as accepted before the server had said so';
    if (!isKnown) this.notice(new ConformanceFault(text));
  }
}
