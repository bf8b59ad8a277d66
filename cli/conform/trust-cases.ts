import { signing } from '#signing';
import { concatBytes, fromHex, toHex, utf8 } from '../../src/base/bytes.js';
import { signedMessage, signRotation, type Signer } from '../../src/signing/index.js';
import { expect } from './fault.js';
import { contributor, contributorSeed, counting, factsId, server } from './samples.js';
import type { ScriptedServer } from './scripted-server.js';
import { sealedBy, signedBoxKeys } from './sealed-cases.js';
import { freshRows, type ConformanceCase, type Stage } from './stage.js';

const trust = (name: string, run: (stage: Stage) => Promise<void>): ConformanceCase =>
  ({ name, needs: 'contribute', run });

const newSigner = (): Signer => signing.createSigner(signing.generateSeed());

/** The bytes that are signed, and the signature, of the fixed keys of test/vectors. */
async function vector(stage: Stage, label: 'hello' | 'batch' | 'open'): Promise<void> {
  const context = { serverKey: server.publicKey, studyId: factsId };
  const nonces = { serverNonce: counting(0x40, 32), clientNonce: counting(0x60, 32) };
  const bytes = {
    hello: concatBytes(nonces.serverNonce, nonces.clientNonce), batch: utf8('any bytes of a body'),
    open: concatBytes(nonces.serverNonce, counting(0x80, 32), counting(0xa0, 32)),
  }[label];
  const payload = label === 'hello' ? bytes : signing.sha512(bytes);
  const message = signedMessage(label, context, contributor.publicKey, payload);
  const signature = contributor.sign(message);
  (await stage.program()).say({
    do: 'sign', label, seed: toHex(contributorSeed), serverKey: toHex(server.publicKey),
    studyId: toHex(factsId), bytes: toHex(bytes),
  });
  const found = await stage.event(({ event }) => event === 'signed');
  expect(found['message'] === toHex(message), `the 180 bytes of "${label}" are others`);
  expect(found['signature'] === toHex(signature), `the signature of "${label}" is another one`);
}

function expectNothingSent({ hellos, offered }: ScriptedServer, inAll = 0): void {
  expect(hellos === inAll && offered.length === inAll, 'something was sent to a wrong server');
}

async function wrongKey(stage: Stage): Promise<void> {
  const wrong = await stage.server();
  await stage.open(wrong, { serverKey: toHex(newSigner().publicKey) });
  await stage.send(freshRows(1));
  await stage.ended('server-key-mismatch');
  expectNothingSent(wrong);
}

async function changedKey(stage: Stage): Promise<void> {
  const first = await stage.server();
  await stage.open(first, { serverKey: undefined });
  await stage.accepted(await stage.send(freshRows(1)));
  await stage.close();
  await stage.kill();
  first.signer = newSigner();
  await stage.open(first, { serverKey: undefined });
  await stage.send(freshRows(1));
  await stage.ended('server-key-mismatch');
  expectNothingSent(first, 1);
}

async function rotated(stage: Stage, isForged: boolean): Promise<void> {
  const changing = await stage.server({}, newSigner());
  const pinned = toHex(changing.signer.publicKey);
  const next = newSigner();
  const record = Uint8Array.from(signRotation(changing.signer, next, signing));
  if (isForged) record[100]! ^= 1;
  changing.signer = next;
  changing.rotations = [record];
  await stage.open(changing, { serverKey: pinned });
  const id = await stage.send(freshRows(1));
  if (isForged) {
    await stage.ended();
    return expectNothingSent(changing);
  }
  await stage.accepted(id);
  await stage.close();
}

async function forged(stage: Stage, what: 'readyForger' | 'factsForger'): Promise<void> {
  const lying = await stage.server();
  lying[what] = newSigner();
  await stage.open(lying);
  await stage.send(freshRows(1));
  await stage.ended();
  expect(lying.offered.length === 0, 'rows were sent to a server that had not proved its key');
  if (what === 'factsForger') expectNothingSent(lying);
}

async function changedFacts(stage: Stage): Promise<void> {
  const changing = await stage.server();
  const pinned = toHex(fromHex(changing.id));
  await changing.rename({ privacy: { epsilon: 5, delta: 1e-6 } });
  await stage.open(changing, { study: pinned });
  await stage.send(freshRows(1));
  await stage.ended('unknown-study');
  expectNothingSent(changing);
}

/** Rows stay with a client that cannot seal, and with one that gets keys of other servers. */
async function sealed(stage: Stage): Promise<void> {
  const sealing = await stage.server({
    late: 'drop', budget: { epsilon: 8, delta: 1e-5, rule: 'zcdp', scope: 'study' },
    sealed: sealedBy([newSigner(), newSigner(), newSigner()]),
  });
  sealing.boxKeys = signedBoxKeys(sealing, [newSigner(), newSigner(), newSigner()]);
  await stage.open(sealing);
  await stage.send(freshRows(1));
  const { event, code } = await stage.event((one) =>
    one.event === 'ended' || one.event === 'settled');
  expect(event === 'ended' ? code === 'unsupported' : code === 'bad-signature',
    `the rows were ${event} with ${code}`);
  expect(sealing.offered.length === 0, 'rows were sent to servers that have not signed the keys');
}

/** Cases about the servers that a client trusts, and about the bytes that it signs. */
export const trustCases: readonly ConformanceCase[] = [
  trust('vector of hello', (stage) => vector(stage, 'hello')),
  trust('vector of batch', (stage) => vector(stage, 'batch')),
  { ...trust('vector of open', (stage) => vector(stage, 'open')), isEncrypted: true },
  trust('another server than the pinned one', wrongKey),
  trust('another server than in the run before', changedKey),
  trust('the server changed its key', (stage) => rotated(stage, false)),
  trust('a forged change of the key', (stage) => rotated(stage, true)),
  trust('a Ready by another key', (stage) => forged(stage, 'readyForger')),
  trust('facts that are signed by another key', (stage) => forged(stage, 'factsForger')),
  trust('the facts of a pinned study changed', changedFacts),
  trust('a sealed study, which the client cannot seal for', sealed),
];
