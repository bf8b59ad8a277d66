import { describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import { encodeRows } from '../../src/wire/index.js';
import { newSigner, rawExchange, WireContributor } from '../support/wire-client.js';
import { eventually, startRig } from './harness.js';

const rows = (...values: number[]) => ({ data: encodeRows(Float64Array.from(values), 'float64') });
const rawRows = (...values: number[]) =>
  ({ data: new Uint8Array(Float64Array.from(values).buffer) });

describe('accepted batches', () => {
  it('hands the hub exactly what was signed', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    const frame = contributor.batch(1n, { rows: 2, last: true, ...rows(1.5, -2, 3, 4e9) });
    contributor.client.send(frame);
    const ack = await contributor.client.next('ack');
    expect(ack)
      .toMatchObject({ channel: 1, accepted: [1n], rejections: [], epoch: 7n, credit: 64 });
    expect(rig.hub.submitted).toHaveLength(1);
    expect(rig.hub.submitted[0]).toMatchObject({
      studyId: rig.study, sequence: 1n, epoch: 7n, last: true, rows: 2, columns: 2,
      contributor: contributor.signer.publicKey, body: frame.body, signature: frame.signature,
      values: Float64Array.of(1.5, -2, 3, 4e9),
    });
    expect(rig.hub.submitted[0]).not.toHaveProperty('rejectAs');
    expect(rig.metrics.accepted.total()).toBe(1);
  });

  it('reports a contributor\'s spending once, in the ack of the batch that spent it', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    const ownSpend = { rho: 0.25, rhoCap: 1, delta: 1e-8, deltaCap: 1e-6 };
    const submit = rig.hub.submit.bind(rig.hub);
    rig.hub.submit =
      async (batch) => ({ ...await submit(batch), ...(batch.sequence === 1n && { ownSpend }) });
    expect(await contributor.send(1n)).toMatchObject({ ownSpend });
    expect(await contributor.send(2n)).not.toHaveProperty('ownSpend');
  });

  it('takes float32 rows', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    await contributor.send(
      1n, { dataType: 'float32', data: encodeRows(Float64Array.of(0.5, 2), 'float32') },
    );
    expect(rig.hub.submitted[0]!.values).toEqual(Float64Array.of(0.5, 2));
  });

  it('answers a group commit with one ack per channel', async () => {
    const rig = await startRig();
    const client = await rig.open();
    const first = await WireContributor.open(client, rig.study);
    const second = await WireContributor.open(client, rig.study);
    rig.hub.hold = true;
    for (let i = 1n; i <= 40n; i++) {
      client.send(first.batch(i));
      client.send(second.batch(i, i === 3n ? rawRows(NaN, 1) : {}));
    }
    await eventually(() => rig.hub.submitted.length === 80);
    rig.hub.commit();
    const acks = [await client.next('ack'), await client.next('ack')];
    const all = Array.from({ length: 40 }, (_, i) => BigInt(i + 1));
    expect(acks.map((ack) => [ack.channel, ack.accepted]))
      .toEqual([[1, all], [2, all.filter((sequence) => sequence !== 3n)]]);
    expect(acks[1]!.rejections.map((rejection) => rejection.sequence)).toEqual([3n]);
    rig.hub.hold = false;
    await rig.expectService();
    expect(client.frames.filter((frame) => frame.kind === 'ack')).toHaveLength(2);
  });

  it('acks a replay as before, and refuses the same sequence with other bytes', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    const frame = contributor.batch(1n);
    contributor.client.send(frame);
    await contributor.client.next('ack');
    contributor.client.send(frame);
    expect(await contributor.client.next('ack')).toMatchObject({ accepted: [1n], rejections: [] });
    expect(rig.metrics.duplicates.total()).toBe(1);
    const mutated = await contributor.send(1n, rows(9, 9));
    expect(mutated.rejections).toMatchObject([{ sequence: 1n, code: 'mutated', retryable: false }]);
    expect(mutated.accepted).toEqual([]);
    await rig.expectService();
  });
});

describe('batches whose contents are unusable consume their sequence', () => {
  const cases = [
    ['NaN', rawRows(NaN, 1), 'not-finite'],
    ['infinite', rawRows(1, -Infinity), 'not-finite'],
    ['larger than 2^64', rawRows(1, -1e20), 'wrong-type'],
    ['another dimension', { columns: 3, ...rows(1, 2, 3) }, 'wrong-columns'],
    ['too many rows', { rows: 3, ...rows(1, 2, 3, 4, 5, 6) }, 'too-many-rows'],
    ['fewer numbers than they say', { rows: 2, ...rows(1, 2) }, 'malformed'],
    ['no rows', { rows: 0, data: new Uint8Array(0) }, 'malformed'],
    ['the id of another study', { studyId: fromHex('22'.repeat(32)) }, 'malformed'],
  ] as const;
  for (const [what, change, code] of cases) {
    it(`${what}: ${code}`, async () => {
      const rig = await startRig({ limits: { rowsPerBatch: 2 } });
      const contributor = await rig.contributor();
      const ack = await contributor.send(1n, change);
      expect(ack.rejections).toMatchObject([{ sequence: 1n, code, retryable: false }]);
      expect(ack.accepted).toEqual([]);
      expect(rig.hub.submitted[0]).toMatchObject({ rejectAs: code, sequence: 1n });
      expect(rig.hub.submitted[0]).not.toHaveProperty('values');
      expect(await contributor.send(2n)).toMatchObject({ accepted: [2n], rejections: [] });
      expect(rig.metrics.refused.by('code', {}).get(code)).toBe(1);
      await rig.expectService();
    });
  }

  it('names the columns and the limit in its texts, and never the values', async () => {
    const rig = await startRig({ limits: { rowsPerBatch: 2 } });
    const contributor = await rig.contributor();
    const dimension = await contributor.send(1n, { columns: 3, ...rows(1, 2, 31337) });
    expect(dimension.rejections[0]!.text).toContain('2 columns (delay_minutes, distance_miles)');
    const finite = await contributor.send(2n, rawRows(31337, NaN));
    expect(dimension.rejections[0]!.text + finite.rejections[0]!.text).not.toContain('31337');
    expect(JSON.stringify(rig.logs)).not.toContain('31337');
  });
});

describe('an ack', () => {
  it('names each batch that it answers, in any order of arrival', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    expect(await contributor.send(3n)).toMatchObject({ accepted: [3n], rejections: [] });
    const rejected = await contributor.send(2n, rawRows(NaN, 1));
    expect(rejected)
      .toMatchObject({ accepted: [], rejections: [{ sequence: 2n, code: 'not-finite' }] });
    // Of batches that were settled before, it names those that were sent again, and no others.
    expect(await contributor.send(2n, rawRows(NaN, 1))).toMatchObject({
      accepted: [], rejections: [{ sequence: 2n, code: 'not-finite' }],
    });
    expect(await contributor.send(3n)).toMatchObject({ accepted: [3n], rejections: [] });
    expect(await contributor.send(1n)).toMatchObject({ accepted: [1n], rejections: [] });
  });

  it('says which epoch is open when it is sent, or that none is', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    expect(await contributor.send(1n)).toMatchObject({ epoch: 7n });
    rig.hub.change(rig.study, { epoch: 0n });
    expect(await contributor.send(2n)).toMatchObject({ epoch: 0n });
    rig.hub.change(rig.study, { epoch: 8n });
    expect(await contributor.send(3n)).toMatchObject({ epoch: 8n });
  });

  it('answers both bodies of a sequence: the first one counts', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    rig.hub.hold = true;
    contributor.client.send(contributor.batch(1n));
    contributor.client.send(contributor.batch(1n, rows(9, 9)));
    await eventually(() => rig.hub.submitted.length === 2);
    rig.hub.commit();
    expect(await contributor.client.next('ack')).toMatchObject({
      accepted: [1n], rejections: [{ sequence: 1n, code: 'mutated', retryable: false }],
    });
  });
});

describe('the listener', () => {
  it('refuses a bad signature, keeps its sequence free, and closes at the third', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    const frame = contributor.batch(1n);
    const bad = {
      ...frame, signature: frame.signature.map((byte, i) => (i === 40 ? byte ^ 1 : byte)),
    };
    for (let i = 0; i < 2; i++) {
      contributor.client.send(bad);
      expect(await contributor.refusal())
        .toMatchObject({ code: 'bad-signature', retryable: false, channel: 1 });
    }
    contributor.client.send(frame);
    expect((await contributor.client.next('ack')).accepted).toEqual([1n]);
    expect(rig.hub.submitted).toHaveLength(1);
    contributor.client.send(bad);
    expect(await contributor.client.closed()).toBe(1008);
    await rig.expectService();
  });

  it('refuses a signature when one byte of the body, or the channel, is changed', async () => {
    const rig = await startRig();
    const client = await rig.open();
    const first = await WireContributor.open(client, rig.study);
    const second = await WireContributor.open(client, rig.study);
    const frame = first.batch(1n);
    client.send({
      ...frame, body: frame.body.map((byte, i) => (i === frame.body.length - 1 ? byte ^ 1 : byte)),
    });
    expect(await client.next('refusal')).toMatchObject({ code: 'bad-signature' });
    client.send({ ...frame, channel: second.ready.channel });
    expect(await client.next('refusal')).toMatchObject({ code: 'bad-signature' });
    expect(rig.hub.submitted).toHaveLength(0);
  });

  it('refuses a batch signed for another study of the server', async () => {
    const rig = await startRig();
    const client = await rig.open();
    const signer = newSigner();
    const here = await WireContributor.open(client, rig.study, signer);
    const there = await WireContributor.open(client, rig.other, signer);
    client.send({ ...here.batch(1n), channel: there.ready.channel });
    expect(await client.next('refusal')).toMatchObject({ code: 'bad-signature' });
  });

  it('refuses the whole channel of a study that was drained and removed', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    rig.hub.study = () => undefined;
    contributor.client.send(contributor.batch(1n));
    expect(await contributor.refusal())
      .toMatchObject({ code: 'unknown-study', retryable: false, channel: 1 });
    expect(rig.hub.submitted).toHaveLength(0);
  });

  it('refuses a signed body that cannot be decoded', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    contributor.client.send(contributor.signed(Uint8Array.of(1, 2, 3)));
    expect(await contributor.refusal()).toMatchObject({ code: 'malformed', channel: 1 });
    expect((await contributor.send(1n)).accepted).toEqual([1n]);
    await rig.expectService();
  });

  it('refuses frames that are not keelson.v1, and closes with 1002 at the third', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    for (const bytes of [Uint8Array.of(255, 255), new Uint8Array(0), Uint8Array.of(10, 200)]) {
      contributor.client.ws.send(bytes);
      expect(await contributor.refusal()).toMatchObject({ code: 'malformed', channel: 0 });
    }
    expect(await contributor.client.closed()).toBe(1002);
    await rig.expectService();
  });

  it('closes with 1003 at a text frame', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    contributor.client.ws.send('hello');
    expect(await contributor.client.closed()).toBe(1003);
    await rig.expectService();
  });

  it('closes with 1009 at an oversize frame, and serves the others', async () => {
    const rig = await startRig({ limits: { frameBytes: 2048 } });
    const bystander = await rig.contributor();
    const contributor = await rig.contributor();
    contributor.client.ws.send(new Uint8Array(4096));
    expect(await contributor.client.closed()).toBe(1009);
    expect((await bystander.send(1n)).accepted).toEqual([1n]);
    expect(rig.metrics.socketsClosed.by('reason', {}).get('WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'))
      .toBe(1);
    await rig.expectService();
  });

  it('serves the others after broken WebSocket framing', async () => {
    const rig = await startRig({ limits: { closeTimeoutMs: 50 } });
    const upgrade = [
      'GET / HTTP/1.1', `Host: 127.0.0.1:${rig.listener.port}`, 'Connection: Upgrade',
      'Upgrade: websocket', 'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Protocol: keelson.v1', '', '',
    ].join('\r\n');
    // An unmasked frame with reserved bits: a client may send neither.
    expect(await rawExchange(rig.listener.port, `${upgrade}\xf2\x05hello`)).toContain('101');
    await rig.expectService();
  });

  it('refuses frames for unknown channels, and closes the socket at too many', async () => {
    const rig = await startRig({ limits: { strayFramesPerSocket: 3 } });
    const contributor = await rig.contributor();
    for (let i = 0; i < 3; i++) {
      contributor.client.send({ ...contributor.batch(1n), channel: 9 });
      expect(await contributor.refusal()).toMatchObject({ code: 'unknown-channel', channel: 9 });
    }
    expect(await contributor.client.closed()).toBe(1008);
    await rig.expectService();
  });

  it('refuses batches past the credit, and closes the socket at too many', async () => {
    const rig = await startRig({ limits: { creditBatches: 4, strayFramesPerSocket: 3 } });
    const contributor = await rig.contributor();
    expect(contributor.ready.credit).toBe(4);
    rig.hub.hold = true;
    for (let i = 1n; i <= 6n; i++) contributor.client.send(contributor.batch(i));
    for (let i = 0; i < 2; i++) {
      expect(await contributor.refusal())
        .toMatchObject({ code: 'credit-exceeded', retryable: true, channel: 1 });
    }
    expect(rig.hub.submitted).toHaveLength(4);
    rig.hub.commit();
    expect((await contributor.client.next('ack')).accepted).toEqual([1n, 2n, 3n, 4n]);
    // Credit is back with the ack.
    for (let i = 5n; i <= 9n; i++) contributor.client.send(contributor.batch(i));
    expect(await contributor.client.closed()).toBe(1008);
    expect(rig.hub.submitted).toHaveLength(8);
    rig.hub.hold = false;
    await rig.expectService();
  });
});

describe('back-pressure', () => {
  it('answers overloaded, retryable, and continues when the journal has drained', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    rig.hub.overload = true;
    const refused = await contributor.send(1n);
    expect(refused.rejections)
      .toMatchObject([{ sequence: 1n, code: 'overloaded', retryable: true }]);
    expect(refused.accepted).toEqual([]);
    contributor.client.send(contributor.batch(1n));
    // Others are read meanwhile, after it was sent.
    for (let i = 0; i < 2; i++) await (await rig.open()).next('welcome');
    // The socket is paused: the second batch was not even read.
    expect(rig.metrics.refused.by('code', {}).get('overloaded')).toBe(1);
    rig.hub.overload = false;
    expect((await contributor.client.next('ack')).accepted).toEqual([1n]);
    await rig.expectService();
  });

  it('answers internal, retryable, when the hub fails', async () => {
    const rig = await startRig();
    const contributor = await rig.contributor();
    rig.hub.broken = true;
    const ack = await contributor.send(1n);
    expect(ack.rejections).toMatchObject([{ sequence: 1n, code: 'internal', retryable: true }]);
    expect(ack.accepted).toEqual([]);
    rig.hub.broken = false;
    expect(await contributor.send(1n)).toMatchObject({ accepted: [1n], rejections: [] });
    expect(rig.metrics.totals.queuedBatches).toBe(0);
  });
});
