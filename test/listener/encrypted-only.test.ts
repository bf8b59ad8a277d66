import { afterEach, describe, expect, it } from 'vitest';
import { createContributor, type Contributor } from '../../client/index.js';
import { createOnceContributor } from '../../client/once.js';
import { MeddlingProxy } from '../../cli/conform/meddling-proxy.js';
import { sealedBy } from '../../cli/conform/sealed-cases.js';
import { fromHex } from '../../src/base/bytes.js';
import { EncryptedContributor, openEncrypted } from '../support/encrypted-client.js';
import { onceOf, sendOnce } from '../support/once-client.js';
import { UploadClient } from '../support/upload-client.js';
import { newSigner, WireContributor, type WireClient } from '../support/wire-client.js';
import { document } from '../support/wire-samples.js';
import { startRig, type Rig } from './harness.js';

const open: (Contributor | MeddlingProxy)[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await ('abort' in one ? one.abort() : one.close());
});

const rigOf = (): Promise<Rig> => startRig({ encryptedOnly: true });

const refusal = {
  kind: 'refusal', code: 'unsupported', retryable: false,
  text: expect.stringContaining('a WebSocket of keelson.v2') as string,
};

/** Makes the study one of three servers. */
function seal(rig: Rig): void {
  const questions = document.questions.map((question) =>
    ({ ...question, estimator: 'count', parameters: { threshold: 25 } }));
  const sealed = sealedBy([1, 2, 3].map(newSigner));
  rig.hub.change(rig.study, { document: { ...document, questions, sealed } });
}

describe('a server that takes rows on encrypted channels alone', () => {
  it('takes them', async () => {
    const rig = await rigOf();
    const one = await EncryptedContributor.open(await openEncrypted(rig.listener.port), rig.study);
    expect(await one.send(1n)).toMatchObject({ accepted: [1n] });
  });

  it.each([
    ['an older client', (rig: Rig): Promise<WireClient> => rig.open()],
    ['a new one', (rig: Rig): Promise<WireClient> => openEncrypted(rig.listener.port)],
  ])('refuses Hello of %s, before a row was sent', async (_name, connect) => {
    const rig = await rigOf();
    const client = await connect(rig);
    const signer = newSigner();
    await client.sendHello(signer, rig.study);
    expect(await client.next('refusal', 'ready'))
      .toMatchObject({ ...refusal, publicKey: signer.publicKey });
    const counted = rig.metrics.refused.total({ study: 'flight-delays', code: 'unsupported' });
    expect(counted).toBe(1);
  });

  it('refuses batches over HTTP, with a channel and without', async () => {
    const rig = await rigOf();
    const { address } = rig.listener;
    const upload = await UploadClient.begin(address, rig.study);
    const { frames } = await upload.send(upload.batch(1n));
    expect(frames).toEqual([expect.objectContaining(refusal)]);
    const { serverKey } = rig.hub;
    const sender = { serverKey, studyId: rig.study, signer: newSigner() };
    expect((await sendOnce(address, onceOf(sender))).frame).toMatchObject(refusal);
    expect(rig.hub.submitted).toEqual([]);
  });

  it('tells so to who has no channel, whose row stays at home', async () => {
    const rig = await rigOf();
    const open = await fetch(rig.url(`/v1/studies/${rig.study}/open`));
    expect(await open.json()).toMatchObject({ encryptedOnly: true });
    const contributor = createOnceContributor({
      url: rig.listener.address, study: rig.study, seed: new Uint8Array(32).fill(3),
    });
    await expect(contributor.contribute([[1, 2]])).rejects.toMatchObject({ code: 'unsupported' });
    expect(rig.metrics.batches.total({ form: 'once' })).toBe(0);
    expect(rig.metrics.refused.total({ study: 'flight-delays', code: 'unsupported' })).toBe(0);
  });

  it('opens a channel for entries of a sealed study', async () => {
    const rig = await rigOf();
    seal(rig);
    const { ready } = await WireContributor.open(await rig.open(), rig.study);
    expect(ready.channel).toBe(1);
    const upload = await UploadClient.begin(rig.listener.address, rig.study);
    expect((await upload.send()).frames[0]).toMatchObject({ kind: 'ready' });
  });

  it('serves readers of any version', async () => {
    const rig = await rigOf();
    const client = await rig.open();
    rig.hub.publish(rig.study);
    client.send({ kind: 'subscribe', studyId: fromHex(rig.study), fromRelease: 0n });
    expect((await client.next('release')).body.length).toBeGreaterThan(0);
  });

  it('ends a contributor of this package behind a proxy that hides such channels', async () => {
    const rig = await rigOf();
    const proxy = await MeddlingProxy.to(rig.listener.port);
    proxy.offers = () => ['keelson.v1'];
    const contributor = createContributor({
      url: proxy.url, study: 'flight-delays', seed: new Uint8Array(32).fill(3),
    });
    open.push(contributor, proxy);
    const rows = [[1234.5, 2]];
    await expect(contributor.send(rows)).rejects.toMatchObject({ code: 'unsupported' });
    const sent = Buffer.concat(proxy.seen.map(({ message }) => message));
    expect(sent.includes(Buffer.from(Float64Array.from(rows[0]!).buffer))).toBe(false);
  });
});
