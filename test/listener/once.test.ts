import { createConnection } from 'node:net';
import { describe, expect, it } from 'vitest';
import { decodeServerFrame, encodeOnce } from '../../src/wire/index.js';
import type { WireCode } from '../../src/base/error-codes.js';
import type { SubmitResult } from '../../server/studies/contract.js';
import { onceOf, sendOnce, type OnceSender } from '../support/once-client.js';
import { newSigner } from '../support/wire-client.js';
import { document } from '../support/wire-samples.js';
import { HandClock } from './hand-clock.js';
import { eventually, startRig, type Rig } from './harness.js';

const someone = (rig: Rig, change: Partial<OnceSender> = {}): OnceSender =>
  ({ serverKey: rig.hub.serverKey, studyId: rig.study, signer: newSigner(), ...change });

/** Every answer of a hub that refuses with a code. */
function refusing(rig: Rig, result: Partial<SubmitResult>): void {
  rig.hub.submit = async () => ({ verdict: 'rejected', ...result });
}

describe('a contribution without a channel', () => {
  it('gets one Ack of channel 0 with its verdict, and nothing that is its sender\'s', async () => {
    const rig = await startRig();
    rig.hub.submit = async () => ({
      verdict: 'accepted', ownSpend: { rho: 1, rhoCap: 2, delta: 3, deltaCap: 4 },
    });
    const answer = await sendOnce(rig.listener.address, onceOf(someone(rig)));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/x-protobuf');
    expect(answer.frame).toEqual({
      kind: 'ack', channel: 0, accepted: [1n], rejections: [], epoch: 7n, credit: 0,
    });
    expect(rig.metrics.accepted.total({ study: 'flight-delays' })).toBe(1);
    expect(rig.metrics.totals).toMatchObject({ channels: 0, queuedBatches: 0, queuedBytes: 0 });
  });

  it('is answered after the verdict and not before', async () => {
    const rig = await startRig();
    rig.hub.hold = true;
    let isAnswered = false;
    const answer = sendOnce(rig.listener.address, onceOf(someone(rig)))
      .finally(() => { isAnswered = true; });
    await eventually(() => rig.hub.submitted.length === 1);
    expect(isAnswered).toBe(false);
    expect(rig.metrics.totals.queuedBatches).toBe(1);
    rig.hub.hold = false;
    rig.hub.commit();
    expect((await answer).frame).toMatchObject({ kind: 'ack', accepted: [1n] });
  });

  it('counts once, over both ways, and gets the same answer from whoever repeats it', async () => {
    const rig = await startRig();
    const person = await rig.contributor();
    const { signer } = person;
    const once = onceOf(someone(rig, { signer }));
    const first = await sendOnce(rig.listener.address, once);
    const again = await sendOnce(rig.listener.address, once);
    expect(again.frame).toEqual(first.frame);
    person.client.send({
      kind: 'batch', channel: person.ready.channel, body: once.body, signature: once.signature,
    });
    expect(await person.client.next('ack')).toMatchObject({ accepted: [1n] });
    expect(rig.metrics.accepted.total({ study: 'flight-delays' })).toBe(1);
    expect(rig.metrics.duplicates.total({ study: 'flight-delays' })).toBe(2);
    const other = onceOf(someone(rig, { signer }), 1n, { last: false });
    expect((await sendOnce(rig.listener.address, other)).frame)
      .toMatchObject({ rejections: [{ sequence: 1n, code: 'mutated' }] });
    const { batches } = rig.metrics;
    expect(['once', 'signed', 'http', 'encrypted'].map((form) => batches.total({ form })))
      .toEqual([3, 1, 0, 0]);
  });

  it('is told nothing of how its key stands, whatever refuses it', async () => {
    const rig = await startRig();
    const standings: readonly WireCode[] =
      ['quarantined', 'contributor-budget-exhausted', 'contribution-full'];
    const spend = { ownSpend: { rho: 1, rhoCap: 1, delta: 1, deltaCap: 1 } };
    const answers = [];
    for (const code of standings) {
      refusing(rig, { code, ...spend });
      answers.push((await sendOnce(rig.listener.address, onceOf(someone(rig)))).frame);
    }
    expect(answers[0]).toMatchObject({ rejections: [{ code: 'not-counted', retryable: false }] });
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    expect(JSON.stringify(answers, (_name, value: unknown) => String(value))).not.toMatch(/pend/);
    // A batch above the study's rows is at fault itself, however its key stands.
    const rows = document.contribution.rowsMax + 1;
    const data = new Uint8Array(16 * rows);
    const sizes = [];
    for (const code of standings) {
      refusing(rig, { code });
      const large = onceOf(someone(rig), 1n, { rows, data });
      sizes.push((await sendOnce(rig.listener.address, large)).frame);
    }
    for (const frame of sizes) {
      expect(frame).toMatchObject({ rejections: [{ code: 'contribution-full' }] });
      expect(frame).toEqual(sizes[0]);
    }
  });

  it('may be sent again where nothing was consumed', async () => {
    const rig = await startRig();
    rig.hub.broken = true;
    const once = onceOf(someone(rig));
    expect((await sendOnce(rig.listener.address, once)).frame)
      .toMatchObject({ rejections: [{ sequence: 1n, code: 'internal', retryable: true }] });
    rig.hub.broken = false;
    expect((await sendOnce(rig.listener.address, once)).frame).toMatchObject({ accepted: [1n] });
  });

  it('settles a sequence whose rows are unusable', async () => {
    const rig = await startRig();
    const once = onceOf(someone(rig), 1n, { columns: 1, rows: 2 });
    expect((await sendOnce(rig.listener.address, once)).frame)
      .toMatchObject({ rejections: [{ sequence: 1n, code: 'wrong-columns' }] });
  });
});

describe('a contribution that is refused before its verdict', () => {
  const codeOf = async (rig: Rig, ...sent: Parameters<typeof onceOf>): Promise<string> => {
    const { frame } = await sendOnce(rig.listener.address, onceOf(...sent));
    return frame?.kind === 'refusal' ? frame.code : String(frame?.kind);
  };

  it('names its study and key, and no sequence', async () => {
    const rig = await startRig();
    const sender = someone(rig, { studyId: '00'.repeat(32) });
    const { frame } = await sendOnce(rig.listener.address, onceOf(sender));
    expect(frame).toMatchObject({
      kind: 'refusal', code: 'unknown-study', channel: 0, publicKey: sender.signer.publicKey,
    });
    expect(rig.hub.submitted).toHaveLength(0);
  });

  it('is one for another server, with a broken signature, or of no key', async () => {
    const rig = await startRig();
    const elsewhere = someone(rig, { serverKey: newSigner().publicKey });
    expect(await codeOf(rig, elsewhere)).toBe('bad-signature');
    const once = onceOf(someone(rig));
    const forged = { ...once, publicKey: newSigner().publicKey };
    expect((await sendOnce(rig.listener.address, forged)).frame)
      .toMatchObject({ code: 'bad-signature' });
    expect((await sendOnce(rig.listener.address, { ...once, publicKey: new Uint8Array(32) })).frame)
      .toMatchObject({ code: 'invalid-key' });
    expect(rig.hub.submitted).toHaveLength(0);
  });

  it('tells nobody but its holder whether a key is on the list', async () => {
    const rig = await startRig();
    rig.hub.allowed = () => false;
    const once = onceOf(someone(rig));
    expect((await sendOnce(rig.listener.address, once)).frame)
      .toMatchObject({ code: 'key-not-allowed' });
    const forged = { ...once, signature: new Uint8Array(64) };
    const unlisted = (await sendOnce(rig.listener.address, forged)).frame;
    rig.hub.allowed = () => true;
    expect((await sendOnce(rig.listener.address, forged)).frame).toEqual(unlisted);
    expect(unlisted).toMatchObject({ code: 'bad-signature' });
  });

  it('lacks the token that the study asks for', async () => {
    const rig = await startRig();
    const issuer = '11'.repeat(32);
    rig.hub.change(rig.study, {
      document: { ...document, admission: { kind: 'enrolment', issuer } },
    });
    expect(await codeOf(rig, someone(rig))).toBe('not-enrolled');
    const { frame } = await sendOnce(
      rig.listener.address, { ...onceOf(someone(rig)), enrolment: new Uint8Array(150) });
    expect(frame).toMatchObject({ code: 'not-enrolled' });
  });

  it('is for a sealed study', async () => {
    const rig = await startRig();
    const sealed = { servers: [] } as unknown as typeof document.sealed;
    rig.hub.change(rig.study, { document: { ...document, ...(sealed && { sealed }) } });
    const { frame } = await sendOnce(rig.listener.address, onceOf(someone(rig)));
    expect(frame).toMatchObject({ kind: 'refusal', code: 'unsupported' });
    expect(frame).toMatchObject({ text: expect.stringContaining('/v1/batches') as string });
  });
});

describe('a request that is no contribution', () => {
  it('gets an error that says what to do', async () => {
    const rig = await startRig({ limits: { frameBytes: 1_500 } });
    const { address } = rig.listener;
    const good = encodeOnce(onceOf(someone(rig)));
    type Case = readonly [number, string, Readonly<Record<string, string>>, Uint8Array];
    const cases: readonly Case[] = [
      [415, 'wrong-content-type', { 'Content-Type': 'application/json' }, good],
      [403, 'unknown-origin', { Origin: 'https://stranger.example' }, good],
      [413, 'too-large', {}, new Uint8Array(1_501)],
      [400, 'malformed', {}, good.subarray(0, -1)],
      [400, 'malformed', {}, new Uint8Array(0)],
      [400, 'malformed', {}, new Uint8Array(100).fill(255)],
    ];
    for (const [status, code, headers, body] of cases) {
      const answer = await sendOnce(address, body, headers);
      expect([answer.status, answer.code]).toEqual([status, code]);
    }
    expect((await fetch(`${address}/v1/once`)).status).toBe(405);
    await rig.expectService();
  });

  it('says when to come again: too many, or while the server is behind', async () => {
    const rig = await startRig({ limits: { helloPerSecond: 1, helloBurst: 1 } });
    rig.hub.overload = true;
    const behind = await sendOnce(rig.listener.address, onceOf(someone(rig)));
    expect([behind.status, behind.code, behind.headers.get('retry-after')])
      .toEqual([503, 'overloaded', '1']);
    rig.hub.overload = false;
    expect((await sendOnce(rig.listener.address, onceOf(someone(rig)))).status).toBe(200);
    const hasty = await sendOnce(rig.listener.address, onceOf(someone(rig)));
    expect([hasty.status, hasty.code, hasty.headers.get('retry-after')])
      .toEqual([429, 'rate-limited', '1']);
  });

  it('counts the people behind a trusted proxy each by their own address', async () => {
    const rig = await startRig({
      limits: { helloPerSecond: 1, helloBurst: 1 }, trustedProxies: ['127.0.0.1'],
    });
    const from = (address: string) =>
      sendOnce(rig.listener.address, onceOf(someone(rig)), { 'X-Forwarded-For': address });
    expect((await from('203.0.113.9')).status).toBe(200);
    expect((await from('203.0.113.10')).status).toBe(200);
    expect((await from('203.0.113.9')).code).toBe('rate-limited');
  });

  it('is cut off when its body takes too long', async () => {
    const clock = new HandClock();
    const rig = await startRig({ clock });
    const socket = createConnection(rig.listener.port, '127.0.0.1');
    let heard = '';
    socket.on('data', (part: Buffer) => { heard += String(part); });
    socket.write('POST /v1/once HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n'
      + 'Expect: 100-continue\r\nContent-Length: 500\r\n\r\n');
    await eventually(() => heard.includes('100 Continue'));
    clock.advance(60_001);
    await eventually(() => heard.includes('"too-slow"'));
    socket.destroy();
  });

  it('is preflighted for the pages of a listed origin', async () => {
    const origin = 'https://survey.example';
    const rig = await startRig({ allowedOrigins: [origin] });
    const asked = await fetch(`${rig.listener.address}/v1/once`, {
      method: 'OPTIONS', headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe(origin);
    expect(asked.headers.get('access-control-allow-headers')).toContain('Content-Type');
    const sent = await sendOnce(rig.listener.address, onceOf(someone(rig)), { Origin: origin });
    expect(sent.status).toBe(200);
    expect(sent.headers.get('access-control-expose-headers')).toBe('Retry-After');
  });
});

describe('GET /v1/studies/ID/open', () => {
  it('says which epoch is open, and may be kept for 5 s', async () => {
    const rig = await startRig();
    const url = rig.url(`/v1/studies/${rig.study}/open`);
    rig.hub.change(rig.study, { closesAtMs: 1_234 });
    const answer = await fetch(url);
    expect(answer.headers.get('cache-control')).toBe('max-age=5');
    const said = await answer.json() as { welcome: string };
    expect(said).toMatchObject({ epoch: '7', closesAtMs: 1_234, encryptedOnly: false });
    expect(decodeServerFrame(Buffer.from(said.welcome, 'base64'))).toMatchObject({
      kind: 'welcome', serverKey: rig.hub.serverKey, serverNonce: new Uint8Array(32),
      studies: [{ facts: rig.hub.study(rig.study)!.facts, state: 'open', epoch: 7n }],
    });
    rig.hub.change(rig.study, { epoch: 0n, closesAtMs: 0 });
    expect(await (await fetch(url)).json()).toMatchObject({ epoch: '0', closesAtMs: 0 });
  });

  it('is one answer for the pages of all origins, so that a cache may keep it', async () => {
    const origin = 'https://survey.example';
    const rig = await startRig({ allowedOrigins: [origin] });
    for (const headers of [{}, { Origin: origin }, { Origin: 'https://other.example' }]) {
      const answer = await fetch(rig.url(`/v1/studies/${rig.study}/open`), { headers });
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('vary')).toBeNull();
    }
  });

  it('knows studies by their id alone', async () => {
    const rig = await startRig();
    for (const name of ['flight-delays', '00'.repeat(32)]) {
      const answer = await fetch(rig.url(`/v1/studies/${name}/open`));
      expect(answer.status).toBe(404);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
  });
});

it('is answered before the listener closes', async () => {
  const rig = await startRig();
  rig.hub.hold = true;
  const answer = sendOnce(rig.listener.address, onceOf(someone(rig)));
  await eventually(() => rig.hub.submitted.length === 1);
  const closed = rig.listener.close();
  rig.hub.commit();
  expect((await answer).frame).toMatchObject({ accepted: [1n] });
  await closed;
});
