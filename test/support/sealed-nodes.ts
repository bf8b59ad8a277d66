import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sealing } from '../../client/sealing.js';
import type { Clock } from '../../server/base/clock.js';
import { silentLogger } from '../../server/base/logger.js';
import { recordsInMemory } from '../../server/base/operator-records.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { keyOfReleases } from '../../server/keys/release-key.js';
import { PeerLink, type PeerLinks } from '../../server/sealed/peer-link.js';
import type { PeerSocket, SocketHandlers } from '../../server/sealed/peer-socket.js';
import { SealedStudy } from '../../server/sealed/sealed-study.js';
import type { JournalEntry, Store } from '../../server/store/contract.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { parseStudyText } from '../../server/study-file/index.js';
import type { StudyDefinition } from '../../server/studies/definition.js';
import type { SubmitResult } from '../../server/studies/contract.js';
import { createStudyHub, type RunningHub } from '../../server/studies/hub/hub.js';
import { fromHex, toHex } from '../../src/base/bytes.js';
import type { Outcome } from '../../src/base/outcome.js';
import { servers, type ServerIndex } from '../../src/sealed/shares/body.js';
import { signBatch } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import { decodePeerFrame, encodePeerFrame } from '../../src/wire/peer-frames.js';
import type { PeerFrame } from '../../src/wire/peer-messages.js';
import { decodeReleaseBody } from '../../src/wire/index.js';
import { memoryFolder } from './memory-folder.js';
import { VirtualClock } from './virtual-clock.js';

export const everyMs = 10_000;

/** A frame that a server sent, at one moment of its life. */
export interface SentFrame {
  readonly from: ServerIndex;
  readonly to: ServerIndex;
  readonly frame: PeerFrame;
  /** The number of charges that this server had made durable by then. */
  readonly charges: number;
}

/** A study for three servers. */
export interface NodesStudy {
  /** Lines of YAML: estimator and parameters, or questions. */
  readonly question: string;
  /** YAML. Default: minutes. */
  readonly columns?: string;
  /** Default 40. */
  readonly cohort?: number;
  /** Default 4. The budget's is ten times this one, but 100 at most. */
  readonly epsilon?: number;
}

/** What a first server does that runs changed code. Default: what the shipped code does. */
export interface FrontChange {
  /** What it takes for the entries of an epoch. */
  readonly journal?: (entries: readonly JournalEntry[]) => readonly JournalEntry[];
  /** What it sends to another server in place of a frame. */
  readonly frame?: (to: ServerIndex, frame: PeerFrame) => PeerFrame;
}

/** One of three servers over its own store: its hub, until it crashes. */
interface Process {
  readonly server: ServerIndex;
  hub: RunningHub | null;
  isDead: boolean;
  /** Wakes a wait for links. */
  wake: (() => void) | null;
  wants: boolean;
}

/**
 * Three servers of a sealed study in one process: the shipped study, session, attempt, links, store
 * and ledger. Sockets pass whole messages in memory, and time is virtual. A server can crash at any
 * moment: before it sends a frame, before a transaction of its store, or after that is durable and
 * before anybody learns of it. Then nothing of it gets through any more, and its store stays.
 */
export class SealedNodes {
  readonly clock = new VirtualClock();
  readonly sent: SentFrame[] = [];
  readonly failures: unknown[] = [];
  /** What happened at each server, in order: frames and transactions. */
  readonly moments: readonly string[][] = servers.map(() => []);
  readonly definition: StudyDefinition;
  /** By how much the clock of each server is ahead of the true time, in milliseconds. */
  readonly aheadMs = [0, 0, 0];
  readonly #folder = mkdtempSync(join(memoryFolder, 'keelson-nodes-'));
  readonly #stores: Store[] = [];
  readonly #charges = [0, 0, 0];
  readonly #processes: Process[] = servers.map((server) =>
    ({ server, hub: null, isDead: true, wake: null, wants: false }));
  readonly #records = servers.map(() => recordsInMemory());
  #links: readonly Map<ServerIndex, PeerLink>[] = [];
  #crash: { readonly server: ServerIndex; readonly moment: number } | null = null;

  readonly #signers = servers.map((server) =>
    signing.createSigner(new Uint8Array(32).fill(60 + server)));

  constructor(
    { question, columns, cohort = 40, epsilon = 4 }: NodesStudy,
    private readonly change: FrontChange = {},
  ) {
    this.definition = parseStudyText(`study: nodes
columns: ${columns ?? '[minutes]'}
cohort: ${cohort}
epoch: { every: ${everyMs}ms }
${question}
privacy: { epsilon: ${epsilon}, delta: 1e-6 }
budget: { epsilon: ${Math.min(100, 10 * epsilon)}, delta: 1e-5 }
sealed:
  against: reading
${columns === undefined ? '  range: [[0, 64]]' : ''}
  servers:
${servers.map((server) => `    - { name: s${server}, url: 'ws://127.0.0.1:${9000 + server}', `
  + `key: '${toHex(this.#signers[server]!.publicKey)}' }`).join('\n')}
`, { name: 'nodes.yaml' });
  }

  /** @param opens whether an epoch opens, which is waited for. */
  async startAll(opens = true): Promise<void> {
    for (const server of servers) {
      const directory = join(this.#folder, `${server}`);
      this.#stores[server] = await openInlineSqliteStore({ directory, clock: this.clock });
    }
    for (const server of servers) await this.start(server);
    if (opens) await this.until(() => this.view.epoch > 0n);
  }

  /** A new process over what the store has. */
  async start(server: ServerIndex): Promise<void> {
    const own: Process = { server, hub: null, isDead: false, wake: null, wants: false };
    this.#processes[server] = own;
    own.hub = await createStudyHub({
      store: this.#storeOf(own), clock: this.#clockOf(own), signer: this.#signers[server]!,
      runnerFactory: () => new InlineEpochRunner(), logger: silentLogger,
      studies: [this.definition], heldStudies: this.#records[server]!.held,
      onFatal: (error) => { if (!own.isDead) this.failures.push(error); },
      openSealed: (context, definition, identity, record, options) =>
        new SealedStudy(context, definition, identity, record, {
          ...options, server, timeoutMs: 20_000, mesh: this.#meshOf(own),
        }),
    });
  }

  /** The epoch in which a server found a wrong message, until it is resumed. */
  heldEpoch(server: ServerIndex): bigint | null {
    return this.#records[server]!.held.epochOf(this.view.studyId);
  }

  /** As the operator of one server. */
  resume(server: ServerIndex, epoch?: bigint): Promise<void> {
    return this.#processes[server]!.hub!.resumeStudy(this.view.studyId, epoch);
  }

  /** The process of a server ends, and another begins over what it stored. */
  async restart(server: ServerIndex): Promise<void> {
    this.#die(this.#processes[server]!);
    await this.start(server);
  }

  /** The server dies at this moment of its life, counted from now on. */
  crashAt(server: ServerIndex, moment: number): void {
    this.#crash = { server, moment: this.moments[server]!.length + moment };
  }

  /** The process ends. Its clock is set right, the operator confirms it, and it starts again. */
  async restartAtTrueTime(server: ServerIndex): Promise<void> {
    this.#die(this.#processes[server]!);
    this.aheadMs[server] = 0;
    await this.#stores[server]!.repairTimes!(this.clock.nowMs(), true);
    await this.start(server);
  }

  /** The newest time in a server's store. */
  newestTime(server: ServerIndex): Promise<number | null> {
    return this.#stores[server]!.newestTime!();
  }

  isDead(server: ServerIndex): boolean {
    return this.#processes[server]!.isDead;
  }

  /** At the front, as contributors see it. */
  get view() {
    return this.#processes[0]!.hub!.studies()[0]!;
  }

  /**
   * People send a row each to the open epoch: the only number of a row, or all its cells.
   * @returns the answers that are no acceptance.
   */
  async contribute(
    rows: readonly (number | readonly number[])[],
    change: (body: Uint8Array, person: number) => void = () => undefined,
  ): Promise<readonly SubmitResult[]> {
    const { studyId, epoch, boxKeys } = this.view;
    const { document } = this.definition;
    const context = {
      serverKey: this.#signers[0]!.publicKey, studyId: fromHex(studyId),
    };
    const refused: SubmitResult[] = [];
    for (const [i, row] of rows.entries()) {
      const signer = signing.createSigner(new Uint8Array(32).fill(100 + i));
      const body = sealing({
        document, rows: Float64Array.from([row].flat()), texts: undefined,
        studyId: fromHex(studyId), epoch, sequence: epoch,
        contributorKey: signer.publicKey, boxKeys: boxKeys!,
      });
      change(body, i);
      const digest = signing.sha512(body);
      const result = await this.#processes[0]!.hub!.submit({
        studyId, contributor: signer.publicKey, sequence: epoch, epoch, last: true, rows: 1,
        columns: document.columns.length, digest, body,
        signature: signBatch(signer, context, digest),
      });
      if (result.verdict !== 'accepted') refused.push(result);
    }
    return refused;
  }

  /** Lets time pass until something holds. @throws after an hour of virtual time. */
  async until(holds: () => boolean | Promise<boolean>): Promise<void> {
    for (let tick = 0; tick < 3_600; tick++) {
      if (this.failures.length > 0) throw this.failures[0];
      if (await holds()) return;
      await this.clock.advance(1_000);
    }
    throw new Error('the three servers do not get on');
  }

  /** With the outcome of the first question, and those of all. */
  async releases(server: ServerIndex): Promise<readonly {
    body: Uint8Array; outcome: Outcome; outcomes: readonly Outcome[];
  }[]> {
    const found = await this.#stores[server]!.releases(this.view.studyId, 0, 100);
    return found.map(({ body }) => {
      const outcomes = decodeReleaseBody(body).answers.map(({ outcome }) => outcome);
      return { body, outcome: outcomes[0]!, outcomes };
    });
  }

  /** What a server's store has of the entries of an open epoch. */
  journal(server: ServerIndex, epoch: bigint): Promise<readonly JournalEntry[]> {
    return this.#stores[server]!.journal(this.view.studyId, epoch, 0n, 1_000);
  }

  /** The key that a server that starts over this store must have. */
  keyOf(server: ServerIndex): Promise<Uint8Array | null> {
    return keyOfReleases(this.#stores[server]!);
  }

  /** True if a server's store has this epoch as charged, and no release of it. */
  async hasCharged(server: ServerIndex, epoch: bigint): Promise<boolean> {
    return (await this.#stores[server]!.epoch(this.view.studyId, epoch))?.state === 'charged';
  }

  async spent(server: ServerIndex): Promise<bigint> {
    return (await this.#stores[server]!.balances())[0]!.rhoSpent;
  }

  async close(): Promise<void> {
    for (const process of this.#processes) this.#die(process);
    for (const store of this.#stores) await store.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  // ---- one process

  /** @returns false when the process is dead, from now on or since before. */
  #lives(process: Process, moment: string): boolean {
    if (process.isDead) return false;
    const list = this.moments[process.server]!;
    if (this.#crash?.server === process.server && this.#crash.moment === list.length) {
      this.#crash = null;
      this.#die(process);
      return false;
    }
    list.push(moment);
    return true;
  }

  #die(process: Process): void {
    process.isDead = true;
    // What the process still does reaches nobody; the others see that their sockets close.
    for (const link of [...this.#links[process.server]?.values() ?? []]) link.close();
    process.wake?.();
  }

  #storeOf(process: Process): Store {
    const { server } = process;
    return new Proxy(this.#stores[server]!, {
      get: (store, name: string) => {
        const method = Reflect.get(store, name) as unknown;
        if (typeof method !== 'function') return method;
        return async (...given: unknown[]): Promise<unknown> => {
          if (!this.#lives(process, `before ${name}`)) return new Promise(() => undefined);
          const result = this.#changed(server, name, await Reflect.apply(method, store, given));
          if (name === 'chargeEpoch') this.#charges[server]! += 1;
          return this.#lives(process, `after ${name}`) ? result : new Promise(() => undefined);
        };
      },
    });
  }

  #changed(server: ServerIndex, name: string, result: unknown): unknown {
    const { journal } = this.change;
    if (server !== 0 || name !== 'journal' || journal === undefined) return result;
    const entries = result as readonly JournalEntry[];
    return entries.length === 0 ? entries : journal(entries);
  }

  #clockOf(process: Process): Clock {
    const { clock } = this;
    return {
      nowMs: () => clock.nowMs() + this.aheadMs[process.server]!, monotonicMs: clock.monotonicMs,
      after: (delayMs, action) => clock.after(delayMs, () => { if (!process.isDead) action(); }),
    };
  }

  // ---- links

  #meshOf(process: Process) {
    const links = (): PeerLinks | null => {
      const own = this.#links[process.server];
      const isWhole = own?.size === 2 && [...own.values()].every(({ isOpen }) => isOpen);
      return isWhole ? new Map(own) : null;
    };
    let isInterrupted = false;
    return {
      connected: async (waitMs: number | null): Promise<PeerLinks | null> => {
        isInterrupted = false;
        let isOver = false;
        const cancel = waitMs === null ? undefined
          : this.#clockOf(process).after(waitMs, () => { isOver = true; process.wake?.(); });
        process.wants = true;
        this.#connect();
        while (links() === null && !isOver && !isInterrupted) {
          await new Promise<void>((resolve) => { process.wake = resolve; });
        }
        cancel?.();
        process.wants = false;
        return process.isDead ? new Promise(() => undefined) : links();
      },
      interrupt: () => { isInterrupted = true; process.wake?.(); },
      close: () => { this.#die(process); },
    };
  }

  /** New links between all three, once all of them want some. */
  #connect(): void {
    if (!this.#processes.every(({ isDead, wants }) => !isDead && wants)) return;
    this.#links = servers.map(() => new Map<ServerIndex, PeerLink>());
    for (const low of servers) {
      for (const high of servers.filter((server) => server > low)) this.#join(low, high);
    }
    for (const process of this.#processes) process.wake?.();
  }

  #join(low: ServerIndex, high: ServerIndex): void {
    const handlers: (SocketHandlers | undefined)[] = [];
    const socketOf = (from: ServerIndex, to: ServerIndex): PeerSocket => {
      const process = this.#processes[from]!;
      const other = (): SocketHandlers | undefined => handlers[to];
      return {
        send: (bytes) => {
          const frame = decodePeerFrame(bytes);
          if (!this.#lives(process, `${momentOf(frame)} to ${to}`)) return;
          this.sent.push({ from, to, frame, charges: this.#charges[from]! });
          const sent = from === 0 && this.change.frame !== undefined
            ? encodePeerFrame(this.change.frame(to, frame)) : bytes.slice();
          queueMicrotask(() => other()?.onMessage(sent));
        },
        ping: (onPong) => onPong(),
        close: () => queueMicrotask(() => other()?.onClose('closed')),
      };
    };
    for (const [from, to] of [[low, high], [high, low]] as const) {
      const link = new PeerLink(socketOf(from, to), to, this.#clockOf(this.#processes[from]!));
      handlers[from] = link.handlers;
      this.#links[from]!.set(to, link);
    }
  }
}

/** What a server is about to send: of a step also its number, and how long it is. */
function momentOf(frame: PeerFrame): string {
  if (frame.kind !== 'step') return frame.kind;
  const { payload } = frame;
  const step = new DataView(payload.buffer, payload.byteOffset).getUint32(0);
  return `step ${step} of ${payload.length} bytes`;
}
