import { createConnection } from 'node:net';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../server/base/clock.js';
import { toHex } from '../../src/base/bytes.js';
import { encodeClientFrame, joinFrames } from '../../src/wire/index.js';
import { post, UploadClient } from '../support/upload-client.js';
import { newSigner, rawExchange } from '../support/wire-client.js';
import { HandClock } from './hand-clock.js';
import { eventually, startRig } from './harness.js';

describe('an upload', () => {
  it('begins with Welcome and a nonce, and gets the verdicts of its batches and the next '
    + 'nonce', async () => {
    const rig = await startRig();
    const client = await UploadClient.begin(rig.listener.address, rig.study);
    expect(toHex(client.welcome.serverNonce)).toBe(client.nonce);
    const { nonce } = client;
    const hello = client.hello();
    const answer = await client.post(client.body([client.batch(1n), client.batch(2n)], hello));
    expect(client.proves(answer, hello, nonce)).toBe(true);
    expect(answer.status).toBe(200);
    expect(answer.nonce).not.toBe(nonce);
    const accepted = answer.frames
      .flatMap((frame) => (frame.kind === 'ack' ? frame.accepted : []));
    expect(accepted).toEqual([1n, 2n]);
    expect(answer.frames.at(-1)).toMatchObject({ kind: 'notice', epoch: 7n });
    expect(rig.metrics.accepted.total({ study: 'flight-delays' })).toBe(2);
    expect(rig.metrics.totals).toMatchObject({ channels: 0, queuedBatches: 0, queuedBytes: 0 });
  });

  it('is answered after the verdict and not before', async () => {
    const rig = await startRig();
    const client = await UploadClient.begin(rig.listener.address, rig.study);
    rig.hub.hold = true;
    let isAnswered = false;
    const answer = client.send(client.batch(1n)).finally(() => { isAnswered = true; });
    await eventually(() => rig.hub.submitted.length === 1);
    expect(isAnswered).toBe(false);
    rig.hub.hold = false;
    rig.hub.commit();
    expect((await answer).frames).toContainEqual(
      expect.objectContaining({ kind: 'ack', accepted: [1n] }));
  });

  it('takes rows back, and answers a poll with the state alone', async () => {
    const rig = await startRig();
    const client = await UploadClient.begin(rig.listener.address, rig.study);
    const poll = await client.send();
    expect(poll.frames.map(({ kind }) => kind)).toEqual(['ready', 'notice']);
    const answer = await client.send(client.batch(1n), client.withdrawal(7n));
    expect(answer.frames).toContainEqual(
      expect.objectContaining({ kind: 'ack', withdrawn: 7n }));
  });

  it('counts once and shows nothing when somebody sends the whole request again', async () => {
    const rig = await startRig();
    const client = await UploadClient.begin(rig.listener.address, rig.study);
    const { nonce } = client;
    const body = client.body([client.batch(1n)]);
    await client.post(body);
    const repeated = await post(rig.listener.address, { 'Keelson-Nonce': nonce }, body);
    expect(repeated).toMatchObject({ status: 409, code: 'stale-nonce', frames: [] });
    // With a nonce of its own, a recorded Hello does not verify.
    const other = await UploadClient.begin(rig.listener.address, rig.study);
    const swapped = await other.post(body);
    expect(swapped.frames).toMatchObject([{ kind: 'refusal', code: 'bad-signature' }]);
    expect(rig.hub.submitted).toHaveLength(1);
    // The contributor itself may send its batch again: the same answer, and it counts once.
    const again = await client.send(client.batch(1n));
    expect(again.frames).toContainEqual(
      expect.objectContaining({ kind: 'ack', accepted: [1n] }));
    expect(rig.metrics.accepted.total({ study: 'flight-delays' })).toBe(1);
    expect(rig.metrics.duplicates.total({ study: 'flight-delays' })).toBe(1);
  });

  it('shows no state and takes nothing of another contributor', async () => {
    const rig = await startRig();
    const victim = await UploadClient.begin(rig.listener.address, rig.study);
    await victim.send(victim.batch(1n));
    const thief = await UploadClient.begin(rig.listener.address, rig.study);
    const hello = thief.hello({ publicKey: victim.signer.publicKey });
    const forged = await thief.post(thief.body([victim.batch(2n)], hello));
    expect(forged.frames).toMatchObject([{ kind: 'refusal', code: 'bad-signature' }]);
    // Under its own Hello, the batches of another key are not signed by it.
    const stolen = await thief.send(victim.batch(2n));
    expect(stolen.frames.map(({ kind }) => kind)).toEqual(['ready', 'refusal', 'notice']);
    const { frames: [ready] } = await victim.send();
    expect(ready).toMatchObject({ kind: 'ready', nextSequence: 2n, holes: [] });
  });

  it('tells an outsider nothing of the uploads of others', async () => {
    const rig = await startRig();
    const look = async (): Promise<object> => {
      const { headers, frames: [welcome] } = await post(rig.listener.address, {}, undefined);
      const shown = [...headers].filter(([name]) => !['date', 'keelson-nonce'].includes(name));
      return { shown, welcome: { ...welcome, serverNonce: undefined } };
    };
    const before = await look();
    const client = await UploadClient.begin(rig.listener.address, rig.study);
    for (let sequence = 1n; sequence <= 20n; sequence++) await client.send(client.batch(sequence));
    expect(await look()).toEqual(before);
  });

  it('is refused by the same rules as over a socket', async () => {
    const rig = await startRig();
    const client = await UploadClient.begin(rig.listener.address, rig.study);
    const mixed = await client.send(
      client.batch(1n), client.batch(2n, { columns: 1, rows: 2 }), client.batch(99n),
    );
    const codes = mixed.frames.flatMap((frame) =>
      (frame.kind === 'ack' ? frame.rejections.map(({ code }) => code) : []));
    expect(codes).toContain('wrong-columns');
    rig.hub.allowed = () => false;
    const refused = await client.send(client.batch(3n));
    expect(refused.frames).toMatchObject([{ kind: 'refusal', code: 'key-not-allowed' }]);
    expect(refused.frames).toHaveLength(1);
  });

  it('ends early, and its connection too, after three bad signatures', async () => {
    const rig = await startRig();
    const client = await UploadClient.begin(rig.listener.address, rig.study);
    const bad = client.batch(1n) as Extract<ReturnType<typeof client.batch>, { kind: 'batch' }>;
    const frames = Array.from({ length: 6 }, () => ({ ...bad, signature: new Uint8Array(64) }));
    const answer = await client.send(...frames);
    expect(answer.frames.filter(({ kind }) => kind === 'refusal')).toHaveLength(3);
    expect(answer.headers.get('connection')).toBe('close');
    await rig.expectService();
  });
});

describe('a request that is no upload', () => {
  it('gets an error that says what to do', async () => {
    const rig = await startRig({ limits: { uploadBytes: 2_000, frameBytes: 1_500 } });
    const { address } = rig.listener;
    const good = (client: UploadClient): Uint8Array => client.body([client.batch(1n)]);
    type Case = readonly [
      number, string, Readonly<Record<string, string>>, ((client: UploadClient) => Uint8Array)?,
    ];
    const cases: readonly Case[] = [
      [415, 'wrong-content-type', { 'Content-Type': 'application/json' }, good],
      [415, 'wrong-content-type', { 'Content-Type': 'text/plain' }],
      [400, 'nonce-missing', { 'Keelson-Nonce': '' }, good],
      [400, 'bad-request', { 'Keelson-Nonce': 'xyz' }, good],
      [409, 'stale-nonce', { 'Keelson-Nonce': '00'.repeat(32) }, good],
      [403, 'unknown-origin', { Origin: 'https://stranger.example' }, good],
      [413, 'too-large', {}, () => new Uint8Array(2_001)],
      [400, 'malformed', {}, (client) => good(client).subarray(0, -1)],
      [400, 'malformed', {}, () => new Uint8Array(0)],
      [400, 'malformed', {}, () => new Uint8Array(100).fill(255)],
      [400, 'malformed', {}, () => joinFrames([new Uint8Array(1_501)])],
      [400, 'malformed', {}, (client) => joinFrames([encodeClientFrame(client.batch(1n))])],
      [400, 'malformed', {}, (client) => client.body([client.hello()])],
      [400, 'malformed', {}, (client) => client.body([
        { kind: 'subscribe', studyId: client.context.studyId, fromRelease: 0n },
      ])],
    ];
    for (const [status, code, headers, body] of cases) {
      const client = await UploadClient.begin(address, rig.study);
      const answer = await client.post(body?.(client), headers);
      expect(answer, `${status} ${code}`).toMatchObject({ status, code });
      expect(answer.headers.get('connection'), code).toBe('close');
    }
    expect(rig.logs.filter(({ level }) => level === 'error')).toEqual([]);
    await rig.expectService();
  });

  it('says when to come again while the server is behind', async () => {
    const rig = await startRig();
    const client = await UploadClient.begin(rig.listener.address, rig.study);
    rig.hub.overload = true;
    const answer = await client.send(client.batch(1n));
    expect(answer).toMatchObject({ status: 503, code: 'overloaded' });
    expect(answer.headers.get('retry-after')).toBe('1');
    rig.hub.overload = false;
    expect((await client.send(client.batch(1n))).status).toBe(200);
  });

  it('may begin as often as the rate of connections allows', async () => {
    const rig = await startRig({
      clock: Object.assign(new HandClock(), {
        after: (...wait: Parameters<typeof systemClock.after>) => systemClock.after(...wait),
      }),
      limits: { connectionsBurst: 4, connectionsPerSecond: 1 },
    });
    let answer = await post(rig.listener.address, {}, undefined);
    expect(answer.status).toBe(200);
    while (answer.status === 200) answer = await post(rig.listener.address, {}, undefined);
    expect(answer).toMatchObject({ status: 429, code: 'rate-limited' });
    expect(answer.headers.get('retry-after')).toBe('1');
  });

  it('is cut off when its body takes too long', async () => {
    const rig = await startRig({ limits: { uploadTimeoutMs: 100 } });
    const client = await UploadClient.begin(rig.listener.address, rig.study);
    const text = await rawExchange(rig.listener.port, [
      'POST /v1/batches HTTP/1.1', 'Host: localhost', 'Content-Type: application/x-protobuf',
      `Keelson-Nonce: ${client.nonce}`, 'Content-Length: 1000', '', 'x',
    ].join('\r\n'));
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(text).toContain('too-slow');
    await rig.expectService();
  });

  it('holds no channel after its body took too long', async () => {
    const rig = await startRig({ limits: { uploadTimeoutMs: 100 } });
    const client = await UploadClient.begin(rig.listener.address, rig.study);
    const body = Buffer.from(client.body([client.batch(1n)])).toString('latin1');
    const text = await rawExchange(rig.listener.port, [
      'POST /v1/batches HTTP/1.1', 'Host: localhost', 'Content-Type: application/x-protobuf',
      `Keelson-Nonce: ${client.nonce}`, `Content-Length: ${body.length + 1}`, '', body,
    ].join('\r\n'));
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    await eventually(() => rig.metrics.totals.channels === 0);
    expect(rig.metrics.accepted.total({ study: 'flight-delays' })).toBe(1);
  });

  it('has Ready first, also where batches were answered before the stored state was '
    + 'read', async () => {
    const rig = await startRig();
    const client = await UploadClient.begin(rig.listener.address, rig.study);
    const stateOf = rig.hub.contributorState.bind(rig.hub);
    let answerState = (): void => undefined;
    const asked = new Promise<void>((resolve) => { answerState = resolve; });
    Object.assign(rig.hub, {
      contributorState: async (...who: Parameters<typeof stateOf>) => {
        await asked;
        return stateOf(...who);
      },
    });
    const answer = client.send(client.batch(1n));
    await eventually(() => rig.metrics.accepted.total({ study: 'flight-delays' }) === 1);
    answerState();
    expect((await answer).frames.map(({ kind }) => kind)).toEqual(['ready', 'ack', 'notice']);
  });

  it('tells nothing but the refusal where the stored state cannot be read', async () => {
    const rig = await startRig();
    const client = await UploadClient.begin(rig.listener.address, rig.study);
    const fails = async (): Promise<never> => { throw new Error('planted'); };
    const contributorState = rig.hub.contributorState.bind(rig.hub);
    Object.assign(rig.hub, { contributorState: fails });
    const answer = await client.send(client.batch(1n));
    expect(answer.frames).toMatchObject([{ kind: 'refusal', code: 'internal', channel: 0 }]);
    Object.assign(rig.hub, { contributorState });
    expect((await client.send(client.batch(1n))).frames)
      .toContainEqual(expect.objectContaining({ kind: 'ack', accepted: [1n] }));
    expect(rig.metrics.totals.channels).toBe(0);
  });

  it('is preflighted for the pages of a listed origin', async () => {
    const rig = await startRig({ allowedOrigins: ['https://shop.example'] });
    const headers = { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'POST' };
    const answer = await fetch(rig.url('/v1/batches'), { method: 'OPTIONS', headers });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    expect(answer.headers.get('access-control-allow-headers')).toContain('Keelson-Nonce');
    const asked = await post(rig.listener.address, { Origin: 'https://shop.example' }, undefined);
    expect(asked.status).toBe(200);
  });
});

it('holds no channel of a sender that has gone', async () => {
  const rig = await startRig();
  const client = await UploadClient.begin(rig.listener.address, rig.study, newSigner());
  const body = client.body([client.batch(1n)]);
  const socket = createConnection(rig.listener.port, '127.0.0.1');
  socket.write([
    'POST /v1/batches HTTP/1.1', 'Host: localhost', 'Content-Type: application/x-protobuf',
    `Keelson-Nonce: ${client.nonce}`, `Content-Length: ${body.length + 10}`, '', '',
  ].join('\r\n'));
  socket.write(body);
  await eventually(() => rig.metrics.totals.channels === 1 && rig.hub.submitted.length === 1);
  socket.destroy();
  await eventually(() => rig.metrics.totals.channels === 0);
  expect(rig.logs.filter(({ level }) => level === 'error')).toEqual([]);
});
