import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { describedOutcome, describedQuestions } from '../../src/answers/describe.js';
import { canonicalJson } from '../../src/base/canonical-json.js';
import { fromHex, toHex } from '../../src/base/bytes.js';
import type { WireCode } from '../../src/base/error-codes.js';
import { retryableWireCodes } from '../../src/base/error-codes.js';
import {
  signReady, signStatement, verifyBatch, verifyHello, verifyWithdrawal, type Nonces, type Signer,
} from '../../src/signing/index.js';
import { signing } from '#signing';
import {
  batchRows, decodeBatchBody, decodeClientFrame, encodeHeadBody, encodeReleaseBody,
  encodeServerFrame, encodeStudyDocument, ofShortAnswer, ofShortFacts, studyId as idOfFacts,
  subprotocol, type Ack, type BatchBody, type ClientFrame, type Hello, type Once,
  type ServerFrame, type SharedFacts, type ShortFacts, type SignedBatch, type SignedRelease,
  type StudyDocument, type WireStudyState, type Withdraw,
} from '../../src/wire/index.js';
import {
  server as sampleSigner, shortFacts, shortRelease, type ShortRelease,
} from './samples.js';
import { rowTexts, scriptedRefusal, type CutPoint, type TakenBatch } from './scripted-frames.js';
import { answerOnce } from './scripted-once.js';

interface Window {
  contiguous: bigint;
  readonly settled: Map<bigint, { readonly digest: string; readonly code: WireCode | null }>;
}

interface OpenChannel {
  unanswered: number;
  readonly hello: Hello;
  readonly verifier: ReturnType<typeof signing.createVerifier>;
}

/**
 * A scripted server for tests of clients: its members state what it refuses, withholds and forgets.
 * It keeps the rules of sequences, and nothing else of an aggregator.
 */
export class ScriptedServer {
  readonly taken: TakenBatch[] = [];
  /** Every batch frame that arrived: body bytes in hex. */
  readonly offered: string[] = [];
  hellos = 0;
  /** Tokens that came with them. */
  readonly enrolments: Uint8Array[] = [];
  subscriptions: bigint[] = [];
  epoch = 7n;
  /** The epoch that a cache in front of the server still names; null: there is no cache. */
  cachedEpoch: bigint | null = null;
  credit = 64;
  state: WireStudyState = 'open';
  releases: SignedRelease[] = [];
  /** Settles batches but tells nobody. */
  mute = false;
  /** Hears batches and does nothing. */
  deaf = false;
  /** Refuses instead of accepting; null accepts. Retryable codes leave the sequence free. */
  judge: (body: BatchBody) => WireCode | null = () => null;
  /** In a sealed study: 96 bytes for each server, its box key for the epoch and its signature. */
  boxKeys: readonly Uint8Array[] | null = null;
  /** Reads the signed bytes of a batch. */
  readBody: (bytes: Uint8Array) => BatchBody = decodeBatchBody;
  /** Answers this to Hello, and to contributions without a channel. */
  refuseHello: WireCode | null = null;
  readyForger: Signer | null = null;
  /** Signs the facts of the study in its place. */
  factsForger: Signer | null = null;
  /** Sends the newest release first, as to a slow reader. */
  skipOnce = false;
  /** Cuts every connection there, once. */
  cutAt: CutPoint | null = null;
  /** Answers a batch with a Refusal on its channel; null judges it. */
  refuseChannel: (body: BatchBody) => WireCode | null = () => null;
  /** Epochs that Withdraw frames named, in the order in which they came. */
  readonly asked: bigint[] = [];
  /** Epochs whose rows were taken back. */
  readonly withdrawn = new Set<bigint>();
  /** Answers a Withdraw with a Refusal on its channel, once for each code. */
  refuseWithdrawals: WireCode[] = [];
  /** Rows that an Ack has named as accepted, each as its numbers with commas between them. */
  readonly acknowledged = new Set<string>();
  /** The most batches of a channel that were unanswered at once. */
  maxInFlight = 0;
  /** Called for every action that no client may take. */
  onFault: (text: string) => void = (text) => { throw new Error(text); };
  /** Called when a key uses a sequence for a second body. */
  onReuse: (sequence: bigint) => void = () => undefined;
  facts: Uint8Array;
  /** The history of its key. */
  rotations: readonly Uint8Array[] = [];
  id = '';
  private readonly windows = new Map<string, Window>();
  /** The digest of each body by key and sequence, and the nonces of all Hellos. */
  private readonly bodies = new Map<string, string>();
  private readonly nonces = new Set<string>();
  private news: () => void = () => undefined;
  private changed = new Promise<void>((resolve) => { this.news = resolve; });
  private readonly sockets = new Set<WebSocket>();
  private server: WebSocketServer | null = null;
  private http: Server | null = null;
  port = 0;

  private constructor(public signer: Signer, public document: StudyDocument) {
    this.facts = encodeStudyDocument(document);
  }

  static async start(
    document: Partial<ShortFacts> | StudyDocument = {}, signer: Signer = sampleSigner,
  ): Promise<ScriptedServer> {
    const whole = 'questions' in document
      ? document : ofShortFacts({ ...shortFacts, ...document });
    const server = new ScriptedServer(signer, whole);
    await server.rename({});
    await server.listen();
    return server;
  }

  /** Resolves when the condition holds. Every frame, connection and end of one is looked at. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.changed;
  }

  private tell(): void {
    const { news } = this;
    this.changed = new Promise((resolve) => { this.news = resolve; });
    news();
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}`;
  }

  get studyId(): Uint8Array {
    return fromHex(this.id);
  }

  get connected(): number {
    return this.sockets.size;
  }

  async rename(change: Partial<SharedFacts>): Promise<void> {
    this.document = { ...this.document, ...change };
    this.facts = encodeStudyDocument(this.document);
    this.id = await idOfFacts(this.facts, signing);
  }

  /** Comes (back) up on the same port, with everything that it had settled. */
  async listen(): Promise<void> {
    const http = createServer((request, response) => {
      answerOnce(request, response, {
        studyId: this.id, take: (once) => this.onOnce(once),
        welcome: () => encodeServerFrame(
          this.welcome(new Uint8Array(32), this.cachedEpoch ?? this.epoch)),
      });
    });
    const server = new WebSocketServer({ server: http, handleProtocols: () => subprotocol });
    this.server = server;
    this.http = http;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      http.listen(this.port, '127.0.0.1', resolve);
    });
    this.port = (http.address() as AddressInfo).port;
    server.on('connection', (socket) => this.onSocket(socket));
  }

  /** Dies without a word. */
  async crash(): Promise<void> {
    for (const socket of this.sockets) socket.terminate();
    this.sockets.clear();
    this.server!.close();
    const closed = new Promise((resolve) => this.http!.close(resolve));
    this.http!.closeAllConnections();
    await closed;
  }

  dropSockets(): void {
    for (const socket of this.sockets) socket.terminate();
    this.sockets.clear();
  }

  /**
   * Resolves when every connected client has read all that was sent before, and all that it sent
   * meanwhile has arrived: a WebSocket keeps the order of its messages and its pongs.
   */
  async roundTrip(): Promise<void> {
    await Promise.all([...this.sockets].map((socket) => new Promise((resolve) => {
      socket.once('pong', resolve);
      socket.once('close', resolve);
      socket.ping();
    })));
  }

  openEpoch(epoch: bigint, closesInMs = 1000): void {
    this.epoch = epoch;
    this.notice(closesInMs);
  }

  stop(state: WireStudyState): void {
    this.state = state;
    this.epoch = 0n;
    this.notice(0);
    this.broadcast(this.head());
  }

  notice(closesInMs: number): void {
    this.broadcast({
      kind: 'notice', studyId: this.studyId, state: this.state, epoch: this.epoch,
      closesInMs: BigInt(closesInMs),
    });
  }

  /** Signs a release that continues the log; `previous` replaces the digest that it should name. */
  publish(previous?: Uint8Array, change: Partial<ShortRelease> = {}): SignedRelease {
    const release = this.signRelease(BigInt(this.releases.length), previous, change);
    this.releases.push(release);
    this.broadcast(release);
    return release;
  }

  signRelease(
    index: bigint, previous?: Uint8Array, change: Partial<ShortRelease> = {},
  ): SignedRelease {
    const before = index === 0n
      ? new Uint8Array(64) : signing.sha512(this.releases[Number(index) - 1]!.body);
    const { study, participation, cohort, columns } = this.document;
    const { estimator, parameters } = this.document.questions[0]!;
    const body = encodeReleaseBody(ofShortAnswer({
      ...shortRelease, serverKey: this.signer.publicKey, studyId: this.studyId, study, estimator,
      parameters: canonicalJson(parameters), participation, columns,
      cohort: BigInt(cohort), index, epoch: 7n + index,
      previousDigest: previous ?? before, ...change,
      outcome: describedOutcome(
        describedQuestions(this.document)[0]!, change.outcome ?? shortRelease.outcome),
    }));
    return {
      kind: 'release', body,
      signature: signStatement('release', this.signer, this.studyId, signing.sha512(body)),
    };
  }

  head(count = this.releases.length): ServerFrame {
    const digest = count === 0
      ? new Uint8Array(64) : signing.sha512(this.releases[count - 1]!.body);
    const body = encodeHeadBody({
      serverKey: this.signer.publicKey, studyId: this.studyId, count: BigInt(count), digest,
      state: this.state,
    });
    return {
      kind: 'head', body,
      signature: signStatement('head', this.signer, this.studyId, signing.sha512(body)),
    };
  }

  broadcast(frame: ServerFrame): void {
    const bytes = encodeServerFrame(frame);
    for (const socket of this.sockets) socket.send(bytes);
  }

  private onSocket(socket: WebSocket): void {
    this.sockets.add(socket);
    const channels: OpenChannel[] = [];
    const serverNonce = signing.randomBytes(32);
    const say = (frame: ServerFrame): void => socket.send(encodeServerFrame(frame));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.sockets.delete(socket);
      this.tell();
    });
    say(this.welcome(serverNonce));
    this.cut('welcome');
    socket.on('message', (data: Buffer) => {
      if (socket.readyState !== socket.OPEN) return;
      const frame = this.readFrame(data);
      if (frame?.kind === 'hello') this.onHello(frame, serverNonce, channels, say);
      else if (frame?.kind === 'batch') this.onBatch(frame, channels, say);
      else if (frame?.kind === 'withdraw') this.onWithdraw(frame, channels, say);
      else if (frame?.kind === 'subscribe') this.onSubscribe(frame.fromRelease, say);
      this.tell();
    });
    this.tell();
  }

  private welcome(serverNonce: Uint8Array, epoch = this.epoch): ServerFrame {
    const signer = this.factsForger ?? this.signer;
    return {
      kind: 'welcome', serverKey: this.signer.publicKey, serverNonce,
      limits: {
        frameBytes: 1 << 20, rowsPerBatch: 16, creditBatches: this.credit, channelsPerSocket: 64,
        sequenceWindow: 64,
      },
      studies: [{
        facts: this.facts, state: this.state, epoch,
        signature: signStatement('study', signer, this.studyId, signing.sha512(this.facts)),
      }],
      rotations: this.rotations,
    };
  }

  private readFrame(data: Uint8Array): ClientFrame | null {
    try {
      return decodeClientFrame(data);
    } catch (error) {
      this.onFault(`a frame that cannot be read: ${(error as Error).message}`);
      return null;
    }
  }

  /** Without a word to the client. A `terminate` discards what is still in the socket's buffer. */
  private cut(point: CutPoint): boolean {
    if (this.cutAt !== point) return false;
    this.cutAt = null;
    for (const socket of this.sockets) {
      // Messages that were sent before must arrive first.
      if (point === 'welcome' || point === 'ready' || point === 'ack') socket.close(1011);
      else socket.terminate();
    }
    this.sockets.clear();
    return true;
  }

  private onHello(
    hello: Hello, serverNonce: Uint8Array, channels: OpenChannel[],
    say: (frame: ServerFrame) => void,
  ): void {
    this.hellos += 1;
    if (hello.enrolment !== undefined) this.enrolments.push(hello.enrolment);
    const verifier = signing.createVerifier(hello.publicKey);
    const nonces = { serverNonce, clientNonce: hello.clientNonce };
    const context = { serverKey: this.signer.publicKey, studyId: hello.studyId };
    if (!verifyHello(verifier, context, nonces, hello.signature)) {
      return this.onFault('a Hello with a wrong signature');
    }
    if (this.nonces.has(toHex(hello.clientNonce))) this.onFault('a nonce of Hello came twice');
    this.nonces.add(toHex(hello.clientNonce));
    if (this.cut('hello')) return;
    if (this.refuseHello !== null) {
      return say(scriptedRefusal(this.refuseHello, hello));
    }
    channels.push({ hello, verifier, unanswered: 0 });
    say(this.ready(hello, channels.length, nonces));
    this.cut('ready');
  }

  private ready(hello: Hello, channel: number, nonces: Nonces): ServerFrame {
    const window = this.window(toHex(hello.publicKey));
    const next = [...window.settled.keys()].reduce((max, one) => (one > max ? one : max), 0n) + 1n;
    const holes: bigint[] = [];
    for (let i = window.contiguous + 1n; i < next; i++) if (!window.settled.has(i)) holes.push(i);
    return {
      kind: 'ready', channel, studyId: hello.studyId, publicKey: hello.publicKey,
      epoch: this.epoch,
      signature: signReady(this.readyForger ?? this.signer, hello.studyId, hello.publicKey, nonces),
      nextSequence: next, holes, credit: this.credit, ownSpend: null,
      ...(this.boxKeys !== null && { boxKeys: this.boxKeys }),
    };
  }

  private onBatch(
    frame: SignedBatch, channels: OpenChannel[], say: (frame: ServerFrame) => void,
  ): void {
    this.offered.push(toHex(frame.body));
    const channel = channels[frame.channel - 1];
    if (channel === undefined) return this.onFault(`a batch on the unknown channel ${frame.channel}`);
    const { hello, verifier } = channel;
    channel.unanswered += 1;
    this.maxInFlight = Math.max(this.maxInFlight, channel.unanswered);
    const { studyId, publicKey } = hello;
    const body = this.verifiedBody({ ...frame, studyId, publicKey }, verifier);
    if (body === null) return;
    const digest = signing.sha512(frame.body);
    if (this.deaf || this.cut('batch')) return;
    const { epoch, credit } = this;
    const refusal = this.refuseChannel(body);
    if (refusal !== null) {
      channel.unanswered -= 1;
      const study = refusal === 'unknown-channel' ? {} : { studyId: hello.studyId };
      return say(scriptedRefusal(refusal, { channel: frame.channel, ...study }));
    }
    const code = this.settle(toHex(hello.publicKey), body, toHex(digest));
    if (this.mute || this.cut('stored')) return;
    // Answers leave in the next turn, so that frames sent together are unanswered together.
    setImmediate(() => {
      channel.unanswered -= 1;
      say({ ...this.verdict(body, code), channel: frame.channel, epoch, credit });
      this.cut('ack');
      this.tell();
    });
  }

  /** @returns null for a wrong signature. */
  private verifiedBody(once: Once, verifier: OpenChannel['verifier']): BatchBody | null {
    const { studyId, publicKey } = once;
    const digest = signing.sha512(once.body);
    const context = { serverKey: this.signer.publicKey, studyId };
    if (!verifyBatch(verifier, context, digest, once.signature)) {
      this.onFault('a batch with a wrong signature');
      return null;
    }
    const body = this.readBody(once.body);
    this.watchSequence(toHex(publicKey), body.sequence, toHex(digest));
    return body;
  }

  private verdict(body: BatchBody, code: WireCode | null): Ack {
    if (code === null) for (const row of rowTexts(body)) this.acknowledged.add(row);
    const retryable = code !== null && retryableWireCodes.has(code);
    return {
      kind: 'ack', channel: 0, epoch: this.epoch, credit: 0,
      accepted: code === null ? [body.sequence] : [],
      rejections: code === null
        ? [] : [{ sequence: body.sequence, code, retryable, text: 'scripted' }],
    };
  }

  /** @returns null for no answer. */
  private onOnce(once: Once): ServerFrame | null {
    const { publicKey, enrolment } = once;
    this.offered.push(toHex(once.body));
    if (enrolment !== undefined) this.enrolments.push(enrolment);
    this.tell();
    const body = this.verifiedBody(once, signing.createVerifier(publicKey));
    if (body === null || this.deaf) return null;
    if (this.refuseHello !== null) return scriptedRefusal(this.refuseHello, once);
    const code = this.settle(toHex(publicKey), body, toHex(signing.sha512(once.body)));
    return this.mute ? null : this.verdict(body, code);
  }

  private watchSequence(contributor: string, sequence: bigint, digest: string): void {
    const name = `${contributor} ${sequence}`;
    const before = this.bodies.get(name) ?? digest;
    if (before !== digest) this.onReuse(sequence);
    this.bodies.set(name, before);
  }

  /** The rules of the store, in short. */
  private settle(contributor: string, body: BatchBody, digest: string): WireCode | null {
    const window = this.window(contributor);
    const before = window.settled.get(body.sequence);
    if (before !== undefined) return before.digest === digest ? before.code : 'mutated';
    if (body.sequence > window.contiguous + 64n) return 'sequence-too-far';
    const code = this.judge(body);
    if (code !== null && retryableWireCodes.has(code)) return code;
    window.settled.set(body.sequence, { digest, code });
    while (window.settled.has(window.contiguous + 1n)) window.contiguous += 1n;
    if (code === null && this.document.sealed === undefined) {
      const { sequence, epoch, last, rows, cells } = body;
      const values = batchRows(body, this.document.types);
      this.taken.push({
        contributor, sequence, epoch, last, rows, values, ...(cells !== undefined && { cells }),
      });
    }
    return code;
  }

  private onWithdraw(
    { channel: number, epoch, signature }: Withdraw, channels: OpenChannel[],
    say: (frame: ServerFrame) => void,
  ): void {
    const channel = channels[number - 1];
    if (channel === undefined) return this.onFault(`Withdraw on the unknown channel ${number}`);
    const { hello: { studyId }, verifier, unanswered } = channel;
    const context = { serverKey: this.signer.publicKey, studyId };
    if (!verifyWithdrawal(verifier, context, epoch, signature)) {
      return this.onFault('Withdraw with a wrong signature');
    }
    if (unanswered > 0) return this.onFault('Withdraw came before the answers to all batches');
    if (epoch === 0n) return this.onFault('Withdraw names no epoch');
    this.asked.push(epoch);
    const code = this.refuseWithdrawals.shift();
    if (code !== undefined) {
      return say(scriptedRefusal(code, { channel: number, studyId }));
    }
    this.withdrawn.add(epoch);
    if (this.cut('withdrawal')) return;
    say({
      kind: 'ack', channel: number, epoch: this.epoch, credit: this.credit, accepted: [],
      rejections: [], withdrawn: epoch,
    });
  }

  private onSubscribe(from: bigint, say: (frame: ServerFrame) => void): void {
    this.subscriptions.push(from);
    const start = this.skipOnce ? Math.max(Number(from), this.releases.length - 1) : Number(from);
    this.skipOnce = false;
    for (const release of this.releases.slice(start)) say(release);
    say(this.head());
  }

  window(contributor: string): Window {
    const found = this.windows.get(contributor) ?? { contiguous: 0n, settled: new Map() };
    this.windows.set(contributor, found);
    return found;
  }
}
