import { expect } from './fault.js';
import { contributingCases } from './contributing-cases.js';
import { refusalCases } from './refusals-cases.js';
import type { ScriptedServer } from './scripted-server.js';
import type { ShareKind } from './scripted-encryption.js';
import { freshRows, type ConformanceCase, type Stage } from './stage.js';
import { trustCases } from './trust-cases.js';
import { withdrawingCases } from './withdrawing-cases.js';

const encrypted = (name: string, run: (stage: Stage) => Promise<void>): ConformanceCase =>
  ({ name: `encrypted: ${name}`, needs: 'contribute', isEncrypted: true, run });

const only = (name: string, run: (stage: Stage) => Promise<void>): ConformanceCase =>
  ({ ...encrypted(name, run), needs: 'encrypted-only' });

/** Cases that are only about signed channels, or that end otherwise on encrypted ones. */
const signedOnly = new Set([
  'vector of hello', 'vector of batch', 'vector of open', 'a Ready by another key',
  'a sealed study, which the client cannot seal for', 'Refusal on a channel: bad-signature',
  'Refusal of Hello: bad-signature',
]);

/** A share that no honest server shows ends the client before it says anything. */
async function wrongShare(stage: Stage, kind: ShareKind): Promise<void> {
  const server = await stage.server();
  server.shareKind = kind;
  await stage.open(server);
  await stage.send(freshRows(1));
  await stage.ended();
  expect(server.hellos === 0, 'an Open or a Hello was sent for a share that cannot be taken');
}

/** A share whose time is over must not be taken: a stolen secret could be used for ever. */
async function oldShare(stage: Stage): Promise<void> {
  const server = await stage.server();
  server.shareKind = 'long over';
  await stage.open(server);
  await stage.accepted(await stage.send(freshRows(1)));
  await stage.close();
  stage.expectOnce(server);
}

async function staleShare(stage: Stage): Promise<void> {
  const server = await stage.server();
  server.staleShares = 2;
  await stage.open(server);
  await stage.accepted(await stage.send(freshRows(1)));
  await stage.close();
  expect(server.connections === 3,
    `there were ${server.connections} connections: after stale-share another one is due`);
  stage.expectOnce(server);
}

/** The server takes no more frames of a channel; another Open goes on. */
async function limitOfFrames(stage: Stage): Promise<void> {
  const server = await stage.server();
  // Fewer in flight than a channel carries: the answers to the last ones may be lost with it.
  [server.channelFrames, server.credit] = [3, 2];
  await stage.open(server);
  const ids = [];
  for (let i = 0; i < 8; i++) ids.push(await stage.send(freshRows(1)));
  for (const id of ids) await stage.accepted(id);
  await stage.close();
  expect(server.opens >= 3, 'after unknown-channel another Open must be sent');
  stage.expectOnce(server);
}

/** Somebody in between has spoiled a frame: another connection may get through. */
async function doesNotOpen(stage: Stage): Promise<void> {
  const server = await stage.server();
  let refused = 0;
  server.refuseChannel = () => (refused++ === 0 ? 'bad-signature' : null);
  await stage.open(server);
  await stage.accepted(await stage.send(freshRows(2)));
  await stage.close();
  expect(server.connections > 1, 'after bad-signature another connection is due');
  expect(new Set(server.offered).size === 1, 'the same bytes must be sent again');
  stage.expectOnce(server);
}

/** Anybody in between can make a Refusal. It may end the client, and the rows stay with it. */
async function refusedInTheClear(stage: Stage): Promise<void> {
  const server = await stage.server();
  let refused = 0;
  server.refuseChannel = () => (refused++ === 0 ? 'study-ended' : null);
  await stage.open(server);
  const id = await stage.send(freshRows(2));
  const { event, code } = await stage.event((one) =>
    one.event === 'ended' || (one.event === 'settled' && one.id === id));
  expect(event === 'ended' || code === 'accepted', `a Refusal that anybody can make settled rows`);
  await stage.kill();
  await stage.open(server);
  await stage.close();
  stage.expectOnce(server);
}

/** Anybody in between can make an Ack that is not encrypted. */
async function acknowledgedInTheClear(stage: Stage): Promise<void> {
  const server = await stage.server();
  server.deaf = true;
  await stage.open(server);
  const id = await stage.send(freshRows(1));
  await stage.until(server, () => server.offered.length > 0);
  server.broadcast({
    kind: 'ack', channel: 1, epoch: 7n, credit: 64, accepted: [1n], rejections: [],
  });
  await server.roundTrip();
  await stage.ping();
  await server.crash();
  server.deaf = false;
  await server.listen();
  await stage.accepted(id);
  await stage.close();
  stage.expectOnce(server);
}

/** The same rows count once, whichever form each of their copies had. */
async function otherForm(stage: Stage): Promise<void> {
  const server = await stage.server();
  const ids: string[] = [];
  for (const isEncrypted of [true, false, true]) {
    server.isEncrypted = isEncrypted;
    server.mute = true;
    const { length } = server.offered;
    await stage.open(server);
    ids.push(await stage.send(freshRows(2)));
    await stage.until(server, () => server.offered.length > length + ids.length - 1);
    server.mute = false;
    await stage.kill();
  }
  await stage.open(server);
  await stage.close();
  stage.expectOnce(server, ids);
}

const shares: readonly ShareKind[] = ['another key', 'another time', 'small order'];
const onEncrypted = (one: ConformanceCase): ConformanceCase =>
  ({ ...one, name: `encrypted: ${one.name}`, isEncrypted: true });

/** `open` with `encryptedOnly`: rows must not go signed, whatever the server offers. */
async function encryptedOnly(
  stage: Stage, prepare: (server: ScriptedServer) => void,
): Promise<void> {
  const server = await stage.server();
  prepare(server);
  await stage.open(server, { encryptedOnly: true });
  await stage.send(freshRows(1));
  await stage.ended();
  expect(server.hellos === 0 && server.offered.length === 0, 'rows may go encrypted only, and '
    + 'something was sent to a server without encrypted channels');
}

async function encryptedOnlyWhereItCan(stage: Stage): Promise<void> {
  const server = await stage.server();
  await stage.open(server, { encryptedOnly: true });
  await stage.accepted(await stage.send(freshRows(1)));
  await stage.close();
  expect(server.opens > 0, 'no Open was sent');
  stage.expectOnce(server);
}

/** Cases of encrypted channels with scripted servers, and all cases of sending rows on them. */
export const encryptedCases: readonly ConformanceCase[] = [
  ...shares.map((kind) => encrypted(`a share of ${kind}`, (stage) => wrongShare(stage, kind))),
  encrypted('a share that is long over', oldShare),
  encrypted('a stale share', staleShare),
  encrypted('the limit of frames', limitOfFrames),
  encrypted('a batch that does not open', doesNotOpen),
  encrypted('a Refusal in the clear', refusedInTheClear),
  encrypted('an Ack in the clear', acknowledgedInTheClear),
  encrypted('the same rows in both forms', otherForm),
  only('encryptedOnly', encryptedOnlyWhereItCan),
  only('encryptedOnly, and the server has no encrypted channels', (stage) =>
    encryptedOnly(stage, (server) => { server.isEncrypted = false; })),
  only('encryptedOnly, and the share is long over', (stage) =>
    encryptedOnly(stage, (server) => { server.shareKind = 'long over'; })),
  ...[...trustCases, ...contributingCases, ...refusalCases, ...withdrawingCases]
    .filter(({ name }) => !signedOnly.has(name)).map(onEncrypted),
];
