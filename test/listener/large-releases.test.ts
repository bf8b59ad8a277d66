// @module-tag long
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { subscribe } from '../../client/index.js';
import { openTransport } from '../../client/websocket/node.js';
import { fromHex } from '../../src/base/bytes.js';
import { logLines, verifyReleaseLog } from '../../src/log/index.js';
import { signing } from '../../src/signing/node.js';
import { decodeReleaseBody, subprotocol } from '../../src/wire/index.js';
import { Stage } from '../support/live-command.js';
import type { WireClient } from '../support/wire-client.js';
import { server } from '../support/wire-samples.js';
import { HandClock } from './hand-clock.js';
import { eventually, startRig, type Rig } from './harness.js';

const mega = 2 ** 20;
/** Three times what may wait for a subscriber. */
const large = 'x'.repeat(3 * mega);
/** More than the system's own buffers take. */
const huge = 'x'.repeat(32 * mega);

async function reader(rig: Rig): Promise<WireClient> {
  const client = await rig.open();
  client.send({ kind: 'subscribe', studyId: fromHex(rig.study), fromRelease: 0n });
  await client.next('head');
  return client;
}

/** The TCP socket of a client: paused, it takes nothing. */
const tcpOf = (client: WireClient): Socket => (client.ws as unknown as { _socket: Socket })._socket;

describe('releases above 1 MiB', () => {
  it('reach the client, from the log and as they come, and by HTTP', {
    tags: ['slow'],
  }, async () => {
    const rig = await startRig();
    for (let i = 0; i < 3; i++) rig.hub.publish(rig.study, large);
    const indexes: bigint[] = [];
    const subscription =
      subscribe({ url: rig.listener.address.replace('http', 'ws'), study: rig.study });
    const lost: string[] = [];
    subscription.onReconnecting((reason) => lost.push(reason));
    subscription.onHead(() => rig.hub.publish(rig.study, large));
    for await (const { release } of subscription) if (indexes.push(release.index) === 4) break;
    expect([indexes, lost]).toEqual([[0n, 1n, 2n, 3n], []]);
    const answer = await fetch(rig.url(`/v1/releases?study=${rig.study}`));
    expect(answer.status).toBe(200);
    const lines = logLines([new Uint8Array(await answer.arrayBuffer())]);
    const report = await verifyReleaseLog(lines, { signing, serverKey: server.publicKey });
    expect(report).toMatchObject({ authentic: true, count: 4 });
  });
});

describe('the command, of a release above 1 MiB', () => {
  const stage = new Stage();
  afterAll(() => stage.end());

  it('shows it with watch, and checks it with verify', async () => {
    const rig = await startRig();
    rig.hub.publish(rig.study, large);
    const url = rig.listener.address.replace('http', 'ws');
    const watched = await stage.run(['watch', url, '--study', rig.study, '--count', '1', '--json']);
    expect(watched.stderr).toBe('');
    expect(JSON.parse(watched.stdout)).toMatchObject({ type: 'release', text: large });
    const answer = await fetch(rig.url(`/v1/releases?study=${rig.study}`));
    const log = stage.write('log.ndjson', new Uint8Array(await answer.arrayBuffer()));
    const key = Buffer.from(server.publicKey).toString('hex');
    const verified = await stage.run(['verify', log, '--server-key', key]);
    expect([verified.status, verified.stderr]).toEqual([0, '']);
  });
});

describe('a subscriber that reads a large release slowly', () => {
  it('is waited for as long as the slowest reader needs, though no ping reaches it', {
    tags: ['slow'],
  }, async () => {
    const clock = new HandClock();
    const rig = await startRig({ clock });
    const client = await reader(rig);
    tcpOf(client).pause();
    rig.hub.publish(rig.study, huge);
    // Some of it is in the buffers of the system, so that the server sees one large write that does
    // not end.
    for (let i = 0; i < 120; i++) clock.advance(5_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(rig.metrics.totals.sockets).toBe(1);
    tcpOf(client).resume();
    const { body } = await client.next('release');
    expect(decodeReleaseBody(body).index).toBe(0n);
    // It was silent all that time, and has a while to answer now.
    clock.advance(5_000);
    rig.hub.publish(rig.study);
    expect(decodeReleaseBody((await client.next('release')).body).index).toBe(1n);
  });

  it('is cut when it takes nothing at all', async () => {
    const clock = new HandClock();
    const rig = await startRig({ clock });
    const client = await reader(rig);
    tcpOf(client).pause();
    rig.hub.publish(rig.study, huge);
    await clock.pass(5_000, () => rig.metrics.totals.sockets === 0);
    expect(clock.monotonicMs()).toBeLessThan(60_000 + (32 * mega) / 16 + 10_000);
    expect(rig.metrics.socketsClosed.total({ reason: 'stalled' })).toBe(1);
  });
});

it('the client on Node takes each part of a message for a sign of life', async () => {
  const http = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  let raw: Duplex | undefined;
  http.on('upgrade', (request, socket, head) => {
    raw = socket;
    sockets.handleUpgrade(request, socket, head, () => undefined);
  });
  await new Promise<void>((resolve) => { http.listen(0, '127.0.0.1', resolve); });
  let signs = 0;
  const messages: number[] = [];
  const { port } = http.address() as AddressInfo;
  const transport = openTransport(`ws://127.0.0.1:${port}`, [subprotocol], {
    onOpen: () => undefined,
    onMessage: (message) => messages.push((message as Uint8Array).length),
    onActivity: () => { signs += 1; }, onClose: () => undefined,
  });
  await eventually(() => raw !== undefined);
  // A binary message of 1,000 bytes in three parts.
  raw!.write(Buffer.concat([Buffer.of(0x82, 126, 1_000 >> 8, 1_000 & 0xff), Buffer.alloc(300)]));
  await eventually(() => signs > 0);
  const before = signs;
  raw!.write(Buffer.alloc(300));
  await eventually(() => signs > before);
  expect(messages).toEqual([]);
  raw!.write(Buffer.alloc(400));
  await eventually(() => messages.length === 1);
  expect(messages).toEqual([1_000]);
  transport.terminate();
  await new Promise((resolve) => { http.close(resolve); });
});
