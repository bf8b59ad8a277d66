import { describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import { openFrame } from '../../src/signing/channel-keys-node.js';
import { openMessage, signWithdrawal, verifyShare } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import { decodeUnsignedReady, type EncryptedBatch, type Welcome } from '../../src/wire/index.js';
import { EncryptedContributor, openEncrypted, opening } from '../support/encrypted-client.js';
import { newSigner, WireContributor, type WireClient } from '../support/wire-client.js';
import { HandClock } from './hand-clock.js';
import { eventually, startRig, type Rig } from './harness.js';

async function scene(options: Parameters<typeof startRig>[0] = {}): Promise<{
  readonly rig: Rig; readonly client: WireClient;
}> {
  const rig = await startRig(options);
  return { rig, client: await openEncrypted(rig.listener.port) };
}

async function contributor(options: Parameters<typeof startRig>[0] = {}): Promise<{
  readonly rig: Rig; readonly client: WireClient; readonly one: EncryptedContributor;
}> {
  const found = await scene(options);
  return { ...found, one: await EncryptedContributor.open(found.client, found.rig.study) };
}

const refusalOf = async (client: WireClient): Promise<string> =>
  (await client.next('refusal')).code;

/** What X25519 answers with zeros: a point of order 8. */
const lowOrder = fromHex('e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800');

describe('a socket with encrypted channels', () => {
  it('shows a share that the server signed, and no other socket does', async () => {
    const { rig, client } = await scene();
    const { share, serverKey } = await client.next('welcome');
    expect(await verifyShare(signing.createVerifier(serverKey), share!, signing)).toBe(true);
    expect(share!.untilMs - share!.issuedMs).toBe(600_000n);
    const signed = await rig.open();
    expect((await signed.next('welcome')).share).toBeUndefined();
    signed.send((await opening(client, rig.study, newSigner())).open);
    expect(await refusalOf(signed)).toBe('malformed');
  });

  it('takes batches without a signature, and its acks open', async () => {
    const { rig, one } = await contributor();
    expect(one.ready).toMatchObject({ channel: 1, epoch: 7n, nextSequence: 1n, credit: 64 });
    expect(await one.send(1n)).toMatchObject({ accepted: [1n], channel: 1, epoch: 7n });
    expect(await one.send(2n)).toMatchObject({ accepted: [2n] });
    const [first] = rig.hub.submitted;
    expect(first!.signature.length).toBe(0);
    expect(first!.digest).toEqual(signing.sha512(first!.body));
    expect(Array.from(first!.values!)).toEqual([1, 2]);
    expect(rig.metrics.batches.total({ form: 'encrypted' })).toBe(2);
  });

  it('takes the first batches before it answers Open, and acks them after it', async () => {
    const { rig, client } = await scene();
    const { open, keys } = await opening(client, rig.study, newSigner());
    client.send(open);
    const one = new EncryptedContributor(client, rig.study, keys, 1);
    for (const sequence of [1n, 2n]) client.send(one.batch(sequence));
    const opened = await client.next('opened', 'encrypted-ack');
    expect(opened.kind).toBe('opened');
    expect(decodeUnsignedReady(openFrame(keys.down, one.received++, 'opened', opened.encrypted)!))
      .toMatchObject({ channel: 1 });
    const accepted: bigint[] = [];
    while (accepted.length < 2) accepted.push(...(await one.ack()).accepted);
    expect(accepted).toEqual([1n, 2n]);
  });

  it('numbers channels by Hello and Open, also refused ones', async () => {
    const { rig, client } = await scene();
    client.send((await opening(client, 'ab'.repeat(32), newSigner())).open);
    expect(await refusalOf(client)).toBe('unknown-study');
    const second = await EncryptedContributor.open(client, rig.study);
    const third = await WireContributor.open(client, rig.study);
    expect([second.channel, third.ready.channel]).toEqual([2, 3]);
    expect((await third.send(1n)).accepted).toEqual([1n]);
    expect((await second.send(1n)).accepted).toEqual([1n]);
  });

  it('answers Withdraw, which stays signed, with a sealed ack', async () => {
    const { rig, client } = await scene();
    const signer = newSigner();
    const one = await EncryptedContributor.open(client, rig.study, signer);
    const context = { serverKey: rig.hub.serverKey, studyId: fromHex(rig.study) };
    client.send({
      kind: 'withdraw', channel: 1, epoch: 7n, signature: signWithdrawal(signer, context, 7n),
    });
    expect(await one.ack()).toMatchObject({ withdrawn: 7n });
  });

  it('takes each form only on a channel of its own', async () => {
    const { rig, client, one } = await contributor();
    const signed = await WireContributor.open(client, rig.study);
    client.send({ ...signed.batch(1n), channel: one.channel });
    expect(await refusalOf(client)).toBe('malformed');
    client.send({ ...one.batch(1n), channel: signed.ready.channel });
    expect(await refusalOf(client)).toBe('malformed');
    expect(rig.hub.submitted).toHaveLength(0);
  });
});

describe('an Open', () => {
  it('is refused with a share that the socket has seen', async () => {
    const { rig, client } = await scene();
    const { open } = await opening(client, rig.study, newSigner());
    client.send(open);
    client.send(open);
    await client.next('opened');
    expect(await client.next('refusal')).toMatchObject({ code: 'malformed', channel: 0 });
    client.send(open);
    expect(await refusalOf(client)).toBe('malformed');
    expect(client.frames.filter(({ kind }) => kind === 'opened')).toHaveLength(1);
  });

  it('is refused with a share that makes the secret zero', async () => {
    const { rig, client } = await scene();
    const signer = newSigner();
    const welcome: Welcome = await client.next('welcome');
    const message = openMessage(
      signer.publicKey, { serverKey: welcome.serverKey, studyId: fromHex(rig.study) },
      { serverNonce: welcome.serverNonce, share: welcome.share!.share, clientShare: lowOrder },
      signing,
    );
    client.send({
      kind: 'open', studyId: fromHex(rig.study), publicKey: signer.publicKey,
      clientShare: lowOrder, signature: signer.sign(message),
    });
    expect(await refusalOf(client)).toBe('malformed');
    expect(client.frames.some(({ kind }) => kind === 'opened')).toBe(false);
  });

  it('is refused on another socket, of another key, and for another study or share', async () => {
    const { rig, client } = await scene();
    const signer = newSigner();
    const other = await openEncrypted(rig.listener.port);
    await other.next('welcome');
    const { open } = await opening(client, rig.study, signer);
    other.send(open);
    expect(await refusalOf(other)).toBe('bad-signature');
    client.send({ ...open, publicKey: newSigner().publicKey });
    expect(await refusalOf(client)).toBe('bad-signature');
    client.send({ ...open, studyId: fromHex(rig.other) });
    expect(await refusalOf(client)).toBe('bad-signature');
    client.send({ ...open, clientShare: new Uint8Array(32).fill(9) });
    expect(await refusalOf(client)).toBe('bad-signature');
    expect(await client.closed()).toBe(1008);
  });

  it('is refused when its share is over, and open channels go on', async () => {
    const clock = new HandClock();
    const patient = 3_600_000;
    const { rig, client, one } = await contributor({
      clock, limits: { heartbeatMs: patient, handshakeTimeoutMs: patient },
    });
    clock.advance(299_999);
    await EncryptedContributor.open(client, rig.study);
    clock.advance(300_000);
    await EncryptedContributor.open(client, rig.study);
    clock.advance(1);
    await expect(EncryptedContributor.open(client, rig.study)).rejects.toThrow('stale-share');
    // The server rests after a refusal.
    clock.advance(1_000);
    expect((await one.send(1n)).accepted).toEqual([1n]);
    const fresh = await openEncrypted(rig.listener.port);
    await EncryptedContributor.open(fresh, rig.study);
    fresh.close();
  });
});

describe('a frame that is not the next one of its channel', () => {
  const meddle = async (
    choose: (frames: readonly EncryptedBatch[]) => readonly EncryptedBatch[],
  ): Promise<{ readonly codes: readonly string[]; readonly accepted: readonly bigint[] }> => {
    const { rig, client, one } = await contributor();
    const frames = choose([1n, 2n, 3n].map((sequence) => one.batch(sequence)));
    for (const frame of frames) client.send(frame);
    const heard = (): number => client.frames
      .filter(({ kind }) => kind === 'refusal').length + rig.hub.submitted.length;
    await eventually(() => heard() >= frames.length || client.closeCode !== undefined);
    const codes = client.frames.flatMap((frame) => (frame.kind === 'refusal' ? [frame.code] : []));
    return { codes, accepted: rig.hub.submitted.map(({ sequence }) => sequence) };
  };

  it('does not open: one was dropped', async () => {
    expect(await meddle(([first, , third]) => [first!, third!]))
      .toEqual({ codes: ['bad-signature'], accepted: [1n] });
  });

  it('does not open: one was repeated, and those after it do not either', async () => {
    expect(await meddle(([first, second]) => [first!, first!, second!]))
      .toEqual({ codes: ['bad-signature', 'bad-signature'], accepted: [1n] });
  });

  it('does not open: two were swapped, and the next one does', async () => {
    expect(await meddle(([first, second, third]) => [second!, first!, third!]))
      .toEqual({ codes: ['bad-signature', 'bad-signature'], accepted: [3n] });
  });

  it('does not open: it was changed, cut or made up; three close the socket', async () => {
    const { rig, client, one } = await contributor();
    const frame = one.batch(1n);
    client.send({ ...frame, encrypted: frame.encrypted.with(70, frame.encrypted[70]! ^ 1) });
    client.send({ ...one.batch(1n), encrypted: new Uint8Array(5) });
    client.send({ ...one.batch(1n), encrypted: new Uint8Array(200) });
    expect(await client.closed()).toBe(1008);
    expect(rig.hub.submitted).toHaveLength(0);
  });

  it('does not open on another channel, or on another socket of the same key', async () => {
    const { rig, client } = await scene();
    const signer = newSigner();
    const one = await EncryptedContributor.open(client, rig.study, signer);
    const two = await EncryptedContributor.open(client, rig.study, signer);
    client.send({ ...one.batch(1n), channel: two.channel });
    expect(await refusalOf(client)).toBe('bad-signature');
    const again = await openEncrypted(rig.listener.port);
    await EncryptedContributor.open(again, rig.study, signer);
    again.send(one.batch(1n));
    expect(await refusalOf(again)).toBe('bad-signature');
    expect(rig.hub.submitted).toHaveLength(0);
    again.close();
  });
});

describe('an encrypted channel', () => {
  it('counts a batch that is refused for load, whose sequence it names under seal', async () => {
    const { rig, client, one } = await contributor();
    rig.hub.overload = true;
    client.send(one.batch(1n));
    await eventually(() => client.frames.some(({ kind }) => kind === 'encrypted-ack'));
    rig.hub.overload = false;
    expect((await one.ack()).rejections)
      .toMatchObject([{ sequence: 1n, code: 'overloaded', retryable: true }]);
    expect((await one.send(1n)).accepted).toEqual([1n]);
  });

  it('counts a batch past the credit', async () => {
    const { rig, client, one } = await contributor({ limits: { creditBatches: 1 } });
    rig.hub.hold = true;
    client.send(one.batch(1n));
    client.send(one.batch(2n));
    expect(await refusalOf(client)).toBe('credit-exceeded');
    rig.hub.hold = false;
    rig.hub.commit();
    expect((await one.ack()).accepted).toEqual([1n]);
    expect((await one.send(2n)).accepted).toEqual([2n]);
  });

  it.each([{ channelFrames: 2 }, { channelBytes: 250 }])(
    'carries no more than its most, and the next one goes on (%j)', async (limits) => {
      const { rig, client, one } = await contributor({ limits });
      for (const sequence of [1n, 2n]) client.send(one.batch(sequence));
      await one.ack();
      client.send(one.batch(3n));
      expect(await client.next('refusal')).toMatchObject({ code: 'unknown-channel', channel: 1 });
      expect(rig.hub.submitted).toHaveLength(2);
      const next = await EncryptedContributor.open(client, rig.study);
      expect((await next.send(1n)).accepted).toEqual([1n]);
    },
  );

  it('tells the same answer from another by the digest that its own sender states', async () => {
    const { rig, client } = await scene();
    const signer = newSigner();
    const one = await EncryptedContributor.open(client, rig.study, signer);
    expect((await one.send(1n)).accepted).toEqual([1n]);
    expect((await one.send(1n)).accepted).toEqual([1n]);
    client.send(one.batch(1n, {}, new Uint8Array(64)));
    expect((await one.ack()).rejections).toMatchObject([{ code: 'mutated' }]);
    const other = await EncryptedContributor.open(client, rig.study);
    client.send(other.batch(1n, {}, new Uint8Array(64)));
    expect((await other.ack()).accepted).toEqual([1n]);
  });

  it('gives a batch the answer of its other form', async () => {
    const { rig, client } = await scene();
    const signer = newSigner();
    const encrypted = await EncryptedContributor.open(client, rig.study, signer);
    const signed = await WireContributor.open(await rig.open(), rig.study, signer);
    expect((await encrypted.send(1n)).accepted).toEqual([1n]);
    expect((await signed.send(1n)).accepted).toEqual([1n]);
    expect((await signed.send(2n)).accepted).toEqual([2n]);
    expect((await encrypted.send(2n)).accepted).toEqual([2n]);
    expect(rig.metrics.duplicates.total({ study: 'flight-delays' })).toBe(2);
  });

  it('refuses what opens to no digest and body, and keeps the count', async () => {
    const { client, one } = await contributor();
    client.send(one.sealed(new Uint8Array(63)));
    expect(await refusalOf(client)).toBe('malformed');
    client.send(one.sealed(new Uint8Array(80)));
    expect(await refusalOf(client)).toBe('malformed');
    expect((await one.send(1n)).accepted).toEqual([1n]);
  });

  it('that could not be opened leaves nothing behind', async () => {
    const { rig, client } = await scene();
    const contributorState = rig.hub.contributorState.bind(rig.hub);
    Object.assign(rig.hub, { contributorState: () => Promise.reject(new Error('no disk')) });
    client.send((await opening(client, rig.study, newSigner())).open);
    expect(await refusalOf(client)).toBe('internal');
    expect(rig.metrics.totals.channels).toBe(0);
    Object.assign(rig.hub, { contributorState });
    expect((await (await EncryptedContributor.open(client, rig.study)).send(1n)).accepted)
      .toEqual([1n]);
  });
});
