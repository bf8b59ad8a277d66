import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { fromHex, toHex } from '../../src/base/bytes.js';
import type { WireCode } from '../../src/base/error-codes.js';
import { retryableWireCodes } from '../../src/base/error-codes.js';
import {
  signStatement, verifyBatch, verifyWithdrawal, type Signer, type Verifier,
} from '../../src/signing/index.js';
import { signing } from '#signing';
import {
  batchRows, decodeBatchBody, decodeClientFrame, encodeServerFrame, encodeStudyDocument,
  encryptedSubprotocol, ofShortFacts, studyId as idOfFacts, subprotocol,
  type Ack, type BatchBody, type ClientFrame, type EncryptedBatch, type Hello, type Once,
  type Open, type Ready, type ServerFrame, type SharedFacts, type ShortFacts, type SignedBatch,
  type SignedRelease, type StudyDocument, type WireStudyState, type Welcome, type Withdraw,
} from '../../src/wire/index.js';
import { server as sampleSigner, shortFacts, type ShortRelease } from './samples.js';
import { ScriptedShare, type ScriptedCipher, type ShareKind } from './scripted-encryption.js';
import { rowTexts, scriptedRefusal, type CutPoint, type TakenBatch } from './scripted-frames.js';
import { answerOnce } from './scripted-once.js';
import { scriptedHead, scriptedRelease } from './scripted-releases.js';
import {
  ackOn, answerTo, provenCipher, type OpenChannel, type Session,
} from './scripted-session.js';
import { ScriptedWindows } from './scripted-windows.js';

const nameOfFresh = { hello: 'a nonce of Hello', open: 'a client share' } as const;

/**
 * A scripted server for tests of clients: its members state what it refuses, withholds and forgets.
 * It keeps the rules of sequences, and nothing else of an aggregator.
 */
export class ScriptedServer {
  readonly taken: TakenBatch[] = [];
  /** Every batch frame that arrived: body bytes in hex. */
  readonly offered: string[] = [];
  /** Hellos and Opens. */
  hellos = 0;
  opens = 0;
  /** Connections so far. */
  connections = 0;
  /** Tokens that came with them. */
  readonly enrolments: Uint8Array[] = [];
  subscriptions: bigint[] = [];
  epoch = 7n;
  /** The epoch that a cache in front of the server still names; null: there is no cache. */
  cachedEpoch: bigint | null = null;
  credit = 64;
  /** Takes `keelson.v2` where a client offers it. */
  isEncrypted = false;
  /** Its answers to who has no channel: see OnceScript. */
  readonly once = { encryptedOnly: false, isAskedByName: false };
  shareKind: ShareKind = 'good';
  /** Answers so many Opens with `stale-share`. */
  staleShares = 0;
  /** The most batches of an encrypted channel. */
  channelFrames = Infinity;
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
  readonly windows = new ScriptedWindows();
  /** Nonces and shares of all clients. */
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
        ...this.once, studyId: this.id, take: (once) => this.onOnce(once),
        welcome: () => encodeServerFrame(
          this.welcome(new Uint8Array(32), this.cachedEpoch ?? this.epoch)),
      });
    });
    const server = new WebSocketServer({
      server: http, handleProtocols: (offered) => (
        this.isEncrypted && offered.has(encryptedSubprotocol) ? encryptedSubprotocol : subprotocol),
    });
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
    this.broadcast(scriptedHead(this, this.releases.length));
  }

  notice(closesInMs: number): void {
    this.broadcast({
      kind: 'notice', studyId: this.studyId, state: this.state, epoch: this.epoch,
      closesInMs: BigInt(closesInMs),
    });
  }

  /** Signs a release that continues the log; `previous` replaces the digest that it should name. */
  publish(previous?: Uint8Array, change: Partial<ShortRelease> = {}): SignedRelease {
    const release = scriptedRelease(this, BigInt(this.releases.length), previous, change);
    this.releases.push(release);
    this.broadcast(release);
    return release;
  }

  broadcast(frame: ServerFrame): void {
    const bytes = encodeServerFrame(frame);
    for (const socket of this.sockets) socket.send(bytes);
  }

  private onSocket(socket: WebSocket): void {
    this.sockets.add(socket);
    this.connections += 1;
    const say = (frame: ServerFrame): void => socket.send(encodeServerFrame(frame));
    const session: Session = {
      serverNonce: signing.randomBytes(32), greetings: 0, channels: new Map(), say,
      share: socket.protocol === encryptedSubprotocol
        ? new ScriptedShare(this.signer, this.shareKind) : null,
    };
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.sockets.delete(socket);
      this.tell();
    });
    say({
      ...this.welcome(session.serverNonce),
      ...(session.share !== null && { share: session.share.stated }),
    });
    this.cut('welcome');
    socket.on('message', (data: Buffer) => {
      if (socket.readyState !== socket.OPEN) return;
      const frame = this.readFrame(data);
      if (frame?.kind === 'hello' || frame?.kind === 'open') this.onHello(frame, session);
      else if (frame?.kind === 'batch') this.onBatch(frame, session);
      else if (frame?.kind === 'encrypted-batch') this.onEncryptedBatch(frame, session);
      else if (frame?.kind === 'withdraw') this.onWithdraw(frame, session);
      else if (frame?.kind === 'subscribe') this.onSubscribe(frame.fromRelease, say);
      this.tell();
    });
    this.tell();
  }

  private welcome(serverNonce: Uint8Array, epoch = this.epoch): Welcome {
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

  private onHello(hello: Hello | Open, session: Session): void {
    this.hellos += 1;
    if (hello.kind === 'open') this.opens += 1;
    const number = ++session.greetings;
    if (hello.enrolment !== undefined) this.enrolments.push(hello.enrolment);
    const verifier = signing.createVerifier(hello.publicKey);
    const cipher = this.proven(hello, verifier, session);
    if (cipher === undefined || this.cut('hello')) return;
    const refusal = this.refuseHello
      ?? (hello.kind === 'open' && this.staleShares-- > 0 ? 'stale-share' : null);
    if (refusal !== null) return session.say(scriptedRefusal(refusal, hello));
    const channel = { number, hello, verifier, cipher, unanswered: 0 };
    session.channels.set(number, channel);
    const signer = this.readyForger ?? this.signer;
    session.say(answerTo(channel, session, this.ready(hello, number), signer));
    this.cut('ready');
  }

  /** @returns undefined where something is wrong with it. */
  private proven(
    hello: Hello | Open, verifier: Verifier, session: Session,
  ): ScriptedCipher | null | undefined {
    const fresh = toHex(hello.kind === 'open' ? hello.clientShare : hello.clientNonce);
    const isGood = this.shareKind === 'good';
    if (hello.kind === 'open' && !isGood) this.onFault(`Open for a share of ${this.shareKind}`);
    if (hello.kind === 'hello' && session.share !== null && isGood) {
      this.onFault('Hello in place of Open on a socket with encrypted channels');
    }
    if (this.nonces.has(fresh)) this.onFault(`${nameOfFresh[hello.kind]} came twice`);
    this.nonces.add(fresh);
    try {
      return provenCipher(hello, verifier, session, this.signer.publicKey);
    } catch (error) {
      return void this.onFault((error as Error).message);
    }
  }

  private ready(
    { studyId, publicKey }: Hello | Open, channel: number,
  ): Omit<Ready, 'signature'> {
    return {
      kind: 'ready', channel, studyId, publicKey, epoch: this.epoch, credit: this.credit,
      ownSpend: null, ...this.windows.free(toHex(publicKey)),
      ...(this.boxKeys !== null && { boxKeys: this.boxKeys }),
    };
  }

  private channelOf(
    { channel: number }: { readonly channel: number }, { channels }: Session,
  ): OpenChannel | undefined {
    const channel = channels.get(number);
    if (channel === undefined) this.onFault(`a frame of the unknown channel ${number}`);
    return channel;
  }

  private onBatch(frame: SignedBatch, session: Session): void {
    this.offered.push(toHex(frame.body));
    const channel = this.channelOf(frame, session);
    if (channel === undefined) return;
    if (channel.cipher !== null) return this.onFault('a signed batch on an encrypted channel');
    const { hello: { studyId, publicKey }, verifier } = channel;
    const body = this.verifiedBody({ ...frame, studyId, publicKey }, verifier);
    if (body !== null) this.onBody(body, toHex(signing.sha512(frame.body)), channel, session);
  }

  private onEncryptedBatch(frame: EncryptedBatch, session: Session): void {
    const channel = this.channelOf(frame, session);
    if (channel === undefined) return;
    const { number, cipher, hello } = channel;
    if (cipher === null) return this.onFault('an encrypted batch on a channel of Hello');
    if (cipher.came >= this.channelFrames) {
      return session.say(scriptedRefusal('unknown-channel', { channel: number }));
    }
    try {
      const { body: bytes, digest } = cipher.open(frame.encrypted);
      this.offered.push(toHex(bytes));
      const body = decodeBatchBody(bytes);
      this.watchSequence(toHex(hello.publicKey), body.sequence, toHex(digest));
      this.onBody(body, toHex(digest), channel, session);
    } catch (error) {
      this.onFault((error as Error).message);
    }
  }

  private onBody(
    body: BatchBody, digest: string, channel: OpenChannel, { say }: Session,
  ): void {
    const { hello: { studyId, publicKey }, number } = channel;
    channel.unanswered += 1;
    this.maxInFlight = Math.max(this.maxInFlight, channel.unanswered);
    if (this.deaf || this.cut('batch')) return;
    const { epoch, credit } = this;
    const refusal = this.refuseChannel(body);
    if (refusal !== null) {
      channel.unanswered -= 1;
      const study = refusal === 'unknown-channel' ? {} : { studyId };
      return say(scriptedRefusal(refusal, { channel: number, ...study }));
    }
    const code = this.settle(toHex(publicKey), body, digest);
    if (this.mute || this.cut('stored')) return;
    // Answers leave in the next turn, so that frames sent together are unanswered together.
    setImmediate(() => {
      channel.unanswered -= 1;
      say(ackOn(channel, { ...this.verdict(body, code), epoch, credit }));
      this.cut('ack');
      this.tell();
    });
  }

  /** @returns null for a wrong signature. */
  private verifiedBody(once: Once, verifier: Verifier): BatchBody | null {
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
    if (this.windows.isReused(contributor, sequence, digest)) this.onReuse(sequence);
  }

  private settle(contributor: string, body: BatchBody, digest: string): WireCode | null {
    return this.windows.settle(contributor, body, digest, this.judge, () => {
      if (this.document.sealed !== undefined) return;
      const { sequence, epoch, last, rows, cells } = body;
      const values = batchRows(body, this.document.types);
      this.taken.push({
        contributor, sequence, epoch, last, rows, values, ...(cells !== undefined && { cells }),
      });
    });
  }

  private onWithdraw(frame: Withdraw, session: Session): void {
    const { channel: number, epoch, signature } = frame;
    const channel = this.channelOf(frame, session);
    if (channel === undefined) return;
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
      return session.say(scriptedRefusal(code, { channel: number, studyId }));
    }
    this.withdrawn.add(epoch);
    if (this.cut('withdrawal')) return;
    session.say(ackOn(channel, {
      kind: 'ack', epoch: this.epoch, credit: this.credit, accepted: [], rejections: [],
      withdrawn: epoch,
    }));
  }

  private onSubscribe(from: bigint, say: (frame: ServerFrame) => void): void {
    this.subscriptions.push(from);
    const start = this.skipOnce ? Math.max(Number(from), this.releases.length - 1) : Number(from);
    this.skipOnce = false;
    for (const release of this.releases.slice(start)) say(release);
    say(scriptedHead(this, this.releases.length));
  }
}
