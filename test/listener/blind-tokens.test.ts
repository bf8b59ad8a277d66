import { afterAll, beforeAll, expect, it } from 'vitest';
import { protocolLimits } from '../../src/base/limits.js';
import { signing } from '../../src/signing/node.js';
import type { Signer } from '../../src/signing/index.js';
import { BlindIssuer, fromMs, perMs } from '../support/blind-issuer.js';
import { UploadClient } from '../support/upload-client.js';
import { newSigner, WireContributor } from '../support/wire-client.js';
import { document } from '../support/wire-samples.js';
import { HandClock } from './hand-clock.js';
import { startRig, type Rig } from './harness.js';

const everyMs = 10_000;
let issuer: BlindIssuer;
let other: BlindIssuer;
beforeAll(async () => {
  [issuer, other] = await Promise.all([BlindIssuer.start(), BlindIssuer.start()]);
});
afterAll(async () => {
  await Promise.all([issuer.end(), other.end()]);
});

interface Person {
  readonly key: Signer;
  readonly token: Uint8Array;
}

/** A key with its token, of a period from 0. */
async function person(period = 0, study = document.study, from = issuer): Promise<Person> {
  const seed = signing.generateSeed();
  from.nowMs = fromMs + period * perMs;
  return { key: signing.createSigner(seed), token: await from.token(seed, study) };
}

/** A study of tokens whose epoch 7 opened at the beginning of the first period. */
async function admitting(): Promise<{ rig: Rig; clock: HandClock }> {
  const clock = new HandClock();
  clock.advance(fromMs);
  const rig = await startRig({ clock });
  const facts =
    { ...document, late: 'drop', epoch: { everyMs }, admission: issuer.admission } as const;
  rig.hub.change(rig.study, { document: facts, closesAtMs: fromMs + everyMs });
  return { rig, clock };
}

/** The code that a Hello gets; undefined when it opens a channel. */
async function codeFor(rig: Rig, { key, token }: Person): Promise<string | undefined> {
  const client = await rig.open();
  await client.sendHello(key, rig.study, { enrolment: token });
  const answer = await client.next('ready', 'refusal');
  return answer.kind === 'ready' ? undefined : answer.code;
}

async function channel(rig: Rig, { key, token }: Person): Promise<WireContributor> {
  const client = await rig.open();
  const ready = await client.hello(key, rig.study, { enrolment: token });
  return WireContributor.on(client, rig.study, key, ready);
}

it('admits the key of a token, as often as it comes', async () => {
  const { rig } = await admitting();
  const alice = await person();
  expect(await codeFor(rig, alice)).toBeUndefined();
  const contributor = await channel(rig, alice);
  expect((await contributor.send(1n)).accepted).toEqual([1n]);
  expect(await codeFor(rig, alice)).toBeUndefined();
});

it('refuses a token of another key, study or issuer, and one without the rest', async () => {
  const { rig } = await admitting();
  const alice = await person();
  const { token } = alice;
  const wrong: readonly Person[] = [
    { key: newSigner(), token },
    await person(0, 'other-study'),
    await person(0, document.study, other),
    { key: alice.key, token: token.slice(0, -1) },
    { key: alice.key, token: token.slice(0, 354) },
    { key: alice.key, token: new Uint8Array([...token, 0]) },
  ];
  for (const one of wrong) expect(await codeFor(rig, one)).toBe('not-enrolled');
});

it('refuses a token with one bit changed, in any of its parts', async () => {
  const { rig } = await admitting();
  const { key, token } = await person();
  // Type, nonce, challenge, id of the key, signature, salt, modulus.
  for (const at of [1, 2, 33, 34, 65, 66, 97, 98, 353, 354, 385, 386, 500, 641]) {
    const changed = Uint8Array.from(token);
    changed[at]! ^= 16;
    expect([at, await codeFor(rig, { key, token: changed })]).toEqual([at, 'not-enrolled']);
  }
  expect(await codeFor(rig, { key, token })).toBeUndefined();
});

it('lets a key whose period is over in to take back what it gave, and for nothing else',
  async () => {
    const { rig, clock } = await admitting();
    const alice = await person();
    clock.advance(2 * perMs);
    rig.hub.change(rig.study, { closesAtMs: fromMs + 2 * perMs + everyMs });
    expect(await codeFor(rig, alice)).toBe('enrolment-expired');
    rig.hub.inOpenEpoch = true;
    const contributor = await channel(rig, alice);
    contributor.client.send(contributor.batch(1n));
    expect(await contributor.client.next('refusal')).toMatchObject({ code: 'enrolment-expired' });
    expect(rig.hub.submitted.length).toBe(0);
  });

it('admits by the same token over HTTP', async () => {
  const { rig, clock } = await admitting();
  const { key, token } = await person();
  const client = await UploadClient.begin(rig.listener.address, rig.study, key);
  const send = (enrolment: Uint8Array) =>
    client.post(client.body([client.batch(1n)], client.hello({ enrolment })));
  // The answer to a refused Hello waits for the clock.
  let isAnswered = false;
  const refused = send(token.with(100, token[100]! ^ 1)).finally(() => { isAnswered = true; });
  await clock.pass(protocolLimits.pauseMs, () => isAnswered);
  expect((await refused).frames).toMatchObject([{ kind: 'refusal', code: 'not-enrolled' }]);
  expect((await send(token)).frames.map(({ kind }) => kind)).toEqual(['ready', 'ack', 'notice']);
  // The same request again, as after a lost answer.
  expect((await send(token)).frames).toMatchObject([{}, { kind: 'ack', accepted: [1n] }, {}]);
});

// The last test, since the issuer never goes back to an earlier period.
it('counts a token in the epochs that open in its period, and in no other', async () => {
  const { rig, clock } = await admitting();
  const [old, young] = [await person(0), await person(1)];
  const endMs = fromMs + perMs;
  // Epoch 8 opens a second before the end of the period.
  rig.hub.change(rig.study, { epoch: 8n, closesAtMs: endMs - 1_000 + everyMs });
  clock.advance(perMs + 500);
  const [before, after] = [await channel(rig, old), await channel(rig, young)];
  expect((await before.send(1n)).accepted).toEqual([1n]);
  expect((await after.send(1n)).rejections)
    .toMatchObject([{ code: 'epoch-not-open', retryable: true }]);
  // A batch for the next epoch does not wait in a queue until that one opens.
  before.client.send(before.batch(2n, { epoch: 9n }));
  expect((await before.client.next('ack')).rejections)
    .toMatchObject([{ sequence: 2n, code: 'epoch-not-open' }]);
  rig.hub.change(rig.study, { epoch: 9n, closesAtMs: endMs - 1_000 + 2 * everyMs });
  after.client.send(after.batch(1n, { epoch: 9n }));
  expect((await after.client.next('ack')).accepted).toEqual([1n]);
  before.client.send(before.batch(2n, { epoch: 9n }));
  expect(await before.client.next('refusal')).toMatchObject({ code: 'enrolment-expired' });
  expect(await codeFor(rig, old)).toBe('enrolment-expired');
  expect(rig.hub.submitted.map(({ epoch }) => epoch)).toEqual([8n, 9n]);
});
