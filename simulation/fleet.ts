import { signing } from '#signing';
import { openTransport as platformTransport } from '#websocket';
import { concatBytes, utf8 } from '../src/base/bytes.js';
import { InvalidParameterError, KeelsonError, WireError } from '../src/base/errors.js';
import { seededRandom } from '../src/random/work.js';
import type { Signer } from '../src/signing/index.js';
import { decodeStudyDocument } from '../src/wire/index.js';
import { systemRuntime } from '../client/base/defaults.js';
import type { ClientRuntime } from '../client/base/runtime.js';
import type { Channel } from '../client/session/channel.js';
import { SocketChannel } from '../client/session/socket-channel.js';
import type { ChannelOptions } from '../client/session/channel-contract.js';
import type { ConnectionOptions } from '../client/session/connection.js';
import { checkedKey } from '../client/session/handshake.js';
import { Multiplexer } from '../client/session/multiplexer.js';
import { webSocketUrl } from '../client/websocket/url.js';
import { AbuseGroup } from './abuser.js';
import { findAttack, isProtocolAttack, type ProtocolAttack } from './attacks/index.js';
import type { Fleet, FleetOptions } from './fleet-options.js';
import { Counters, type FleetStatistics } from './statistics.js';
import { endsStudy, StudyRun } from './study-run.js';
import type { Truth } from './truth.js';

/** Abusers on one socket. They are few, because each of them can get the socket closed for all. */
const abusersPerSocket = 16;

/**
 * The key of one simulated contributor.
 * @param seed the fleet's.
 * @returns 32 bytes.
 */
export function contributorSeed(seed: Uint8Array, index: number): Uint8Array {
  return signing.sha512(concatBytes(utf8(`keelson fleet ${index} `), seed)).slice(0, 32);
}

/**
 * Connects simulated contributors and lets each contribute once per epoch and study, spread over
 * the epoch. They use the sessions of the SDK, many to a socket. After a lost connection they
 * connect again and continue.
 * @throws InvalidParameterError for options that can never work.
 * @example
 * const rows = gaussianSource({ mean: [10, 700], standardDeviation: [30, 400], rows: 8, seed });
 * const hostile = { corruption: 0.1, attack: 'shift' };
 * const fleet = createFleet({
 *   url, studies: ['flight-delays'], contributors: 3000, ...hostile, seed, rows,
 * });
 * await fleet.ready();
 */
export function createFleet(options: FleetOptions): Fleet {
  return new NetworkFleet(options);
}

class NetworkFleet implements Fleet {
  private readonly counters = new Counters();
  private readonly runs = new Map<string, StudyRun>();
  private readonly multiplexers: Multiplexer[] = [];
  private readonly groups: AbuseGroup[] = [];
  private readonly channels: Channel[] = [];
  private readonly awaited = new Set<Channel>();
  private wereReady = 0;
  private firstEnd: KeelsonError | null = null;
  private readonly readiness: Promise<void>;
  private resolveReady!: () => void;
  private rejectReady!: (error: KeelsonError) => void;
  private serverKey: Uint8Array | null;
  private epochListener: (study: string, epoch: bigint) => void = () => undefined;
  private downListener: (reason: string, retryInMs: number) => void = () => undefined;
  private endListener: (study: string, error: KeelsonError) => void = () => undefined;
  private closing: (() => void) | null = null;

  constructor(private readonly options: FleetOptions) {
    checkOptions(options);
    this.serverKey = options.serverKey === undefined
      ? null : checkedKey(options.serverKey, 'the server key');
    this.readiness = new Promise((resolve, reject) => {
      this.resolveReady = resolve;
      this.rejectReady = reject;
    });
    this.readiness.catch(() => undefined);
    const runtime = options.runtime ?? systemRuntime;
    const connection = {
      ...options, runtime, openTransport: options.openTransport ?? platformTransport,
      readFacts: decodeStudyDocument,
    };
    const hostile = Math.round((options.corruption ?? 0) * options.contributors);
    const attack = findAttack(options.attack ?? 'shift');
    this.addRuns(runtime);
    const abusers = isProtocolAttack(attack) ? hostile : 0;
    if (isProtocolAttack(attack)) this.addAbusers(connection, abusers, attack);
    this.addChannels(connection, runtime, abusers);
    if (this.awaited.size === 0) this.resolveReady();
    for (const multiplexer of this.multiplexers) multiplexer.open();
    for (const group of this.groups) group.open();
    options.signal?.addEventListener('abort', () => this.abort(), { once: true });
    if (options.signal?.aborted === true) this.abort();
  }

  private addRuns(runtime: ClientRuntime): void {
    const random = seededRandom(this.options.seed);
    for (const study of this.options.studies) {
      const run = new StudyRun({
        study,
        fleet: this.options,
        runtime,
        random: random.fork(`study ${study}`),
        counters: this.counters,
        onSettled: () => this.closeWhenDone(),
      });
      this.runs.set(study, run);
    }
  }

  private addAbusers(connection: ConnectionOptions, count: number, attack: ProtocolAttack): void {
    const random = seededRandom(this.options.seed).fork('abuse');
    for (const [study, run] of this.runs) {
      for (let start = 0; start < count; start += abusersPerSocket) {
        const indexes = range(start, Math.min(start + abusersPerSocket, count));
        const group = new AbuseGroup({
          connection,
          study,
          signers: indexes.map((index) => this.signerOf(index)),
          enrolment: (publicKey, i) => this.options.enrolment?.(publicKey, indexes[i]!),
          abuses: attack.abuses,
          random: random.fork(`${study} ${start}`),
          onRefused: (code) => this.counters.count(this.counters.abusesRefused, code),
          onDown: () => { this.counters.reconnections += 1; },
        });
        this.groups.push(group);
        indexes.forEach((index, i) => { run.abusers[index] = { group, index: i }; });
      }
    }
  }

  private addChannels(connection: ConnectionOptions, runtime: ClientRuntime, first: number): void {
    const { contributors, contributorsPerSocket = 256 } = this.options;
    const sockets = Math.ceil((contributors - first) / contributorsPerSocket);
    for (let i = 0; i < sockets; i++) {
      this.multiplexers.push(new Multiplexer(connection, {
        pinnedKeys: () => (this.serverKey === null ? [] : [this.serverKey]),
        onDown: (reason, retryInMs) => this.onDown(reason, retryInMs),
      }));
    }
    for (const index of range(first, contributors)) {
      // Contributors are dealt to the sockets in turn. Otherwise some sockets would have only
      // hostile ones.
      const multiplexer = this.multiplexers[(index - first) % sockets]!;
      // One key for all studies: the parsed key is the larger part of a contributor's memory.
      const signer = this.signerOf(index);
      for (const [study, run] of this.runs) {
        const enrolment = this.options.enrolment?.(signer.publicKey, index);
        const channel = this.createChannel(study, run, { signer, enrolment }, runtime, index);
        run.channels[index] = channel;
        run.live += 1;
        multiplexer.add(channel);
      }
    }
  }

  private createChannel(
    study: string, run: StudyRun, who: Pick<ChannelOptions, 'signer' | 'enrolment'>,
    runtime: ClientRuntime, index: number,
  ): Channel {
    const channel = new SocketChannel({
      ...who,
      study,
      runtime,
      owner: {
        onReady: (ready) => {
          this.serverKey ??= channel.serverKey;
          if (!this.awaited.delete(channel)) return;
          this.wereReady += 1;
          if (ready.nextSequence > 1n || ready.holes.length > 0) {
            this.counters.usedBefore += 1;
            run.usedBefore(index, ready.epoch);
          }
          this.settleReadiness();
        },
        onEpoch: (epoch, closesInMs) => {
          const isNews = this.closing === null
            && run.hear(channel.study!.document, epoch, closesInMs);
          if (isNews) this.epochListener(study, epoch);
        },
        onPutOff: (code) => this.counters.count(this.counters.putOff, code),
        onEnded: (error) => this.onChannelEnded(study, run, channel, error),
      },
    });
    this.channels.push(channel);
    this.awaited.add(channel);
    return channel;
  }

  private signerOf(index: number): Signer {
    return signing.createSigner(contributorSeed(this.options.seed, index));
  }

  ready(): Promise<void> {
    return this.readiness;
  }

  statistics(): FleetStatistics {
    const ready = this.channels.reduce((count, channel) => count + (channel.number > 0 ? 1 : 0), 0);
    return this.counters.snapshot(this.multiplexers.length + this.groups.length, ready);
  }

  truth(study: string, epoch: bigint): Truth | null {
    return this.runs.get(study)?.truth(epoch) ?? null;
  }

  onEpoch(listener: (study: string, epoch: bigint) => void): void {
    this.epochListener = listener;
  }

  onReconnecting(listener: (reason: string, retryInMs: number) => void): void {
    this.downListener = listener;
  }

  onEnded(listener: (study: string, error: KeelsonError) => void): void {
    this.endListener = listener;
  }

  async close(): Promise<void> {
    for (const run of this.runs.values()) run.stop();
    await new Promise<void>((resolve) => {
      this.closing = resolve;
      this.closeWhenDone();
    });
    this.abort();
  }

  abort(): void {
    const error = new KeelsonError('closed', 'the fleet was stopped');
    for (const run of this.runs.values()) run.stop();
    for (const channel of this.channels) channel.end(error);
    for (const multiplexer of this.multiplexers) multiplexer.close();
    for (const group of this.groups) group.close();
    this.rejectReady(error);
  }

  private onChannelEnded(
    study: string, run: StudyRun, channel: Channel, error: KeelsonError,
  ): void {
    this.firstEnd ??= error;
    this.awaited.delete(channel);
    this.settleReadiness();
    if (error instanceof WireError && !endsStudy(error)) {
      this.counters.count(this.counters.turnedAway, error.code);
    }
    run.live -= 1;
    if (run.isEnded || (run.live > 0 && !endsStudy(error))) return;
    run.stop();
    this.endListener(study, error);
  }

  private onDown(reason: string, retryInMs: number): void {
    this.counters.reconnections += 1;
    this.downListener(reason, retryInMs);
  }

  private settleReadiness(): void {
    if (this.awaited.size > 0) return;
    if (this.wereReady > 0 || this.firstEnd === null) this.resolveReady();
    else this.rejectReady(this.firstEnd);
  }

  private closeWhenDone(): void {
    if (this.closing === null) return;
    for (const run of this.runs.values()) if (run.underWay > 0) return;
    this.closing();
  }
}

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, i) => start + i);
}

function checkOptions(options: FleetOptions): void {
  webSocketUrl(options.url);
  const { contributors, corruption = 0, studies, paceShare = 0.8 } = options;
  if (!Number.isInteger(contributors) || contributors < 1) {
    throw new InvalidParameterError(
      `contributors is ${contributors}: give an integer of at least 1`,
    );
  }
  if (!(corruption >= 0 && corruption < 1)) {
    throw new InvalidParameterError(
      `the fraction of liars is ${corruption}: give a number in [0, 1)`,
    );
  }
  if (!(paceShare > 0 && paceShare <= 1)) {
    throw new InvalidParameterError(`the pace share is ${paceShare}: give a number in (0, 1]`);
  }
  if (studies.length === 0 || new Set(studies).size !== studies.length) {
    throw new InvalidParameterError('give one or more different studies');
  }
}
