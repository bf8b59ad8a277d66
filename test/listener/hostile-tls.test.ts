import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as tlsConnect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { openTransport } from '../../client/websocket/node.js';
import { subprotocol } from '../../src/wire/index.js';
import { tlsIdentity } from '../support/tls/identity.js';
import { eventually, startRig, type Rig } from './harness.js';

const [first, second] = [tlsIdentity('first'), tlsIdentity('second')];
let open: Socket[] = [];
afterEach(() => {
  for (const socket of open) socket.destroy();
  open = [];
});

async function tcp(rig: Rig): Promise<Socket> {
  const socket = connect({ port: rig.listener.port, host: '127.0.0.1' });
  open.push(socket);
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  return socket;
}

/** Not `once`, which takes a reset for a failure. */
const gone = (socket: Socket): Promise<void> => new Promise((resolve) => {
  if (socket.closed) resolve();
  else socket.on('close', () => resolve());
});

interface Handshake {
  readonly socket: TLSSocket;
  /** The version agreed to, or the error's code. */
  readonly said: string;
}

function handshake(rig: Rig, options: ConnectionOptions = {}): Promise<Handshake> {
  const socket = tlsConnect({
    port: rig.listener.port, host: '127.0.0.1', ca: first.certificate, servername: 'localhost',
    ...options,
  });
  open.push(socket);
  return new Promise((resolve) => {
    socket.on('secureConnect', () => resolve({ socket, said: socket.getProtocol() ?? '' }));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      resolve({ socket, said: error.code ?? error.message }));
  });
}

/** A client that speaks TLS properly is served. */
async function expectService(rig: Rig): Promise<void> {
  const { socket } = await handshake(rig);
  socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  const [answer] = await once(socket, 'data') as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 200 /);
}

describe('the TLS port', () => {
  it('speaks TLS 1.2 and 1.3, and nothing older', async () => {
    const rig = await startRig({ tls: first });
    expect((await handshake(rig)).said).toBe('TLSv1.3');
    expect((await handshake(rig, { maxVersion: 'TLSv1.2' })).said).toBe('TLSv1.2');
    for (const version of ['TLSv1', 'TLSv1.1'] as const) {
      const old = {
        minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0',
      } as const;
      expect((await handshake(rig, old)).said).toMatch(/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/);
    }
    await expectService(rig);
  });

  it.each([
    ['plain HTTP', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['nothing but zeros', '\0'.repeat(4_096)],
    ['a record longer than TLS has', '\x16\x03\x01\xff\xff'.padEnd(70_000, 'x')],
  ])('hangs up on %s', async (_, text) => {
    const rig = await startRig({ tls: first });
    const socket = await tcp(rig);
    socket.write(text, 'latin1');
    await gone(socket);
    await expectService(rig);
  });

  it('cuts handshakes that never end, even if they continue byte by byte', async () => {
    const rig = await startRig({ tls: first, limits: { handshakeTimeoutMs: 400 } });
    const hello = Buffer.from('16030102000100', 'hex');
    const [silent, half, slow] = await Promise.all([tcp(rig), tcp(rig), tcp(rig)]);
    half.write(hello);
    slow.write(hello);
    const drip = setInterval(() => slow.writable && slow.write('\0'), 20);
    await Promise.all([silent, half, slow].map(gone));
    clearInterval(drip);
    await expectService(rig);
  });

  it('hangs up on a client that renegotiates again and again', async () => {
    const rig = await startRig({ tls: first });
    const { socket } = await handshake(rig, { maxVersion: 'TLSv1.2' });
    let times = 0;
    const again = (): void => void socket.renegotiate({}, (error) => {
      if (error === null) {
        times += 1;
        again();
      }
    });
    again();
    await gone(socket);
    // What Node takes in ten minutes.
    expect(times).toBe(3);
    await expectService(rig);
  });

  it('keeps a connection over a renewal, and shows the new certificate to the next', async () => {
    const rig = await startRig({ tls: first });
    const { socket } = await handshake(rig);
    rig.listener.renewTls(second);
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 200 /);
    // The first certificate's session cannot bring it back.
    expect((await handshake(rig)).said).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect((await handshake(rig, { ca: second.certificate })).said).toBe('TLSv1.3');
  });
});

it('hangs up on TLS at the plain port', async () => {
  const rig = await startRig();
  const { said } = await handshake(rig);
  expect(said).toMatch(/ERR_SSL|ECONNRESET/);
  await rig.expectService();
});

describe('the client', () => {
  /** How a connection of the client ends. */
  const ends = (url: string): Promise<string> => new Promise((resolve) => {
    const ignore = (): void => undefined;
    openTransport(url, [subprotocol], {
      onOpen: ignore, onMessage: () => resolve('served'), onActivity: ignore, onClose: resolve,
    });
  });

  it('refuses a certificate without a trusted signature, and says so', async () => {
    const rig = await startRig({ tls: first });
    expect(await ends(rig.listener.address.replace('https', 'wss')))
      .toMatch(/self.signed certificate/);
    expect(await ends(rig.listener.address.replace('https', 'ws'))).not.toBe('served');
    await eventually(() => rig.metrics.totals.sockets === 0);
  });
});
