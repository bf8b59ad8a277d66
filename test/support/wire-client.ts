import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { WebSocket, type ClientOptions } from 'ws';
import { fromHex } from '../../src/base/bytes.js';
import { signBatch, signHello, signWithdrawal, type Signer } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import {
  decodeServerFrame, encodeBatchBody, encodeClientFrame, encodeRows, subprotocol,
  type Ack, type BatchBody, type ClientFrame, type Hello, type Ready, type Refusal,
  type ServerFrame, type SignedBatch, type Welcome, type Withdraw,
} from '../../src/wire/index.js';
import { Changes } from './until.js';

type Kind = ServerFrame['kind'];
type FrameOf<K extends Kind> = Extract<ServerFrame, { kind: K }>;

/** A header with a list is sent as several; the types of ws know none of these. */
interface WireClientOptions extends Omit<ClientOptions, 'headers'> {
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

/** A client with no manners of its own: sends what it is told, keeps all that comes. */
export class WireClient {
  readonly frames: ServerFrame[] = [];
  /** Set when the server closed the connection. */
  closeCode: number | undefined;
  closeReason = '';
  readonly #taken = new Set<ServerFrame>();
  readonly #changes = new Changes();

  private constructor(readonly ws: WebSocket) {
    ws.on('message', (data: Buffer) => {
      this.frames.push(decodeServerFrame(data));
      this.#changes.tell();
    });
    ws.on('error', () => undefined);
    ws.on('close', (code, reason) => {
      this.closeCode = code;
      this.closeReason = String(reason);
      this.#changes.tell();
    });
  }

  static async open(
    port: number, options: WireClientOptions = {}, url = `ws://127.0.0.1:${port}/`,
    protocol: string = subprotocol,
  ): Promise<WireClient> {
    const ws =
      new WebSocket(url, protocol, { perMessageDeflate: false, ...options as ClientOptions });
    const client = new WireClient(ws);
    await once(ws, 'open');
    return client;
  }

  /**
   * The first frame of one of the kinds that was not taken yet. Rejects when the socket closes
   * first.
   */
  async next<K extends Kind>(...kinds: K[]): Promise<FrameOf<K>> {
    for (;;) {
      const found = this.frames.find((frame): frame is FrameOf<K> =>
        (kinds as Kind[]).includes(frame.kind) && !this.#taken.has(frame));
      if (found !== undefined) {
        this.#taken.add(found);
        return found;
      }
      if (this.closeCode !== undefined) {
        throw new Error(`closed with ${this.closeCode} before a ${kinds.join(' or ')}`);
      }
      await this.#changes.next();
    }
  }

  async closed(): Promise<number> {
    while (this.closeCode === undefined) await this.#changes.next();
    return this.closeCode;
  }

  send(frame: ClientFrame): void {
    this.ws.send(encodeClientFrame(frame));
  }

  async hello(signer: Signer, studyId: string, change: Partial<Hello> = {}): Promise<Ready> {
    await this.sendHello(signer, studyId, change);
    const ready = await this.next('ready', 'refusal');
    if (ready.kind !== 'ready') throw new Error(`refused: ${ready.code}`);
    return ready;
  }

  async sendHello(signer: Signer, studyId: string, change: Partial<Hello> = {}): Promise<Welcome> {
    const welcome = this.frames.find((frame) => frame.kind === 'welcome')
      ?? (await this.next('welcome'));
    const clientNonce = signing.randomBytes(32);
    const context = { serverKey: welcome.serverKey, studyId: fromHex(studyId) };
    const nonces = { serverNonce: welcome.serverNonce, clientNonce };
    this.send({
      kind: 'hello',
      studyId: context.studyId,
      publicKey: signer.publicKey,
      clientNonce,
      signature: signHello(signer, context, nonces),
      ...change,
    });
    return welcome;
  }

  close(): void {
    this.ws.close();
  }
}

/** One contributor on one channel of a client. */
export class WireContributor {
  private constructor(
    readonly client: WireClient,
    readonly signer: Signer,
    readonly studyId: string,
    readonly ready: Ready,
  ) {}

  static async open(
    client: WireClient, studyId: string, signer = newSigner(),
  ): Promise<WireContributor> {
    return new WireContributor(client, signer, studyId, await client.hello(signer, studyId));
  }

  /** On a channel that a Hello of its own opened. */
  static on(client: WireClient, studyId: string, signer: Signer, ready: Ready): WireContributor {
    return new WireContributor(client, signer, studyId, ready);
  }

  /** A signed batch of one row unless told otherwise. */
  batch(sequence: bigint, change: Partial<BatchBody> = {}): SignedBatch {
    const body = encodeBatchBody({
      studyId: fromHex(this.studyId),
      sequence,
      epoch: this.ready.epoch,
      last: false,
      rows: 1,
      columns: 2,
      dataType: 'float64',
      data: encodeRows(Float64Array.of(1, 2), 'float64'),
      ...change,
    });
    return this.signed(body);
  }

  /** Takes the rows of an epoch back. */
  withdrawal(epoch: bigint): Withdraw {
    const { serverKey } = this.client.frames.find((frame) => frame.kind === 'welcome')!;
    const context = { serverKey, studyId: fromHex(this.studyId) };
    const signature = signWithdrawal(this.signer, context, epoch);
    return { kind: 'withdraw', channel: this.ready.channel, epoch, signature };
  }

  /** Any bytes, well signed. */
  signed(body: Uint8Array): SignedBatch {
    const welcome = this.client.frames.find((frame) => frame.kind === 'welcome')!;
    const context = { serverKey: welcome.serverKey, studyId: fromHex(this.studyId) };
    const signature = signBatch(this.signer, context, signing.sha512(body));
    return { kind: 'batch', channel: this.ready.channel, body, signature };
  }

  async send(sequence: bigint, change: Partial<BatchBody> = {}): Promise<Ack> {
    this.client.send(this.batch(sequence, change));
    return this.client.next('ack');
  }

  refusal(): Promise<Refusal> {
    return this.client.next('refusal');
  }
}

export function newSigner(): Signer {
  return signing.createSigner(signing.generateSeed());
}

/**
 * Bytes over TCP, for what no honest library sends. Collects the answer until the server has let go
 * of the connection. This side never ends its half by itself: a server that only ends its own is
 * found out.
 */
export async function rawExchange(port: number, text: string): Promise<string> {
  const socket: Socket = createConnection({ port, host: '127.0.0.1', allowHalfOpen: true });
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.on('error', () => undefined);
  socket.write(text, 'latin1');
  // Bytes sent to a closed connection are answered with a reset; to a half-open one, with nothing.
  const knocking = setInterval(() => socket.readableEnded && socket.write('.'), 5);
  // Not `once`: a reset is an error event too, and the end that is wanted here.
  await new Promise((resolve) => socket.on('close', resolve));
  clearInterval(knocking);
  return Buffer.concat(parts).toString('latin1');
}
