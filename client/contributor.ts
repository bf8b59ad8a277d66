import { openTransport as platformTransport } from '#websocket';
import { equalBytes, fromHex } from '../src/base/bytes.js';
import { InvalidParameterError, KeelsonError, WireError } from '../src/base/errors.js';
import type { AsyncSigner } from '../src/signing/index.js';
import type { Spend } from '../src/wire/index.js';
import type { StudyDocument } from '../src/wire/study-document.js';
import type { Contributor, ContributorOptions } from './contributor-contract.js';
import { clientDefaults, systemRuntime } from './base/defaults.js';
import { signing } from './base/signing.js';
import { withHttpFallback, type Via } from './http/fallback.js';
import type { ClientRuntime } from './base/runtime.js';
import type { Outbox, OutboxItem } from './outbox/contract.js';
import { memoryOutbox } from './outbox/memory.js';
import {
  areNumbers, flattenRows, numbersOf, type RowNumbers, type RowsInput, type TypedRow,
} from './rows.js';
import { Broadcast } from './session/broadcast.js';
import type { ChannelOptions } from './session/channel-contract.js';
import type { Channel } from './session/channel.js';
import type { Batch, Contribution } from './session/contribution.js';
import { checkedKey } from './session/handshake.js';
import { Multiplexer } from './session/multiplexer.js';
import { SocketChannel } from './session/socket-channel.js';
import type { Settled } from './session/settled.js';
import type { ContributorState, ContributorStatus, OpenEpochNews } from './status.js';
import type { OpenTransport } from './websocket/contract.js';
import { webSocketUrl } from './websocket/url.js';

/**
 * Connects a contributor; returns at once and keeps trying until `close` or `abort`.
 * @throws InvalidParameterError for a URL, seed, key or token that can never work.
 * @example
 * const url = 'ws://127.0.0.1:8787';
 * const outbox = await openOutbox('alice.outbox');
 * const contributor = createContributor({ url, study: 'flight-delays', seed, outbox });
 * const result = await contributor.contribute([[12, 640], [3, 233]]);
 * if (result.kind === 'refused') console.error(result.error.code, result.error.message);
 * await contributor.close();
 */
export function createContributor<Row extends TypedRow = TypedRow>(
  options: ContributorOptions,
): Contributor<Row> {
  return new NetworkContributor(options, {
    via: 'websocket',
    channel: (channelOptions) => new SocketChannel(channelOptions),
    transport: (runtime, onVia) => withHttpFallback(platformTransport, {
      runtime, onVia, socketFirst: options.encryptedOnly,
      overHttp: async (url, handlers) => {
        const { UploadTransport } = await import('./http/uploads.js');
        return new UploadTransport(url, handlers, runtime);
      },
    }),
  });
}

/** The way in which the rows of a contributor travel. */
export interface Network {
  /** At first. */
  readonly via: Via;
  channel(options: ChannelOptions): Channel;
  /** @param end ends the contributor, for a server that can never be used. */
  transport(
    runtime: ClientRuntime, onVia: (via: Via, reason: string) => void,
    end: (error: KeelsonError) => void,
  ): OpenTransport;
}

export class NetworkContributor implements Contributor {
  readonly publicKey: Promise<Uint8Array>;
  private readonly outbox: Outbox;
  private readonly channel: Channel;
  private readonly multiplexer: Multiplexer;
  private readonly statusNews = new Broadcast<ContributorStatus>();
  private readonly epochNews = new Broadcast<OpenEpochNews>();
  private readonly loaded: Promise<void>;
  private readonly studyKnown: Promise<StudyDocument>;
  private readonly signal: AbortSignal | undefined;
  private readonly abortListener = (): void => this.abort();
  private resolveStudy!: (document: StudyDocument) => void;
  private rejectStudy!: (error: KeelsonError) => void;
  /** Known keys of the server: the given one, and the one in the outbox. */
  private pins: readonly Uint8Array[];
  private kept: Uint8Array | null = null;
  private current: ContributorState = { kind: 'connecting' };
  private travelsVia: Via;
  private spend: Spend | null = null;
  private newestEpoch = 0n;
  private nextId = 1;
  private waitingBytes = 0;
  /** Number of unsettled sends, in the channel or before it. */
  private unsettled = 0;
  private closing: { readonly done: Promise<void>; readonly finish: () => void } | null = null;
  private released: Promise<void> | null = null;

  constructor(options: ContributorOptions, network: Network) {
    webSocketUrl(options.url);
    this.travelsVia = network.via;
    this.signal = options.signal;
    this.pins = options.serverKey === undefined
      ? [] : [checkedKey(options.serverKey, 'the server key')];
    const signer = Promise.resolve(signing.createSigner(options.seed));
    this.publicKey = signer.then(({ publicKey }) => publicKey);
    this.outbox = options.outbox ?? memoryOutbox();
    const runtime = options.runtime ?? systemRuntime;
    this.studyKnown = new Promise((resolve, reject) => {
      this.resolveStudy = resolve;
      this.rejectStudy = reject;
    });
    // A caller may never ask for the study. The status then reports its failure.
    this.studyKnown.catch(() => undefined);
    this.channel = network.channel({
      study: options.study,
      runtime,
      outbox: this.outbox,
      enrolment: enrolmentOf(options.enrolment),
      encryptedOnly: options.encryptedOnly,
      sealing: options.sealing,
      ...(options.dataType !== undefined && { dataType: options.dataType }),
      owner: {
        onProven: () => this.onProven(),
        onReady: (ready) => {
          this.spend = ready.ownSpend;
          this.show(ready.epoch, null);
        },
        onSpend: (spend) => { this.spend = spend; },
        onEpoch: (epoch, closesInMs) => this.onEpoch(epoch, closesInMs),
        onPutOff: (code) => this.statusNews.publish({ kind: 'put-off', code }),
        onEnded: (error) => this.onEnded(error),
      },
    });
    this.multiplexer = new Multiplexer(
      {
        ...options,
        runtime,
        openTransport: options.openTransport ?? network.transport(runtime, (via, reason) => {
          this.travelsVia = via;
          this.statusNews.publish({ kind: 'via', via, reason });
        }, (error) => this.channel.end(error)),
      },
      {
        pinnedKeys: () => this.pins,
        onDown: (reason, retryInMs, attempt) =>
          this.setState({ kind: 'reconnecting', reason, retryInMs, attempt }),
      },
    );
    this.loaded = this.load(signer);
    options.signal?.addEventListener('abort', this.abortListener, { once: true });
    if (options.signal?.aborted === true) this.abort();
  }

  get state(): ContributorState {
    return this.current;
  }

  get via(): Via {
    return this.travelsVia;
  }

  get ownSpend(): Spend | null {
    return this.spend;
  }

  study(): Promise<StudyDocument> {
    return this.studyKnown;
  }

  send(rows: RowsInput, options: { readonly last?: boolean } = {}): Promise<Settled> {
    return new Promise((resolve, reject) => {
      if (this.current.kind === 'ended' && this.current.error !== null) throw this.current.error;
      if (this.closing !== null) {
        throw new KeelsonError('closed', 'this contributor is closing: create another');
      }
      const numbers = this.numbersIn(rows);
      // Only the study determines how many numbers the other rows have: at least one each.
      const byteLength = numbers instanceof Promise ? 8 * rows.length : numbers.values.byteLength;
      if (this.waitingBytes + byteLength > clientDefaults.waitingBytesMax) {
        throw new KeelsonError(
          'overloaded',
          `more than ${clientDefaults.waitingBytesMax} bytes of rows wait already: await earlier `
            + 'sends first',
        );
      }
      this.waitingBytes += byteLength;
      this.unsettled += 1;
      const over = (): void => {
        this.waitingBytes -= byteLength;
        this.onSettled();
      };
      const last = options.last ?? false;
      const first = rows[0];
      const given =
        Array.isArray(first) || first instanceof Float64Array ? first.length : undefined;
      void Promise.all([numbers, this.loaded]).then(([found]) => {
        this.submit({
          id: this.nextId++,
          last,
          ...found,
          ...(given !== undefined && { columns: given }),
          batches: [],
          refusal: null,
          finish: (result) => { resolve(result); over(); },
          fail: (error) => { reject(error); over(); },
        });
      }).catch((error: Error) => {
        reject(error);
        over();
      });
    });
  }

  /** Numbers, copied at once. Rows with names or types become numbers once the study is known. */
  private numbersIn(rows: RowsInput): RowNumbers | Promise<RowNumbers> {
    const document = this.channel.study?.document;
    if (areNumbers(rows)) return { values: flattenRows(rows, document?.columns.length ?? null) };
    if (document !== undefined) return numbersOf(rows, document);
    // The caller may change its own rows.
    const own = structuredClone(rows);
    return this.studyKnown.then((study) => numbersOf(own, study));
  }

  contribute(rows: RowsInput): Promise<Settled> {
    return this.send(rows, { last: true });
  }

  withdraw(epoch?: bigint): Promise<bigint> {
    this.unsettled += 1;
    return this.loaded.then(() => this.channel.withdraw(epoch)).finally(() => this.onSettled());
  }

  status(): AsyncIterable<ContributorStatus> {
    return this.statusNews.stream([this.current]);
  }

  epochs(): AsyncIterable<OpenEpochNews> {
    const { current } = this;
    return this.epochNews.stream(current.kind === 'ready' ? [current] : []);
  }

  close(): Promise<void> {
    if (this.closing === null) {
      let finish!: () => void;
      const done = new Promise<void>((resolve) => { finish = resolve; });
      this.closing = { done, finish };
      void this.loaded.then(() => this.closeWhenDone());
    }
    return this.closing.done;
  }

  abort(): void {
    this.channel.end(new KeelsonError('closed', 'the contributor was aborted'));
  }

  /**
   * Reads the rows that an earlier run left, then connects. Never rejects: failures end the
   * contributor.
   */
  private async load(signer: Promise<AsyncSigner>): Promise<void> {
    try {
      const contents = await this.outbox.load();
      this.channel.signer = await signer;
      if (contents.pin !== null) {
        if (!equalBytes(contents.pin.contributor, this.channel.signer.publicKey)) {
          throw new KeelsonError(
            'outbox-failed', 'this outbox belongs to another key: use one outbox per key',
          );
        }
        this.kept = contents.pin.serverKey;
        this.pins = [...this.pins, this.kept];
        this.channel.insistOn(contents.pin.studyId);
      }
      this.channel.startAt(contents.nextSequence);
      for (const item of contents.items) this.restore(item);
      if (this.channel.isEnded) return;
      this.multiplexer.add(this.channel);
      this.multiplexer.open();
    } catch (error) {
      const wrapped =
        new KeelsonError('outbox-failed', 'the outbox cannot be read', { cause: error });
      this.channel.end(error instanceof KeelsonError ? error : wrapped);
    }
  }

  private restore(item: OutboxItem): void {
    this.unsettled += 1;
    this.nextId = Math.max(this.nextId, item.id + 1);
    const contribution: Contribution = {
      id: item.id,
      last: item.last,
      values: item.values,
      ...(item.texts !== undefined && { texts: item.texts }),
      ...(item.columns !== undefined && { columns: item.columns }),
      batches: [],
      refusal: null,
      finish: (result) => {
        this.statusNews.publish({ kind: 'recovered', result });
        this.onSettled();
      },
      fail: (error) => {
        // Rows that can never be sent are lost, so this is reported. After any other error a later
        // run finds them again.
        if (error instanceof InvalidParameterError) {
          const refusal =
            new WireError('wrong-columns', error.message, { retryable: false, cause: error });
          this.statusNews.publish({
            kind: 'recovered', result: { kind: 'refused', error: refusal, sequences: [] },
          });
        }
        this.onSettled();
      },
    };
    if (item.values !== null) {
      this.channel.submit(contribution);
      return;
    }
    contribution.batches = item.batches.map(
      (batch): Batch =>
        ({ ...batch, contribution, place: 'waiting', offered: true, renumbered: 0 }),
    );
    this.channel.restore(contribution.batches);
  }

  private submit(contribution: Contribution): void {
    // Rows that cannot be signed at once are stored until they can.
    if (!this.channel.submit(contribution)) return;
    const { id, values, last, columns, texts } = contribution;
    this.outbox.keep(id, values!, last, columns, texts).then(
      () => this.statusNews.publish({ kind: 'kept' }),
      (error: unknown) => {
        const wrapped = new KeelsonError('outbox-failed', 'rows cannot be kept', { cause: error });
        this.channel.end(error instanceof KeelsonError ? error : wrapped);
      },
    );
  }

  private onProven(): Promise<void> | undefined {
    const study = this.channel.study!;
    const serverKey = this.channel.serverKey!;
    this.resolveStudy(study.document);
    // A key that the pinned key led to is pinned in its place from now on.
    if (this.kept !== null && equalBytes(this.kept, serverKey)) return undefined;
    this.kept = serverKey;
    this.pins = [serverKey];
    const contributor = this.channel.signer.publicKey;
    return this.outbox.pin({ serverKey, studyId: study.studyId, contributor });
  }

  private onEpoch(epoch: bigint, closesInMs: number | null): void {
    // The server may report one epoch twice: in Ready, and in the Notice with its end.
    if (epoch > this.newestEpoch) {
      this.newestEpoch = epoch;
      this.epochNews.publish({ epoch, closesInMs });
    }
    this.show(epoch, closesInMs);
  }

  private show(epoch: bigint, closesInMs: number | null): void {
    this.setState(epoch === 0n
      ? { kind: 'waiting-for-epoch' } : { kind: 'ready', epoch, closesInMs });
  }

  private setState(state: ContributorState): void {
    const { current } = this;
    if (current.kind === 'ended') return;
    // One connection can lead to `ready` twice: through Ready itself, and through the epoch in it.
    const repeated =
      current.kind === 'ready' && state.kind === 'ready' && current.epoch === state.epoch
        && state.closesInMs === null;
    if (repeated || (current.kind === 'waiting-for-epoch' && state.kind === current.kind)) return;
    this.current = state;
    this.statusNews.publish(state);
  }

  private onSettled(): void {
    this.unsettled -= 1;
    this.closeWhenDone();
  }

  private closeWhenDone(): void {
    if (this.closing !== null && this.unsettled === 0) this.release(null);
  }

  private onEnded(error: KeelsonError): void {
    this.rejectStudy(error);
    this.release(error);
  }

  /** Releases socket and outbox, once. */
  private release(error: KeelsonError | null): void {
    if (this.released !== null) return;
    this.signal?.removeEventListener('abort', this.abortListener);
    this.multiplexer.close();
    this.setState({ kind: 'ended', error });
    this.released = this.outbox.close().catch(() => undefined);
    this.rejectStudy(error
      ?? new KeelsonError('closed', 'the contributor was closed before it had connected'));
    this.channel.end(error
      ?? new KeelsonError('closed', 'this contributor is closed: create another'));
    this.statusNews.close();
    this.epochNews.close();
    if (this.closing === null) this.closing = { done: this.released, finish: () => undefined };
    else void this.released.then(this.closing.finish);
  }
}

function enrolmentOf(given: ContributorOptions['enrolment']): ChannelOptions['enrolment'] {
  if (given === undefined) return undefined;
  return typeof given === 'string'
    ? fromHex(given.trim()) : async (study) => fromHex(await given(study));
}

/**
 * Checks a seed as `createContributor` does, and returns its public key.
 * @throws InvalidParameterError unless it has 32 bytes.
 */
export async function publicKeyOf(seed: Uint8Array): Promise<Uint8Array> {
  if (seed.length !== 32) {
    throw new InvalidParameterError(`a seed has 32 bytes, not ${seed.length}`);
  }
  return (await signing.createSigner(seed)).publicKey;
}
