import { describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import { verifyStatement } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import { decodeHeadBody, decodeReleaseBody } from '../../src/wire/index.js';
import type { WireClient } from '../support/wire-client.js';
import { server } from '../support/wire-samples.js';
import { eventually, startRig, type Rig } from './harness.js';

async function subscriber(rig: Rig, from = 0n, study = rig.study): Promise<WireClient> {
  const client = await rig.open();
  client.send({ kind: 'subscribe', studyId: fromHex(study), fromRelease: from });
  return client;
}

async function nextIndex(client: WireClient): Promise<number> {
  return Number(decodeReleaseBody((await client.next('release')).body).index);
}

async function nextHead(client: WireClient) {
  const head = await client.next('head');
  return decodeHeadBody(head.body);
}

describe('subscribers', () => {
  it('get the log over several pages, a signed head, then each release as it comes', async () => {
    const rig = await startRig({ limits: { releasesPerPage: 3 } });
    for (let i = 0; i < 7; i++) rig.hub.publish(rig.study);
    const client = await subscriber(rig);
    for (let i = 0; i < 7; i++) expect(await nextIndex(client)).toBe(i);
    const head = await client.next('head');
    expect(decodeHeadBody(head.body)).toMatchObject({ count: 7n, state: 'open' });
    const verifier = signing.createVerifier(server.publicKey);
    const digest = signing.sha512(head.body);
    expect(verifyStatement('head', verifier, fromHex(rig.study), digest, head.signature))
      .toBe(true);
    rig.hub.publish(rig.study);
    rig.hub.publish(rig.other);
    expect(await nextIndex(client)).toBe(7);
    rig.hub.publish(rig.study);
    expect(await nextIndex(client)).toBe(8);
    expect(client.frames.filter((frame) => frame.kind === 'release')).toHaveLength(9);
  });

  it('begin where they ask, also past the end', async () => {
    const rig = await startRig();
    for (let i = 0; i < 3; i++) rig.hub.publish(rig.study);
    const middle = await subscriber(rig, 2n);
    expect(await nextIndex(middle)).toBe(2);
    const beyond = await subscriber(rig, 2n ** 64n - 1n);
    expect((await nextHead(beyond)).count).toBe(3n);
    const soon = await subscriber(rig, 4n);
    await nextHead(soon);
    rig.hub.publish(rig.study);
    rig.hub.publish(rig.study);
    expect(await nextIndex(soon)).toBe(4);
    expect(beyond.frames.filter((frame) => frame.kind === 'release')).toHaveLength(0);
  });

  it('get the head of the finished log when the study stops', async () => {
    const rig = await startRig();
    const client = await subscriber(rig);
    expect((await nextHead(client)).state).toBe('open');
    rig.hub.publish(rig.study);
    rig.hub.change(rig.study, { state: 'exhausted', epoch: 0n });
    rig.hub.emit({ kind: 'study-stopped', studyId: rig.study, state: 'exhausted' });
    expect(await nextHead(client)).toMatchObject({ count: 1n, state: 'exhausted' });
    expect(await client.next('notice')).toMatchObject({ state: 'open' });
    expect(await client.next('notice'))
      .toMatchObject({ state: 'exhausted', epoch: 0n, closesInMs: 0n });
    // A release that was still being computed comes with a new head.
    rig.hub.publish(rig.study);
    expect((await nextHead(client)).count).toBe(2n);
  });

  it('hear no more after they unsubscribe, and may come back', async () => {
    const rig = await startRig();
    const client = await subscriber(rig);
    await nextHead(client);
    client.send({ kind: 'unsubscribe', studyId: fromHex(rig.study) });
    await eventually(() => rig.metrics.totals.subscriptions === 0);
    rig.hub.publish(rig.study);
    client.send({ kind: 'subscribe', studyId: fromHex(rig.study), fromRelease: 0n });
    expect(await nextIndex(client)).toBe(0);
    await nextHead(client);
    expect(client.frames.filter((frame) => frame.kind === 'release')).toHaveLength(1);
    client.send({ kind: 'subscribe', studyId: fromHex(rig.study), fromRelease: 0n });
    expect(await nextIndex(client)).toBe(0);
    expect(rig.metrics.totals.subscriptions).toBe(1);
    client.close();
    await eventually(() => rig.metrics.totals.subscriptions === 0);
  });

  it('are refused an unknown study, and rates apply', async () => {
    const rig = await startRig({ limits: { subscribePerSecond: 1e-6, subscribeBurst: 2 } });
    const client = await subscriber(rig, 0n, '33'.repeat(32));
    expect(await client.next('refusal'))
      .toMatchObject({ code: 'unknown-study', studyId: fromHex('33'.repeat(32)) });
    client.send({ kind: 'unsubscribe', studyId: fromHex('33'.repeat(32)) });
    expect(await client.next('refusal')).toMatchObject({ code: 'unknown-study' });
    client.send({ kind: 'subscribe', studyId: fromHex(rig.study), fromRelease: 0n });
    expect(await client.next('refusal')).toMatchObject({ code: 'rate-limited', retryable: true });
  });
});
