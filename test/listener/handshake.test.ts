import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import { verifyReady } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import { amount } from '../support/fake-hub.js';
import { newSigner, rawExchange, WireClient, WireContributor } from '../support/wire-client.js';
import { document, server } from '../support/wire-samples.js';
import { HandClock } from './hand-clock.js';
import { eventually, startRig } from './harness.js';

/** Status and body of an upgrade that is not accepted. */
function upgradeAnswer(
  port: number,
  headers: Record<string, string>,
  path = '/',
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request({
      port, path, host: '127.0.0.1',
      headers: {
        Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Protocol': 'keelson.v1',
        ...headers,
      },
    });
    asked.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode!, text: '' });
    });
    asked.on('response', (response) => {
      let text = '';
      response.on('data', (part) => (text += String(part)));
      response.on('end', () => resolve({ status: response.statusCode!, text }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

describe('upgrade', () => {
  it('refuses another subprotocol with 400 and names the right one', async () => {
    const rig = await startRig();
    const answer =
      await upgradeAnswer(rig.listener.port, { 'Sec-WebSocket-Protocol': 'keelson.v3' });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('keelson.v1');
    await rig.expectService();
  });

  it('takes the right subprotocol among others, at / only', async () => {
    const { listener } = await startRig();
    expect(
      (await upgradeAnswer(listener.port, { 'Sec-WebSocket-Protocol': 'x, keelson.v1' })).status,
    ).toBe(101);
    expect((await upgradeAnswer(listener.port, {}, '/other')).status).toBe(404);
  });

  it('takes pages of its own origin and of listed ones, and no others', async () => {
    const lists = { allowedOrigins: ['https://shop.example'], allowedHosts: ['keelson.example'] };
    const { listener } = await startRig(lists);
    const own = `127.0.0.1:${listener.port}`;
    const status = async (origin: string, host = own): Promise<number> =>
      (await upgradeAnswer(listener.port, { Origin: origin, Host: host })).status;
    expect(await status(`http://${own}`)).toBe(101);
    expect(await status('https://shop.example')).toBe(101);
    expect(await status('https://evil.example')).toBe(403);
    expect(await status('null')).toBe(403);
    // DNS rebinding: the page and the Host agree, but the name is a stranger's.
    expect(await status('http://evil.example', 'evil.example')).toBe(403);
    expect(await status('https://keelson.example', 'keelson.example')).toBe(101);
  });

  it('refuses sockets past its limits, over all and per address', async () => {
    const few = await startRig({ limits: { sockets: 1 } });
    const first = await few.open();
    expect((await upgradeAnswer(few.listener.port, {})).status).toBe(503);
    first.close();
    await eventually(() => few.metrics.totals.sockets === 0);
    await few.expectService();
    const perAddress = await startRig({ limits: { socketsPerAddress: 1 } });
    await perAddress.open();
    expect((await upgradeAnswer(perAddress.listener.port, {})).status).toBe(429);
  });

  it('hangs up on refused clients and on very slow ones', { tags: ['long'] }, async () => {
    const rig = await startRig({ limits: { handshakeTimeoutMs: 1_000 } });
    // Both resolve only when the server itself closes the connection.
    const refused = [
      'GET / HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket',
      'Sec-WebSocket-Protocol: x', '', '',
    ].join('\r\n');
    expect(await rawExchange(rig.listener.port, refused)).toContain(' 400 ');
    expect(await rawExchange(rig.listener.port, 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow:'))
      .toMatch(/ 40[08] |^$/);
    await rig.expectService();
  });

  it('outlives bytes that are no HTTP', async () => {
    const rig = await startRig();
    expect(await rawExchange(rig.listener.port, 'nonsense\r\n\r\n')).toContain('400');
    expect(await rawExchange(rig.listener.port, 'GET / HTTP/1.1\r\nX: '
      + `${'x'.repeat(20_000)}\r\n\r\n`)).toContain('400');
    await rig.expectService();
  });
});

describe('hello', () => {
  it('welcomes with the studies, and proves the server key in Ready', async () => {
    const rig = await startRig();
    const client = await rig.open();
    const welcome = await client.next('welcome');
    expect(welcome.serverKey).toEqual(server.publicKey);
    expect(welcome.studies).toHaveLength(2);
    expect(welcome.limits.creditBatches).toBe(64);
    const signer = newSigner();
    const clientNonce = signing.randomBytes(32);
    await client.sendHello(signer, rig.study);
    const ready = await client.next('ready');
    expect(ready).toMatchObject({
      channel: 1, epoch: 7n, nextSequence: 1n, holes: [], credit: 64, ownSpend: null,
    });
    const verifier = signing.createVerifier(server.publicKey);
    const nonces = { serverNonce: welcome.serverNonce, clientNonce };
    // The nonce of the client is its own: one that was not sent must not verify.
    expect(verifyReady(verifier, fromHex(rig.study), signer.publicKey, nonces, ready.signature))
      .toBe(false);
    expect(await client.next('notice')).toMatchObject({ state: 'open', epoch: 7n });
  });

  it('serves several contributors on one socket and resumes a contributor at its '
    + 'holes', async () => {
    const rig = await startRig();
    const client = await rig.open();
    const signer = newSigner();
    const first = await WireContributor.open(client, rig.study, signer);
    const second = await WireContributor.open(client, rig.study);
    expect([first.ready.channel, second.ready.channel]).toEqual([1, 2]);
    await first.send(1n);
    await first.send(3n);
    expect((await second.send(1n)).channel).toBe(2);
    const again = await WireContributor.open(await rig.open(), rig.study, signer);
    expect(again.ready).toMatchObject({ nextSequence: 4n, holes: [2n] });
  });

  it('reports to a contributor its own spending under contributor scope', async () => {
    const rig = await startRig();
    rig.hub.spend = { rho: amount(1n << 60n), delta: amount(0n), pure: null };
    const cap =
      { rhoCap: amount(1n << 64n), deltaCap: amount(1n << 40n), pureCap: amount(8n << 64n) };
    const none = {
      rhoSpent: amount(0n), deltaSpent: amount(0n), rhoReserved: amount(0n),
      deltaReserved: amount(0n), pureSpent: null, pureReserved: amount(0n),
    };
    const key = `study:${document.study}`;
    const rule = { rule: 'zcdp' } as const;
    rig.hub.ledger =
      [{ key, scope: 'contributor', rule, epsilon: 8, delta: 1e-5, ...cap, ...none }];
    const { ready } = await rig.contributor();
    expect(ready.ownSpend).toEqual({ rho: 1 / 16, rhoCap: 1, delta: 0, deltaCap: 2 ** -24 });
  });

  it('refuses an unknown study', async () => {
    const rig = await startRig();
    const client = await rig.open();
    await client.sendHello(newSigner(), '11'.repeat(32));
    const refusal = await client.next('refusal');
    expect(refusal).toMatchObject({ code: 'unknown-study', retryable: false, channel: 0 });
    expect(refusal.studyId).toEqual(fromHex('11'.repeat(32)));
    await rig.expectService();
  });

  it('refuses small-order and unreduced keys', async () => {
    const rig = await startRig();
    const client = await rig.open();
    // The neutral point; and y = p, which is not reduced.
    for (const key of [`01${'00'.repeat(31)}`, `ed${'ff'.repeat(30)}7f`]) {
      await client.sendHello(
        newSigner(), rig.study, { publicKey: fromHex(key), signature: new Uint8Array(64) },
      );
      expect(await client.next('refusal'))
        .toMatchObject({ code: 'invalid-key', publicKey: fromHex(key) });
    }
    await rig.expectService();
  });

  it('refuses a signature made for another socket, and closes after three', async () => {
    const rig = await startRig();
    const elsewhere = await rig.open();
    const client = await rig.open();
    const signer = newSigner();
    const { serverNonce } = await elsewhere.next('welcome');
    expect(serverNonce).not.toEqual((await client.next('welcome')).serverNonce);
    for (let i = 0; i < 3; i++) {
      await client.sendHello(signer, rig.study, { clientNonce: serverNonce });
      expect(await client.next('refusal'))
        .toMatchObject({ code: 'bad-signature', retryable: false });
    }
    expect(await client.closed()).toBe(1008);
    await rig.expectService();
  });

  it('refuses a key that is not enrolled', async () => {
    const rig = await startRig();
    const signer = newSigner();
    rig.hub.allowed = (key) => Buffer.compare(key, signer.publicKey) !== 0;
    const client = await rig.open();
    await client.sendHello(signer, rig.study);
    expect(await client.next('refusal'))
      .toMatchObject({ code: 'key-not-allowed', publicKey: signer.publicKey });
    await rig.expectService();
  });

  it('welcomes contributors of a stopped study, and reports the stop', async () => {
    const rig = await startRig();
    const signer = newSigner();
    const before = await WireContributor.open(await rig.open(), rig.study, signer);
    await before.send(1n);
    for (const state of ['ended', 'exhausted'] as const) {
      rig.hub.change(rig.study, { state, epoch: 0n });
      const client = await rig.open();
      await client.sendHello(signer, rig.study);
      expect(await client.next('ready')).toMatchObject({ nextSequence: 2n, holes: [] });
      expect(await client.next('notice')).toMatchObject({ state, epoch: 0n });
    }
  });

  it('limits the rate of one address', async () => {
    const clock = new HandClock();
    const rig = await startRig({ clock, limits: { helloPerSecond: 20, helloBurst: 2 } });
    const client = await rig.open();
    for (let i = 0; i < 3; i++) await client.sendHello(newSigner(), rig.study);
    expect(await client.next('refusal')).toMatchObject({ code: 'rate-limited', retryable: true });
    await client.next('ready');
    await client.next('ready');
    // The bucket fills again; nobody is shut out for good.
    clock.advance(120);
    await rig.expectService();
  });

  it('limits the channels of a socket and of the server', async () => {
    const rig = await startRig({ limits: { channelsPerSocket: 2, channels: 3 } });
    const client = await rig.open();
    await client.next('welcome');
    // Sent at once: Hellos that are still being answered count too.
    for (let i = 0; i < 3; i++) await client.sendHello(newSigner(), rig.study);
    expect(await client.next('refusal'))
      .toMatchObject({ code: 'too-many-channels', retryable: true });
    await client.next('ready');
    await client.next('ready');
    await rig.expectService();
    await eventually(() => rig.metrics.totals.channels === 2);
    const second = await rig.open();
    await second.hello(newSigner(), rig.study);
    await second.sendHello(newSigner(), rig.study);
    expect(await second.next('refusal')).toMatchObject({ code: 'too-many-channels' });
    client.close();
    await eventually(() => rig.metrics.totals.channels === 1);
    await rig.expectService();
  });

  it('limits the channels of an address, on however many sockets, and frees them', async () => {
    const rig = await startRig({ limits: { channelsPerAddress: 3, channels: 5 } });
    const openFrom = async (localAddress: string, count: number): Promise<WireClient> => {
      const client = await WireClient.open(rig.listener.port, { localAddress });
      for (let i = 0; i < count; i++) await client.hello(newSigner(), rig.study);
      return client;
    };
    const first = await openFrom('127.0.0.2', 2);
    const second = await openFrom('127.0.0.2', 1);
    await expect(openFrom('127.0.0.2', 1)).rejects.toThrow('too-many-channels');
    const other = await openFrom('127.0.0.3', 2);
    await expect(openFrom('127.0.0.4', 1)).rejects.toThrow('too-many-channels');
    first.close();
    await eventually(() => rig.metrics.totals.channels === 3);
    const third = await openFrom('127.0.0.2', 2);
    for (const client of [second, other, third]) client.close();
  });

  it('answers internal when the store fails, without the reason', async () => {
    const rig = await startRig();
    const client = await rig.open();
    const state = rig.hub.contributorState.bind(rig.hub);
    rig.hub.contributorState = () => Promise.reject(new Error('secret path'));
    await client.sendHello(newSigner(), rig.study);
    const refusal = await client.next('refusal');
    expect(refusal).toMatchObject({ code: 'internal', retryable: true });
    expect(refusal.text).not.toContain('secret');
    expect(rig.logs.some((record) => record.level === 'error')).toBe(true);
    rig.hub.contributorState = state;
    await rig.expectService();
  });
});

describe('life of a socket', () => {
  it('closes one that never begins, and cuts one that stays silent', async () => {
    const clock = new HandClock();
    const rig = await startRig({ clock, limits: { handshakeTimeoutMs: 1_000, heartbeatMs: 750 } });
    const idle = await rig.open();
    await clock.pass(250, () => idle.closeCode !== undefined);
    expect(idle.closeCode).toBe(1008);
    const mute = await WireClient.open(rig.listener.port, { autoPong: false });
    await mute.hello(newSigner(), rig.study);
    await clock.pass(250, () => mute.closeCode !== undefined);
    expect(mute.closeCode).toBe(1006);
    await rig.expectService();
  });

  it('keeps one that answers pings', async () => {
    const clock = new HandClock();
    const rig = await startRig({ clock, limits: { handshakeTimeoutMs: 5_000, heartbeatMs: 750 } });
    const contributor = await rig.contributor();
    let pings = 0;
    contributor.client.ws.on('ping', () => (pings += 1));
    for (let round = 1; round <= 10; round++) {
      clock.advance(750);
      await eventually(() => pings >= round);
      // A ping of our own comes back after the server read the pong.
      await new Promise((resolve) => { contributor.client.ws.once('pong', resolve).ping(); });
    }
    expect((await contributor.send(1n)).accepted).toEqual([1n]);
  });

  it('closes gracefully: batches in flight are acked, sockets get 1001, newcomers '
    + 'nothing', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    rig.hub.hold = true;
    contributor.client.send(contributor.batch(1n));
    await eventually(() => rig.hub.submitted.length === 1);
    const closing = rig.listener.close();
    contributor.client.send(contributor.batch(2n));
    const refused = await contributor.client.next('ack');
    expect(refused.rejections)
      .toMatchObject([{ sequence: 2n, code: 'shutting-down', retryable: true }]);
    rig.hub.commit();
    expect((await contributor.client.next('ack')).accepted).toEqual([1n]);
    expect(await contributor.client.next('refusal'))
      .toMatchObject({ code: 'shutting-down', retryable: true });
    expect(await contributor.client.closed()).toBe(1001);
    await closing;
    expect(rig.hub.listeners).toBe(0);
    expect(rig.metrics.totals)
      .toEqual({ sockets: 0, channels: 0, subscriptions: 0, queuedBatches: 0, queuedBytes: 0 });
    await expect(WireClient.open(rig.listener.port)).rejects.toThrow();
  });
});
