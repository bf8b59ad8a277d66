import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import { encodeClientFrame } from '../../src/wire/index.js';
import { HandClock } from './hand-clock.js';
import { eventually, startRig, type Rig } from './harness.js';

const descriptors = (): number => readdirSync('/proc/self/fd').length;

let open: Socket[] = [];
afterEach(() => {
  for (const socket of open) socket.destroy();
  open = [];
});

/** A TCP connection that says only what a test lets it say. */
async function connect(rig: Rig): Promise<Socket> {
  const socket =
    createConnection({ port: rig.listener.port, host: '127.0.0.1', allowHalfOpen: true });
  open.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** A WebSocket without a library. @returns the socket and the server's answer to the upgrade. */
async function upgraded(rig: Rig, extra = ''): Promise<{
  socket: Socket; answer: string; received: Buffer[];
}> {
  const socket = await connect(rig);
  const received: Buffer[] = [];
  const lines = [
    'GET / HTTP/1.1', `Host: 127.0.0.1:${rig.listener.port}`, 'Connection: Upgrade',
    'Upgrade: websocket', 'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    'Sec-WebSocket-Protocol: keelson.v1', ...(extra === '' ? [] : [extra]), '', '',
  ];
  socket.write(lines.join('\r\n'));
  socket.on('data', (part: Buffer) => received.push(part));
  await eventually(() => received.length > 0 || socket.closed);
  return {
    socket, answer: Buffer.concat(received).toString('latin1').split('\r\n\r\n')[0]!, received,
  };
}

/** A masked client frame. @param first byte: FIN, RSV and opcode. */
function frame(first: number, payload: Uint8Array): Buffer {
  const long = payload.length > 125;
  const head = Buffer.alloc(long ? 8 : 6);
  head[0] = first;
  head[1] = 0x80 | (long ? 126 : payload.length);
  if (long) head.writeUInt16BE(payload.length, 2);
  // A mask of zeros changes nothing.
  return Buffer.concat([head, payload]);
}

/** The code of the close frame that the server sent, at the end of what came. */
function closeCode(received: readonly Buffer[]): number | undefined {
  const bytes = Buffer.concat(received);
  for (let at = bytes.indexOf(0x88); at >= 0; at = bytes.indexOf(0x88, at + 1)) {
    // Nothing follows a close frame.
    if (at + 4 <= bytes.length && at + 2 + bytes[at + 1]! === bytes.length) {
      return bytes.readUInt16BE(at + 2);
    }
  }
  return undefined;
}

/** Not `once`, which takes a reset for a failure. */
const gone = (socket: Socket): Promise<void> => new Promise((resolve) => {
  if (socket.closed) resolve();
  else socket.on('close', () => resolve());
});

describe('connections that hold on to the server', () => {
  it('are closed when they are silent or very slow', { tags: ['long'] }, async () => {
    const rig = await startRig({ limits: { handshakeTimeoutMs: 400 } });
    const before = descriptors();
    const sockets = await Promise.all(Array.from({ length: 60 }, () => connect(rig)));
    const text = 'GET / HTTP/1.1\r\nX-Slow: ';
    let sent = 0;
    const dribble = setInterval(() => {
      for (const socket of sockets.slice(30)) {
        if (socket.writable) socket.write(text[sent % text.length]!);
      }
      sent += 1;
    }, 20);
    // Its answer, if there is one, is read: until then there is no end to see.
    for (const socket of sockets) socket.resume().on('end', () => socket.destroy());
    await Promise.all(sockets.map(gone));
    clearInterval(dribble);
    await eventually(() => descriptors() <= before + 2);
    await rig.expectService();
  });

  it('are closed fully when they close one half only', async () => {
    const rig = await startRig();
    const { socket } = await upgraded(rig);
    await eventually(() => rig.metrics.totals.sockets === 1);
    socket.end();
    await eventually(() => rig.metrics.totals.sockets === 0);
    await rig.expectService();
  });

  it('are accepted up to the limit of an address, which frees up again', async () => {
    const rig = await startRig({ limits: { socketsPerAddress: 5 } });
    const answers = await Promise.all(Array.from({ length: 40 }, () => upgraded(rig)));
    const taken = answers.filter(({ answer }) => answer.includes(' 101 '));
    expect(taken).toHaveLength(5);
    expect(answers.filter(({ answer }) => answer.includes(' 429 '))).toHaveLength(35);
    for (const { socket } of taken) socket.destroy();
    await eventually(() => rig.metrics.totals.sockets === 0);
    await rig.expectService();
  });
});

describe('frames that WebSocket allows and nobody needs', () => {
  it('are cut when a message has endless fragments', async () => {
    const rig = await startRig();
    const { socket, received } = await upgraded(rig);
    socket.write(frame(0x02, new Uint8Array(1)));
    for (let i = 0; i < 200; i++) socket.write(frame(0x00, new Uint8Array(1)));
    await eventually(() => closeCode(received) !== undefined);
    expect(closeCode(received)).toBe(1008);
    await rig.expectService();
  });

  it.each([
    ['fragments, with pongs in between', (socket: Socket) => {
      for (let i = 0; i < 8; i++) {
        socket.write(frame(i === 0 ? 0x02 : 0x00, new Uint8Array(60_000)));
        socket.write(frame(0x8a, new Uint8Array(0)));
      }
    }],
    ['most of a long frame', (socket: Socket) =>
      void socket.write(frame(0x82, new Uint8Array(65_000)).subarray(0, 64_000))],
  ])('are cut, largest first, when all unfinished ones use too much: %s', async (_what, begin) => {
    const rig = await startRig({ limits: { unfinishedBytes: 600_000 } });
    const modest = await upgraded(rig);
    modest.socket.write(frame(0x02, new Uint8Array(100)));
    const hoarders = await Promise.all(Array.from({ length: 12 }, () => upgraded(rig)));
    for (const { socket } of hoarders) begin(socket);
    await eventually(() => rig.metrics.socketsClosed.total({ reason: 'unfinished' }) > 0);
    await eventually(() => rig.metrics.totals.sockets <= 9);
    expect(rig.metrics.totals.sockets).toBeGreaterThan(0);
    expect(modest.socket.closed).toBe(false);
    await rig.expectService();
  });

  it('leave nothing that counts after complete messages and pongs', async () => {
    const clock = new HandClock();
    const rig =
      await startRig({ clock, limits: { unfinishedBytes: 40_000, controlFramesBurst: 2_000 } });
    const contributor = await rig.contributor();
    for (let i = 1n; i <= 400n; i++) await contributor.send(i);
    for (let i = 0; i < 2_000; i++) contributor.client.ws.pong(Buffer.alloc(100));
    expect((await contributor.send(401n)).accepted).toEqual([401n]);
    clock.advance(250);
    clock.advance(250);
    expect((await contributor.send(402n)).accepted).toEqual([402n]);
    expect(rig.metrics.socketsClosed.total({ reason: 'unfinished' })).toBe(0);
  });

  it.each([['pings', 0x89], ['pongs', 0x8a]])('are cut: endless %s', async (_what, first) => {
    const rig = await startRig();
    const { socket } = await upgraded(rig);
    socket.resume();
    const few = Buffer.concat(new Array<Buffer>(40).fill(frame(first, new Uint8Array(0))));
    const nobodys = encodeClientFrame({ kind: 'unsubscribe', studyId: new Uint8Array(32) });
    socket.write(Buffer.concat([few, frame(0x82, nobodys)]));
    await eventually(() => rig.metrics.refused.total({ study: '', code: 'unknown-study' }) === 1);
    expect(rig.metrics.totals.sockets).toBe(1);
    const flood = setInterval(() => socket.writable && socket.write(few), 2);
    await gone(socket);
    clearInterval(flood);
    await eventually(() => rig.metrics.totals.sockets === 0);
    await rig.expectService();
  });

  it('are cut when they are compressed, which is not negotiated', async () => {
    const rig = await startRig();
    const { socket, answer, received } =
      await upgraded(rig, 'Sec-WebSocket-Extensions: permessage-deflate');
    expect(answer).not.toMatch(/extensions/i);
    socket.write(frame(0xc2, new Uint8Array(20)));
    await eventually(() => closeCode(received) !== undefined);
    expect(closeCode(received)).toBe(1002);
    await rig.expectService();
  });
});

describe('clients that send and never read', () => {
  const bufferBytes = 64 * 1024;

  /** Writes as fast as the system takes it, until the server cuts it. @returns the bytes taken. */
  async function flood(socket: Socket, piece: Buffer, isCut: () => boolean): Promise<number> {
    socket.pause();
    while (!isCut()) {
      if (!socket.write(piece)) await new Promise((done) => setTimeout(done, 1));
      while (socket.writableLength > 2 * piece.length && !isCut()) {
        await new Promise((done) => setTimeout(done, 5));
      }
    }
    return socket.bytesWritten - socket.writableLength;
  }

  const nobodys = fromHex('33'.repeat(32));
  const unread = {
    subscriberBufferBytes: bufferBytes, subscriberStallMs: 1_500, heartbeatMs: 750,
    handshakeTimeoutMs: 600_000,
  };
  it.each([
    ['pings', frame(0x89, randomBytes(125))],
    [
      'requests that are refused',
      frame(0x82, encodeClientFrame({ kind: 'unsubscribe', studyId: nobodys })),
    ],
  ])('%s: the server keeps no answers beyond its bound, and cuts '
    + 'them', { tags: ['long'] }, async (_what, one) => {
    const rig = await startRig({ limits: unread });
    const { socket } = await upgraded(rig);
    const before = process.memoryUsage().rss;
    const pieces = Buffer.concat(new Array<Buffer>(256).fill(one));
    const written = await flood(socket, pieces, () => rig.metrics.totals.sockets === 0);
    // What the system's own buffers take in both directions, and no more.
    expect(written).toBeLessThan(24 * 2 ** 20);
    expect(process.memoryUsage().rss - before).toBeLessThan(96 * 2 ** 20);
    await eventually(() => rig.metrics.totals.sockets === 0);
    await rig.expectService();
  });
});
