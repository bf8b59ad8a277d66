import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { silentLogger } from '../../server/base/logger.js';
import { systemClock } from '../../server/base/clock.js';
import { Mesh } from '../../server/sealed/mesh.js';
import { challengeFrom, dialPeer, type PeerSocket } from '../../server/sealed/peer-socket.js';
import { Peers } from '../../server/sealed/peers.js';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { servers, type ServerIndex } from '../../src/sealed/shares/body.js';
import { signSealedStatement } from '../../src/sealed/shares/statements.js';
import { signing } from '../../src/signing/node.js';
import { encodePeerFrame } from '../../src/wire/peer-frames.js';
import { peerFrameBytes, peerSubprotocol } from '../../src/wire/peer-messages.js';
import type { SealedFacts } from '../../src/wire/study-document.js';
import { VirtualClock } from '../support/virtual-clock.js';

const signers = servers.map((server) =>
  signing.createSigner(new Uint8Array(32).fill(60 + server)));
const studyId = '5a'.repeat(32);

const open: { close(): void }[] = [];
afterEach(() => { for (const each of open.splice(0)) each.close(); });

/** Three HTTP servers; the meshes of a study over them, in the order in which they are made. */
class Trio {
  readonly #https: Server[] = [];
  readonly #peers = servers.map(() => new Peers(systemClock, silentLogger));

  static async of(): Promise<Trio> {
    const trio = new Trio();
    for (const server of servers) {
      const http = createServer();
      http.on('upgrade', (...upgrade) => { trio.#peers[server]!.upgrade(...upgrade); });
      http.listen(0, '127.0.0.1');
      await once(http, 'listening');
      trio.#https.push(http);
      open.push(http, trio.#peers[server]!);
    }
    return trio;
  }

  port(server: ServerIndex): number {
    return (this.#https[server]!.address() as AddressInfo).port;
  }

  url(server: ServerIndex): string {
    return `ws://127.0.0.1:${this.port(server)}`;
  }

  /** A new process of this server. */
  mesh(server: ServerIndex): Mesh {
    const sealed = {
      servers: servers.map((each) => ({
        name: `s${each}`, url: this.url(each), key: toHex(signers[each]!.publicKey),
      })),
    } as unknown as SealedFacts;
    const mesh = new Mesh({
      studyId, sealed, server, signer: signers[server]!, clock: systemClock, logger: silentLogger,
    });
    this.#peers[server]!.add(studyId, mesh);
    open.push(mesh);
    return mesh;
  }
}

const upgradeOf = (port: number): string => [
  'GET / HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Connection: Upgrade', 'Upgrade: websocket',
  'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  `Sec-WebSocket-Protocol: ${peerSubprotocol}`, '', '',
].join('\r\n');

/** Asks for an upgrade as another server does, and then says nothing. */
async function silentSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  open.push({ close: () => socket.destroy() });
  await once(socket, 'connect');
  socket.write(upgradeOf(port));
  await once(socket, 'data');
  return socket;
}

function helloFrom(from: ServerIndex, to: ServerIndex, challenge: Uint8Array): Uint8Array {
  const said = { from, to, challenge, nonce: signing.randomBytes(32) };
  return encodePeerFrame({
    kind: 'hello', studyId: fromHex(studyId), from, challenge, nonce: said.nonce,
    signature: signSealedStatement(
      signing, signers[from]!, fromHex(studyId), { about: 'hello', ...said }),
  });
}

const dialled = (url: string, hello: Uint8Array): Promise<void> =>
  dialPeer(url, hello, () => ({ onMessage: () => undefined, onClose: () => undefined }));

it('lets the three servers meet beside any number of silent sockets', async () => {
  const trio = await Trio.of();
  const first = trio.mesh(0);
  for (let i = 0; i < 100; i++) await silentSocket(trio.port(0));
  const second = trio.mesh(1);
  const third = trio.mesh(2);
  for (const mesh of [first, second, third]) expect((await mesh.connected(null))!.size).toBe(2);
  // One of them starts anew, and the sockets come back.
  second.close();
  for (let i = 0; i < 100; i++) await silentSocket(trio.port(0));
  const again = trio.mesh(1);
  expect((await again.connected(null))!.size).toBe(2);
});

it('keeps nothing of a socket whose other end proved no key', async () => {
  const trio = await Trio.of();
  trio.mesh(0);
  const socket = await silentSocket(trio.port(0));
  await once(socket, 'close');
});

it('takes a proof once, and only over a challenge of its own', async () => {
  const trio = await Trio.of();
  trio.mesh(0);
  const url = trio.url(0);
  const hello = helloFrom(1, 0, await challengeFrom(url));
  await dialled(url, hello);
  await expect(dialled(url, hello)).rejects.toThrow('401');
  await expect(dialled(url, helloFrom(1, 0, signing.randomBytes(32)))).rejects.toThrow('401');
  // The key of another server, or of this one.
  const challenge = await challengeFrom(url);
  const forged = helloFrom(2, 0, challenge);
  forged[forged.length - 1]! ^= 1;
  await expect(dialled(url, forged)).rejects.toThrow('401');
  await expect(dialled(url, helloFrom(0, 0, await challengeFrom(url)))).rejects.toThrow('401');
  await expect(dialled(url, helloFrom(1, 2, await challengeFrom(url)))).rejects.toThrow('401');
});

it('lets a server with a valid key hold one link, however often it dials', async () => {
  const trio = await Trio.of();
  const first = trio.mesh(0);
  trio.mesh(2);
  const closed: Promise<string>[] = [];
  for (let i = 0; i < 40; i++) {
    const hello = helloFrom(1, 0, await challengeFrom(trio.url(0)));
    await new Promise<void>((resolve, reject) => {
      closed.push(new Promise((tell) => {
        dialPeer(trio.url(0), hello, () =>
          ({ onMessage: () => resolve(), onClose: tell })).catch(reject);
      }));
    });
  }
  await Promise.all(closed.slice(0, -1));
  expect((await first.connected(null))!.size).toBe(2);
});

it('refuses an upgrade whose header is too long to be a proof', async () => {
  const trio = await Trio.of();
  trio.mesh(0);
  const ws = new WebSocket(trio.url(0), peerSubprotocol, {
    headers: { 'keelson-hello': Buffer.alloc(8_000).toString('base64') },
  });
  const [error] = await once(ws, 'error') as [Error];
  expect(error.message).toContain('401');
});

describe('a peer with the key of another server', () => {
  const gather = encodePeerFrame({ kind: 'gather', epoch: 1n });

  it.each<[string, string, (send: (bytes: Uint8Array) => void) => void]>([
    ['says nothing', 'silent', () => undefined],
    ['says something else', 'unexpected', (send) => send(gather)],
    ['sends garbage', 'unexpected', (send) => send(new Uint8Array(1_000).fill(255))],
    ['sends a frame that is too large', 'closed',
      (send) => send(new Uint8Array(peerFrameBytes + 1))],
    ['sends many frames that nobody reads', 'flooded', (send) => {
      for (let i = 0; i < 9_000; i++) send(gather);
    }],
  ])('that %s is named, and the three meet after it', async (_, reason, act) => {
    const trio = await Trio.of();
    const first = trio.mesh(0);
    const third = trio.mesh(2);
    const hello = helloFrom(1, 0, await challengeFrom(trio.url(0)));
    let sender!: PeerSocket;
    await dialPeer(trio.url(0), hello, (socket) => {
      sender = socket;
      return { onMessage: () => undefined, onClose: () => undefined };
    });
    const link = (await first.connected(null))!.get(1)!;
    act((bytes) => sender.send(bytes));
    if (reason === 'flooded') await link.closed;
    await expect(link.receive('standing', 500)).rejects.toMatchObject({ reason, server: 1 });
    link.close();
    const second = trio.mesh(1);
    for (const mesh of [first, second, third]) expect((await mesh.connected(null))!.size).toBe(2);
  });
});

it('logs at most one failed proof a minute, and how many there were since', async () => {
  const warnings: object[] = [];
  const clock = new VirtualClock();
  const peers = new Peers(
    clock, { ...silentLogger, warn: (fields) => { warnings.push(fields); } });
  const http = createServer();
  http.on('upgrade', (...upgrade) => { peers.upgrade(...upgrade); });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  open.push(http, peers);
  const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const unreadable = Buffer.from('no frame');
  const unknown = helloFrom(1, 0, signing.randomBytes(32));
  for (let i = 0; i < 10; i++) {
    for (const hello of [unreadable, unknown]) {
      await expect(dialled(url, hello)).rejects.toThrow('401');
    }
  }
  expect(warnings).toHaveLength(1);
  await clock.advance(60_000);
  await expect(dialled(url, unknown)).rejects.toThrow('401');
  expect(warnings).toEqual([expect.objectContaining({ failed: 1 }), { failed: 20 }]);
});
