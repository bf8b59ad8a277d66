import { createConnection, type Socket } from 'node:net';
import {
  decodeServerFrame, encodeClientFrame, type ClientFrame, type ServerFrame,
} from '../../src/wire/index.js';
import { Changes } from './until.js';
import { rawExchange } from './wire-client.js';

/** What came over a socket: a whole message, or what else a WebSocket sends. */
export interface RawFrame {
  readonly opcode: number;
  readonly bytes: Buffer;
  /** Of a message. */
  readonly frame: ServerFrame | undefined;
}

const opcodes = { binary: 2, close: 8, ping: 9, pong: 10 } as const;

/**
 * The headers that node's own HTTP server writes from the machine's clock, which no test moves.
 * They tell the time of the answer, to a second, and nothing else.
 */
const withoutDate = (answer: string): string =>
  answer.replace(/^Date: [^\r]*\r\n/gm, 'Date: (of the machine)\r\n');

/** One request over a connection of its own. @returns every byte of the answer. */
export async function rawRequest(
  port: number, line: string, headers: Readonly<Record<string, string>> = {}, body = '',
): Promise<string> {
  const all = {
    Host: 'localhost', Connection: 'close', ...headers,
    ...(body !== '' && { 'Content-Length': String(body.length) }),
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return withoutDate(await rawExchange(port, `${line} HTTP/1.1\r\n${head}\r\n${body}`));
}

/** A WebSocket or an event stream, of which every byte is seen. */
export class RawSocket {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #ended = false;
  readonly #changes = new Changes();
  #pings = 0;

  private constructor(port: number) {
    this.#socket = createConnection({ port, host: '127.0.0.1' });
    this.#socket.on('data', (part: Buffer) => {
      this.#received = Buffer.concat([this.#received, part]);
      this.#changes.tell();
    });
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => {
      this.#ended = true;
      this.#changes.tell();
    });
  }

  /** @returns the socket, and the head of the answer. */
  static async open(
    port: number, path: string, headers: Readonly<Record<string, string>>,
  ): Promise<{ readonly socket: RawSocket; readonly head: string }> {
    const socket = new RawSocket(port);
    const lines = Object.entries({ Host: 'localhost', ...headers })
      .map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.#socket.write(`GET ${path} HTTP/1.1\r\n${lines}\r\n`);
    while (!socket.#received.includes('\r\n\r\n') && !socket.#ended) await socket.#changes.next();
    const end = socket.#received.indexOf('\r\n\r\n') + 4;
    const head = withoutDate(socket.#received.subarray(0, end).toString('latin1'));
    socket.#received = socket.#received.subarray(end);
    return { socket, head };
  }

  static webSocket(port: number): ReturnType<typeof RawSocket.open> {
    return RawSocket.open(port, '/', {
      Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': Buffer.alloc(16, 7).toString('base64'),
      'Sec-WebSocket-Protocol': 'keelson.v1',
    });
  }

  send(frame: ClientFrame): void {
    this.#write(opcodes.binary, encodeClientFrame(frame));
  }

  sendBytes(bytes: Uint8Array): void {
    this.#write(opcodes.binary, bytes);
  }

  /**
   * Waits for so many messages, and then for the answer to a ping, behind which is everything that
   * the server had sent. Ends early when the server closes the socket.
   * @param rests the server reads no more from the socket for a while, so a ping has no answer.
   */
  async receive(messages: number, rests = false): Promise<readonly RawFrame[]> {
    const frames: RawFrame[] = [];
    let left = messages;
    while (left > 0) {
      const next = await this.#next();
      if (next === undefined) return frames;
      frames.push(next);
      if (next.opcode === opcodes.binary) left -= 1;
    }
    if (rests) return frames;
    const name = Buffer.from(`ping ${this.#pings++}`);
    this.#write(opcodes.ping, name);
    for (;;) {
      const next = await this.#next();
      if (next === undefined) return frames;
      if (next.opcode === opcodes.pong && next.bytes.equals(name)) return frames;
      frames.push(next);
    }
  }

  /** Everything until the server ends the connection. */
  async frames(): Promise<readonly RawFrame[]> {
    const frames: RawFrame[] = [];
    for (;;) {
      const next = await this.#next();
      if (next === undefined) return frames;
      frames.push(next);
    }
  }

  /** All bytes until the server ends the connection. */
  async rest(): Promise<string> {
    while (!this.#ended) await this.#changes.next();
    return this.#received.toString('latin1');
  }

  destroy(): void {
    this.#socket.destroy();
  }

  async #next(): Promise<RawFrame | undefined> {
    for (;;) {
      const taken = this.#take();
      if (taken !== undefined) return taken;
      if (this.#ended) return undefined;
      await this.#changes.next();
    }
  }

  /** A frame that came in whole: a server neither masks nor splits its messages here. */
  #take(): RawFrame | undefined {
    const { length } = this.#received;
    if (length < 2) return undefined;
    const short = this.#received[1]!;
    const start = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (length < start) return undefined;
    const size = short < 126 ? short : short === 126
      ? this.#received.readUInt16BE(2) : Number(this.#received.readBigUInt64BE(2));
    if (length < start + size) return undefined;
    const opcode = this.#received[0]! & 15;
    const bytes = Buffer.from(this.#received.subarray(start, start + size));
    this.#received = this.#received.subarray(start + size);
    if (opcode === opcodes.ping) this.#write(opcodes.pong, bytes);
    if (opcode === opcodes.close) this.#write(opcodes.close, bytes);
    const frame = opcode === opcodes.binary ? decodeServerFrame(bytes) : undefined;
    return { opcode, bytes, frame };
  }

  /** Clients mask their frames. The mask is zero, so that the bytes are seen. */
  #write(opcode: number, payload: Uint8Array): void {
    const size = Buffer.alloc(payload.length < 126 ? 1 : payload.length < 65_536 ? 3 : 9);
    if (size.length === 1) size[0] = payload.length;
    if (size.length === 3) size.writeUInt16BE(payload.length, 1);
    if (size.length === 9) size.writeBigUInt64BE(BigInt(payload.length), 1);
    if (size.length === 3) size[0] = 126;
    if (size.length === 9) size[0] = 127;
    size[0]! |= 128;
    this.#socket.write(Buffer.concat([Buffer.of(128 | opcode), size, Buffer.alloc(4), payload]));
  }
}
