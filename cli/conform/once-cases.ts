import { signing } from '#signing';
import { toHex } from '../../src/base/bytes.js';
import { expect } from './fault.js';
import type { ScriptedServer } from './scripted-server.js';
import { freshRows, type ConformanceCase, type Stage } from './stage.js';

const once = (name: string, run: (stage: Stage) => Promise<void>): ConformanceCase =>
  ({ name: `once: ${name}`, needs: 'once', run });

/** By the study's id, as somebody does who wants an answer from a cache. */
const open = (
  stage: Stage, server: ScriptedServer, more: Readonly<Record<string, unknown>> = {},
): Promise<void> => stage.open(server, { study: server.id, once: true, ...more });

async function accepted(stage: Stage): Promise<void> {
  const server = await stage.server();
  await open(stage, server, { enrolment: 'ab'.repeat(150) });
  await stage.accepted(await stage.send(freshRows(1), true));
  await stage.close();
  expect(server.hellos === 0, 'a channel was opened');
  expect(server.offered.length === 1, `the batch was sent ${server.offered.length} times`);
  expect(server.enrolments.map(toHex).join() === 'ab'.repeat(150), 'the token was not sent');
  stage.expectOnce(server);
}

/** The answer is lost, so the same bytes go again, and get the same verdict. */
async function repeated(stage: Stage): Promise<void> {
  const server = await stage.server();
  server.mute = true;
  await open(stage, server);
  const id = await stage.send(freshRows(1), true);
  await stage.until(server, () => server.offered.length > 1);
  server.mute = false;
  await stage.accepted(id);
  await stage.close();
  expect(new Set(server.offered).size === 1, 'the same bytes must be sent again');
  stage.expectOnce(server);
}

async function killed(stage: Stage): Promise<void> {
  const server = await stage.server();
  server.mute = true;
  await open(stage, server);
  await stage.send(freshRows(1));
  await stage.until(server, () => server.offered.length > 0);
  await stage.kill();
  server.mute = false;
  await open(stage, server);
  await stage.accepted(await stage.send(freshRows(1)));
  await stage.close();
  expect(new Set(server.offered).size === 2, 'the same bytes must be sent again');
  stage.expectOnce(server);
}

/** The outbox knows the next sequence: no server announces it. */
async function nextRun(stage: Stage): Promise<void> {
  const server = await stage.server();
  for (let run = 0; run < 2; run++) {
    await open(stage, server);
    await stage.accepted(await stage.send(freshRows(1)));
    await stage.close();
    await stage.kill();
  }
  const sequences = server.taken.map(({ sequence }) => sequence).join();
  expect(sequences === '1,2', `the sequences of two runs are ${sequences}, not 1,2`);
  stage.expectOnce(server);
}

async function notCounted(stage: Stage): Promise<void> {
  const server = await stage.server();
  server.judge = () => 'not-counted';
  await open(stage, server);
  const code = await stage.settled(await stage.send(freshRows(1), true));
  await stage.close();
  expect(code === 'not-counted', `the rows are settled as ${code}, not not-counted`);
  expect(server.offered.length === 1, 'a batch that was rejected for good was sent again');
}

async function wrongKey(stage: Stage): Promise<void> {
  const server = await stage.server();
  const { publicKey } = signing.createSigner(signing.generateSeed());
  await open(stage, server, { serverKey: toHex(publicKey) });
  await stage.send(freshRows(1));
  await stage.ended('server-key-mismatch');
  expect(server.offered.length === 0, 'something was sent to a wrong server');
}

async function refused(stage: Stage): Promise<void> {
  const server = await stage.server();
  server.refuseHello = 'not-enrolled';
  await open(stage, server);
  await stage.send(freshRows(1));
  await stage.ended('not-enrolled');
  expect(server.offered.length === 1, `the batch was sent ${server.offered.length} times`);
}

/** @param openStudy by its id or by its name. */
function encryptedOnly(
  openStudy: (stage: Stage, server: ScriptedServer) => Promise<void>,
): (stage: Stage) => Promise<void> {
  return async (stage) => {
    const server = await stage.server();
    server.once.encryptedOnly = true;
    await openStudy(stage, server);
    await stage.send(freshRows(1));
    await stage.ended('unsupported');
    expect(
      server.offered.length === 0, 'a row was sent in the clear to who wants it encrypted');
  };
}

/** The study is given by its name, so its id is known only from the Welcome. */
async function openByName(stage: Stage, server: ScriptedServer): Promise<void> {
  server.once.isAskedByName = true;
  await open(stage, server, { study: server.document.study });
}

async function byName(stage: Stage): Promise<void> {
  const server = await stage.server();
  await openByName(stage, server);
  await stage.accepted(await stage.send(freshRows(1), true));
  await stage.close();
  expect(server.offered.length === 1, `the batch was sent ${server.offered.length} times`);
}

/** A cache names an epoch as open that has closed meanwhile. */
async function staleEpoch(stage: Stage): Promise<void> {
  const server = await stage.server();
  [server.epoch, server.cachedEpoch] = [8n, 7n];
  server.judge = ({ epoch }) => (epoch === 8n ? null : 'stale-epoch');
  await open(stage, server);
  await stage.accepted(await stage.send(freshRows(1), true));
  await stage.close();
  const [taken] = server.taken;
  expect(taken?.sequence === 2n && taken.epoch === 8n,
    'after stale-epoch the rows must go to the open epoch, under the next sequence');
  stage.expectOnce(server);
}

async function waitsForEpoch(stage: Stage): Promise<void> {
  const server = await stage.server();
  server.epoch = 0n;
  await open(stage, server);
  const id = await stage.send(freshRows(1));
  await stage.event(({ event }) => event === 'stored');
  await stage.ping();
  expect(server.offered.length === 0, 'a batch was sent while no epoch was open');
  server.epoch = 9n;
  await stage.accepted(id);
  await stage.close();
  stage.expectOnce(server);
}

/** People who send once, without a channel: `POST /v1/once`. */
export const onceCases: readonly ConformanceCase[] = [
  once('a row is accepted, with its token', accepted),
  once('repeated until the verdict', repeated),
  once('killed before the answer', killed),
  once('the next run takes the next sequence', nextRun),
  once('a server that takes encrypted rows alone', encryptedOnly(open)),
  once('a study by its name', byName),
  once('a study by its name, and encrypted rows alone', encryptedOnly(openByName)),
  once('rows of a withdrawn epoch', notCounted),
  once('another server than the pinned one', wrongKey),
  once('the token is missing', refused),
  once('a stale epoch, then a fresh one', staleEpoch),
  once('rows wait for an epoch', waitsForEpoch),
];
