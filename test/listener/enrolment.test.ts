import { expect, it } from 'vitest';
import { toHex } from '../../src/base/bytes.js';
import { protocolLimits } from '../../src/base/limits.js';
import { issueEnrolment, type Signer } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import { newSigner, WireContributor } from '../support/wire-client.js';
import { document } from '../support/wire-samples.js';
import { HandClock } from './hand-clock.js';
import { startRig, type Rig } from './harness.js';

const issuer = newSigner();
const expiresAtMs = 100_000;

const tokenFor = (
  key: Signer, study: string | null = document.study, from = issuer, atMs = expiresAtMs,
): Uint8Array =>
  issueEnrolment(from, key.publicKey, { study, expiresAtMs: atMs }, signing);

async function enrolling(): Promise<{ rig: Rig; clock: HandClock }> {
  const clock = new HandClock();
  const rig = await startRig({ clock });
  const admission = { kind: 'enrolment', issuer: toHex(issuer.publicKey) } as const;
  rig.hub.change(rig.study, { document: { ...document, admission } });
  return { rig, clock };
}

/** The code that a Hello gets; undefined when it opens a channel. */
async function codeFor(rig: Rig, key: Signer, enrolment?: Uint8Array): Promise<string | undefined> {
  const client = await rig.open();
  await client.sendHello(key, rig.study, enrolment === undefined ? {} : { enrolment });
  const answer = await client.next('ready', 'refusal');
  return answer.kind === 'ready' ? undefined : answer.code;
}

it('takes a key with a token for it, for the study or for all of the issuer', async () => {
  const { rig } = await enrolling();
  const key = newSigner();
  expect(await codeFor(rig, key, tokenFor(key))).toBeUndefined();
  expect(await codeFor(rig, key, tokenFor(key, null))).toBeUndefined();
});

it('refuses no token, and one of another key, another study, another issuer, or not a token at '
  + 'all', async () => {
  const { rig } = await enrolling();
  const key = newSigner();
  const other = newSigner();
  expect(await codeFor(rig, key)).toBe('not-enrolled');
  expect(await codeFor(rig, key, tokenFor(other))).toBe('not-enrolled');
  expect(await codeFor(rig, key, tokenFor(key, 'other-study'))).toBe('not-enrolled');
  expect(await codeFor(rig, key, tokenFor(key, document.study, other))).toBe('not-enrolled');
  expect(await codeFor(rig, key, Uint8Array.of(1, 2, 3))).toBe('not-enrolled');
  const moved = tokenFor(key);
  moved[71]! ^= 1;
  expect(await codeFor(rig, key, moved)).toBe('not-enrolled');
});

it('takes a token until the moment it expires, and no batch after it', async () => {
  const { rig, clock } = await enrolling();
  const key = newSigner();
  clock.advance(expiresAtMs - 1);
  const client = await rig.open();
  const ready = await client.hello(key, rig.study, { enrolment: tokenFor(key) });
  const contributor = WireContributor.on(client, rig.study, key, ready);
  client.send(contributor.batch(1n));
  await expect.poll(() => rig.hub.submitted.length).toBe(1);
  clock.advance(1);
  client.send(contributor.batch(2n));
  expect(await client.next('refusal'))
    .toMatchObject({ code: 'enrolment-expired', retryable: false, channel: ready.channel });
  expect(rig.hub.submitted.length).toBe(1);
  expect(await codeFor(rig, key, tokenFor(key))).toBe('enrolment-expired');
  expect(await codeFor(rig, key, tokenFor(key, document.study, issuer, expiresAtMs + 1)))
    .toBeUndefined();
});

it('lets a key whose token is over back in to take what it gave to the open epoch, and takes '
  + 'nothing more of it', async () => {
  const { rig, clock } = await enrolling();
  const key = newSigner();
  clock.advance(expiresAtMs);
  expect(await codeFor(rig, key, tokenFor(key))).toBe('enrolment-expired');
  rig.hub.inOpenEpoch = true;
  const client = await rig.open();
  const ready = await client.hello(key, rig.study, { enrolment: tokenFor(key) });
  const contributor = WireContributor.on(client, rig.study, key, ready);
  client.send(contributor.batch(1n));
  expect(await client.next('refusal'))
    .toMatchObject({ code: 'enrolment-expired', channel: ready.channel });
  expect(rig.hub.submitted.length).toBe(0);
  // Being known is no token: neither without one, nor with one of somebody else.
  expect(await codeFor(rig, key)).toBe('not-enrolled');
  expect(await codeFor(rig, key, tokenFor(newSigner()))).toBe('not-enrolled');
  expect(await codeFor(rig, key, tokenFor(key, null, newSigner()))).toBe('not-enrolled');
});

it('checks no signature for a Hello whose token cannot do, and closes sockets that forge '
  + 'some', async () => {
  const { rig, clock } = await enrolling();
  const key = newSigner();
  const client = await rig.open();
  // Not even its own signature: it is refused before that.
  for (let i = 0; i < 5; i++) {
    await client.sendHello(key, rig.study, { signature: new Uint8Array(64) });
    expect(await client.next('refusal')).toMatchObject({ code: 'not-enrolled' });
    // A refused Hello makes the server read on a little later.
    clock.advance(protocolLimits.pauseMs);
  }
  for (let i = 0; i < 3;
      i++) await client.sendHello(key, rig.study, { enrolment: tokenFor(key, null, newSigner()) });
  await clock.pass(protocolLimits.pauseMs, () => client.closeCode !== undefined);
  expect(client.closeCode).toBe(1008);
});

it('asks for none where admission is open, and takes one there', async () => {
  const rig = await startRig();
  const key = newSigner();
  expect(await codeFor(rig, key)).toBeUndefined();
  expect(await codeFor(rig, key, tokenFor(newSigner()))).toBeUndefined();
});

it('says when a study takes new keys again', async () => {
  const clock = new HandClock();
  const rig = await startRig({ clock });
  const admission = { kind: 'rate', contributorKeys: 20, perMs: 3_600_000 } as const;
  rig.hub.change(rig.study, { document: { ...document, participation: 'public', admission } });
  clock.advance(1_000);
  const answer = { verdict: 'rejected', code: 'too-many-new-keys' } as const;
  rig.hub.submit = async () => ({ ...answer, retryAtMs: 53_500 });
  const contributor = await rig.contributor();
  const { accepted, rejections } = await contributor.send(1n);
  expect(accepted).toEqual([]);
  expect(rejections).toEqual([{
    sequence: 1n, code: 'too-many-new-keys', retryable: true,
    text: 'the study takes 20 new keys in each 1 hour, and has taken them: '
      + 'send the same bytes again in 53 s',
  }]);
});
