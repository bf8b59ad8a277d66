import { signing } from '#signing';
import type { Notice } from '../../../src/wire/index.js';
import { toHex } from '../../../src/base/bytes.js';
import { KeelsonError, WireError } from '../../../src/base/errors.js';
import type { ContributorOptions } from '../../../client/contributor-contract.js';
import { NetworkContributor } from '../../../client/contributor.js';
import { createContributor, type Contributor } from '../../../client/index.js';
import { noticeIn } from '../../../client/http/once.js';
import { OnceChannel } from '../../../client/session/once-channel.js';
import type { Settled } from '../../../client/session/settled.js';
import type { Chance } from './chance.js';
import type { FaultCounts, FaultRates } from './faults.js';
import { BrokenPromise, type Model } from './model.js';
import type { Network } from './network.js';
import { OutboxFile, SimulatedOutbox } from './outbox.js';
import { clientRuntime, ProcessTimers, type Scheduler } from './scheduler.js';
import { rowOf } from './study.js';

export interface ContributorWorld {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly chance: Chance;
  readonly model: Model;
  readonly counts: FaultCounts;
  readonly rates: () => FaultRates;
  readonly serverKey: Uint8Array;
  readonly studyId: string;
  readonly onBroken: (error: unknown) => void;
}

/** The chance that a process of a contributor sends its batches without a channel. */
const withoutChannel = 0.25;

/**
 * An honest contributor: the SDK with its outbox, in a process that may die and start again, with a
 * channel or without one.
 */
export class SimulatedContributor {
  readonly host: string;
  readonly #seed: Uint8Array;
  readonly #file = new OutboxFile();
  #timers!: ProcessTimers;
  #client!: Contributor;
  /** Without one no rows are taken back. */
  #hasChannel = true;
  #key = '';
  #counter = 0;
  /** Ends with the process: what a dead one owed is found in its outbox by the next. */
  #owed = 0;
  sends = 0;

  constructor(private readonly world: ContributorWorld, readonly number: number) {
    this.host = `contributor-${number}`;
    this.#seed = new Uint8Array(32).fill(number + 1);
    this.#start();
  }

  /**
   * Rows that were given to the SDK of this process and not settled, and those that its outbox
   * held.
   */
  get owed(): number {
    return this.#owed;
  }

  /** Its study has no open epoch. */
  get waitsForEpoch(): boolean {
    return this.#client.state.kind === 'waiting-for-epoch';
  }

  get studyId(): string {
    return this.world.studyId;
  }

  /** How it stands, for reports. */
  get standing(): string {
    const { state } = this.#client;
    return `${this.host} (${state.kind}`
      + `${state.kind === 'ended' ? ` ${state.error?.message ?? ''}` : ''}) owes ${this.#owed}`;
  }

  send(): void {
    const { chance } = this.world;
    const count = 1 + chance.below(3);
    const rows = Array.from({ length: count }, () => rowOf(this.number, ++this.#counter));
    this.sends += 1;
    const { state } = this.#client;
    const settled = this.#client.send(rows, { last: chance.happens(0.3) });
    if (state.kind === 'ended' && isFinal(state.error)) this.#expectRefusal(settled, state.error);
    else this.#owe(settled);
  }

  /**
   * Takes back what the open epoch has of it. That the epoch closed first, or the study stopped, is
   * no defect.
   */
  withdraw(): void {
    const { model, studyId, onBroken } = this.world;
    if (!this.#hasChannel) return;
    const timers = this.#timers;
    this.#client.withdraw().then(
      (epoch) => {
        if (!timers.alive) return;
        try {
          model.withdrawalAcked(studyId, this.#key, epoch);
        } catch (error) {
          onBroken(error);
        }
      },
      (error: unknown) => {
        const isExpected = error instanceof KeelsonError
          && ['too-late', 'study-ended', 'budget-exhausted', 'closed'].includes(error.code);
        if (timers.alive && !isExpected) onBroken(error);
      },
    );
  }

  crash(): void {
    const { counts, network, chance, scheduler } = this.world;
    if (!this.#timers.alive) return;
    counts['client-crash'] += 1;
    this.#timers.alive = false;
    if (this.#file.crash(chance)) counts['outbox-torn'] += 1;
    network.hangUp((connection) => connection.host === this.host, 'client');
    scheduler.after(chance.between(1, 300), `${this.host} starts`, () => this.#start());
  }

  get alive(): boolean {
    return this.#timers.alive;
  }

  #start(): void {
    const { scheduler, network, chance, serverKey } = this.world;
    const timers = new ProcessTimers(scheduler, this.host);
    this.#timers = timers;
    this.#owed = 0;
    const outbox = new SimulatedOutbox(this.#file, timers, chance, (pin) =>
      this.#pinned(pin.serverKey), (syncMs) => {
      if (chance.happens(this.world.rates().clientCrashInSync)) {
        timers.after(syncMs / 2, () => this.crash());
      }
    });
    const { studyId } = this.world;
    const options: ContributorOptions = {
      url: 'ws://simulated/', study: studyId, seed: this.#seed, serverKey, outbox,
      runtime: clientRuntime(timers, () => chance.uniform()),
      backoffInitialMs: 10, backoffMaxMs: 150, idleTimeoutMs: 700,
    };
    this.#hasChannel = !chance.happens(withoutChannel);
    this.#client = this.#hasChannel ? createContributor({
      ...options, openTransport: network.transportOf(this.host, () => timers.alive),
    }) : this.#once(options, timers);
    this.#key = toHex(signing.createSigner(this.#seed).publicKey);
    void this.#followOutbox(timers, outbox);
  }

  /** As `createOnceContributor` makes it, with the simulated network in place of requests. */
  #once(options: ContributorOptions, timers: ProcessTimers): Contributor {
    const { network, chance, studyId, counts } = this.world;
    counts['no-channel'] += 1;
    const readOpen = (study: string): Promise<Notice> => new Promise((resolve, reject) => {
      timers.after(chance.between(1, 16), () => {
        const welcome = network.options.listener()?.welcome(study) ?? null;
        if (welcome === null) reject(new Error('no server answers'));
        else resolve(noticeIn(welcome, study));
      });
    });
    return new NetworkContributor(options, {
      via: 'http',
      channel: (channelOptions) => new OnceChannel(channelOptions, readOpen),
      transport: () => network.onceTransportOf(this.host, studyId, () => timers.alive),
    });
  }

  #pinned(serverKey: Uint8Array): void {
    const { model, onBroken } = this.world;
    try {
      model.pinned(serverKey);
    } catch (error) {
      onBroken(error);
    }
  }

  async #followOutbox(timers: ProcessTimers, outbox: SimulatedOutbox): Promise<void> {
    this.#owed += (await outbox.load()).items.length;
    for await (const status of this.#client.status()) {
      if (!timers.alive) return;
      if (status.kind === 'recovered') {
        this.#owed -= 1;
        this.#settled(status.result);
      }
    }
  }

  /** The study has stopped, and the SDK has said so: it takes nothing more, and says that again. */
  #expectRefusal(settled: Promise<Settled>, expected: unknown): void {
    const { onBroken } = this.world;
    settled.then(
      () => onBroken(new BrokenPromise(`${this.host} took rows after it had ended`)),
      (error: unknown) => { if (error !== expected) onBroken(error); },
    );
  }

  #owe(settled: Promise<Settled>): void {
    const timers = this.#timers;
    this.#owed += 1;
    settled.then(
      (result) => {
        if (!timers.alive) return;
        this.#owed -= 1;
        this.#settled(result);
      },
      (error: unknown) => { if (timers.alive) this.world.onBroken(error); },
    );
  }

  #settled(result: Settled): void {
    const { model, studyId, onBroken } = this.world;
    try {
      if (result.kind === 'accepted') {
        for (const sequence of result.sequences) model.acked(studyId, this.#key, sequence);
      } else if (result.sequences.length === 1) {
        model.refused(studyId, this.#key, result.sequences[0]!);
      }
    } catch (error) {
      onBroken(error);
    }
  }
}

/** The study stopped, which no fault did. */
function isFinal(error: Error | null): boolean {
  return error instanceof WireError
    && (error.code === 'budget-exhausted' || error.code === 'study-ended');
}
