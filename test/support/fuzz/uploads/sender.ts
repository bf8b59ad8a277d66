import { createConnection, type Socket } from 'node:net';
import { must } from '../frames/oracle.js';

/** What came back on one connection: null when it was closed without an answer. */
export interface Answered {
  readonly status: number;
  readonly code: string | undefined;
  readonly nonce: string | undefined;
  /** Of protobuf; empty in an answer that is an error. */
  readonly body: Uint8Array;
}

/** How a request is sent. */
export interface Delivery {
  /** Bytes of HTTP, in the parts in which they are written. */
  readonly parts: readonly Uint8Array[];
  /** What the sender does after the last part: it waits, it ends its side, or it cuts. */
  readonly then: 'waits' | 'ends' | 'cuts';
}

/**
 * Sends one request over a connection of its own, and reads its first answer.
 * @param onSocket called with the connection, so that the caller can end it.
 */
export async function deliver(
  port: number, { parts, then }: Delivery, onSocket: (socket: Socket) => void,
): Promise<Answered | null> {
  const socket = createConnection({ port, host: '127.0.0.1' });
  onSocket(socket);
  const came: Buffer[] = [];
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => { socket.on('close', () => resolve()); });
  const answered = new Promise<void>((resolve) => {
    socket.on('data', (part: Buffer) => {
      came.push(part);
      if (isWhole(Buffer.concat(came))) resolve();
    });
  });
  for (const part of parts) {
    if (socket.destroyed) break;
    socket.write(part);
    // The next part comes in another read of the server.
    await new Promise((resolve) => { setImmediate(resolve); });
  }
  if (then === 'ends') socket.end();
  if (then === 'cuts') socket.destroy();
  await Promise.race([answered, closed]);
  socket.destroy();
  return parsed(Buffer.concat(came));
}

interface Head { readonly text: string; readonly from: number; readonly length: number }

function headOf(bytes: Buffer): Head | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const text = bytes.subarray(0, end).toString('latin1');
  // `100 Continue` comes before the answer.
  if (text.startsWith('HTTP/1.1 100')) {
    const rest = headOf(bytes.subarray(end + 4));
    return rest === null ? null : { ...rest, from: rest.from + end + 4 };
  }
  const length = Number(/^content-length: (\d+)$/im.exec(text)?.[1] ?? 0);
  return { text, from: end + 4, length };
}

function isWhole(bytes: Buffer): boolean {
  const head = headOf(bytes);
  return head !== null && bytes.length >= head.from + head.length;
}

function parsed(bytes: Buffer): Answered | null {
  const head = headOf(bytes);
  if (head === null) return null;
  const body = bytes.subarray(head.from, head.from + head.length);
  const status = Number(head.text.slice(9, 12));
  const isFrames = /^content-type: application\/x-protobuf$/im.test(head.text);
  must(isFrames === (status === 200), 'an answer with frames has status 200, and no other');
  return {
    status,
    nonce: /^keelson-nonce: ([0-9a-f]{64})$/im.exec(head.text)?.[1],
    code: /"code":"([^"]+)"/.exec(body.toString())?.[1],
    body: isFrames ? Uint8Array.from(body) : new Uint8Array(0),
  };
}
