import { signing } from '#signing';
import { toHex } from '../../src/base/bytes.js';
import { issueEnrolment } from '../../src/signing/index.js';
import { encodeCells, type Cells } from '../../src/wire/index.js';
import { expect } from './fault.js';
import { textDocument, typedDocument } from './samples.js';
import type { CutPoint } from './scripted-frames.js';
import type { ScriptedServer } from './scripted-server.js';
import { freshRows, type ConformanceCase, type Stage } from './stage.js';

/** A case of contributing. */
const contributing = (name: string, run: (stage: Stage) => Promise<void>): ConformanceCase =>
  ({ name, needs: 'contribute', run });

async function splitAndCredit(stage: Stage): Promise<void> {
  const server = await stage.server();
  server.credit = 2;
  await stage.open(server);
  const first = await stage.send(freshRows(40));
  await stage.accepted(first);
  const second = await stage.send(freshRows(3), true);
  await stage.accepted(second);
  await stage.close();
  stage.expectOnce(server);
  expect(server.maxInFlight <= 2, `${server.maxInFlight} batches were unanswered, the credit is 2`);
  const ends = server.taken.filter(({ last }) => last);
  expect(ends.length === 1 && ends[0] === server.taken.at(-1),
    'exactly the last batch of a contribution must have "last"');
}

/** Cuts of a connection that sends rows. */
type RowCut = Exclude<CutPoint, 'withdrawal'>;

const cuts: Readonly<Record<RowCut, string>> = {
  welcome: 'after Welcome', hello: 'before Ready', ready: 'after Ready',
  batch: 'after a batch was sent, before it was stored',
  stored: 'after a batch was stored, before the Ack', ack: 'after an Ack',
};

async function cutAt(stage: Stage, point: RowCut): Promise<void> {
  const server = await stage.server();
  server.cutAt = point;
  await stage.open(server);
  const ids = [await stage.send(freshRows(20)), await stage.send(freshRows(1))];
  for (const id of ids) await stage.accepted(id);
  await stage.close();
  expect(server.cutAt === null, 'the connection did not come so far that it could be cut');
  stage.expectOnce(server);
}

async function restart(stage: Stage): Promise<void> {
  const server = await stage.server();
  await stage.open(server);
  await stage.accepted(await stage.send(freshRows(2)));
  await server.crash();
  const id = await stage.send(freshRows(2));
  await stage.ping();
  await server.listen();
  await stage.accepted(id);
  await stage.close();
  stage.expectOnce(server);
}

async function withheldAck(stage: Stage): Promise<void> {
  const server = await stage.server();
  server.deaf = true;
  await stage.open(server);
  const id = await stage.send(freshRows(3));
  await stage.until(server, () => server.offered.length > 0);
  await stage.ping();
  await server.crash();
  server.deaf = false;
  await server.listen();
  await stage.accepted(id);
  // The sequence of the first ones was free when the connection began, and is used now.
  await stage.accepted(await stage.send(freshRows(1)));
  await stage.close();
  stage.expectOnce(server);
}

/** @param silent the server's step that is missing before the program is killed. */
async function killedAfterSending(stage: Stage, silent: 'deaf' | 'mute'): Promise<void> {
  const server = await stage.server();
  server[silent] = true;
  await stage.open(server);
  await stage.send(freshRows(20));
  await stage.until(server, () => server.offered.length >= 2);
  await stage.kill();
  const before = [...server.offered];
  server[silent] = false;
  await stage.open(server);
  const next = await stage.send(freshRows(1));
  await stage.accepted(next);
  await stage.close();
  const after = server.offered.slice(before.length);
  expect(before.every((body) => after.includes(body)),
    'after a kill, batches that were sent must be sent again with the same bytes');
  stage.expectOnce(server);
}

async function killedWaiting(stage: Stage): Promise<void> {
  const server = await stage.server();
  server.epoch = 0n;
  await stage.open(server);
  await stage.send(freshRows(3));
  await stage.event(({ event }) => event === 'stored');
  expect(server.offered.length === 0, 'a batch was sent while no epoch was open');
  await stage.kill();
  server.epoch = 8n;
  await stage.open(server);
  await stage.close();
  stage.expectOnce(server);
}

async function settledIsForgotten(stage: Stage): Promise<void> {
  const server = await stage.server();
  await stage.open(server);
  await stage.accepted(await stage.send(freshRows(3)));
  await stage.close();
  const { length } = server.offered;
  await stage.kill();
  await stage.open(server);
  await stage.accepted(await stage.send(freshRows(1)));
  await stage.close();
  expect(server.offered.length === length + 1, 'settled batches were sent again by the next run');
  stage.expectOnce(server);
}

async function holes(stage: Stage): Promise<void> {
  const server = await stage.server();
  const window = server.windows.of(toHex(stage.contributorKey));
  window.contiguous = 1n;
  for (const sequence of [1n, 3n]) window.settled.set(sequence, { digest: '', code: null });
  await stage.open(server);
  for (let i = 0; i < 2; i++) await stage.accepted(await stage.send(freshRows(1)));
  await stage.close();
  const sequences = server.taken.map(({ sequence }) => sequence).join();
  expect(sequences === '2,4', `sequence 2 is a hole, 3 is used: not ${sequences}, but 2,4`);
}

async function waitsForEpoch(stage: Stage): Promise<void> {
  const server = await stage.server();
  server.epoch = 0n;
  await stage.open(server);
  const id = await stage.send(freshRows(1));
  await stage.until(server, () => server.hellos > 0);
  await stage.ping();
  expect(server.offered.length === 0, 'a batch was sent while no epoch was open');
  server.openEpoch(9n);
  await stage.accepted(id);
  await stage.close();
  expect(server.taken[0]?.epoch === 9n, 'the batch does not name the epoch that opened');
}

async function enrolment(stage: Stage): Promise<void> {
  const issuer = signing.createSigner(signing.generateSeed());
  const admission = { kind: 'enrolment' as const, issuer: toHex(issuer.publicKey) };
  const server = await stage.server({ admission });
  const limits = { study: server.document.study, expiresAtMs: Date.UTC(2100, 0, 1) };
  const token = toHex(issueEnrolment(issuer, stage.contributorKey, limits, signing));
  await stage.open(server, { enrolment: token });
  await stage.accepted(await stage.send(freshRows(1)));
  await stage.close();
  expect(server.enrolments.length > 0 && server.enrolments.every((one) => toHex(one) === token),
    'every Hello must have the token');
}

interface TypedRows {
  readonly rows: readonly (readonly unknown[])[];
  readonly values: readonly number[];
  readonly texts?: readonly string[];
}

const typed: TypedRows = {
  rows: [[12.5, 3, true, 'north'], [-4, 0, false, 'other']], values: [12.5, 3, 1, 0, -4, 0, 0, 2],
};
const texts: TypedRows = {
  rows: [
    ['maps', 'Z\u00fcrich', 3, true, 'south'], ['mail', ' Zu\u0308rich ', null, false, null],
    ['maps', null, null, null, null],
  ],
  values: [0, 2, 3, 1, 1, 1, 2, NaN, 0, NaN, 0, NaN, NaN, NaN, NaN],
  texts: ['maps', 'mail', 'Z\u00fcrich'],
};

async function typedRows(
  stage: Stage, server: ScriptedServer, { rows, values, texts: table }: TypedRows,
): Promise<void> {
  await stage.open(server);
  (await stage.program()).say({ do: 'send', id: 'typed', rows, last: true });
  await stage.accepted('typed');
  await stage.close();
  const { types } = server.document;
  const shown = (cells: readonly Cells[] = []): string =>
    cells.map(({ present, numbers, codes, dictionary }) =>
      [present, numbers, codes, dictionary].map((one) => toHex(one ?? new Uint8Array(0))).join())
      .join(';');
  const forms = (['float32', 'float64'] as const).map((dataType) =>
    shown(encodeCells(Float64Array.from(values), types!, dataType, table)));
  expect(server.taken.length === 1 && forms.includes(shown(server.taken[0]!.cells)),
    'the cells are not the one form of these rows');
}

/**
 * Cases of a client that sends rows: the rows themselves, lost servers, and restarts of the client.
 */
export const contributingCases: readonly ConformanceCase[] = [
  contributing('rows are split, within the credit, and end with "last"', splitAndCredit),
  ...Object.entries(cuts).map(([point, when]) =>
    contributing(`cut ${when}`, (stage) => cutAt(stage, point as RowCut))),
  contributing('the server restarts', restart),
  contributing('nothing is accepted before the Ack', withheldAck),
  contributing('killed after sending', (stage) => killedAfterSending(stage, 'deaf')),
  contributing('killed before the Ack', (stage) => killedAfterSending(stage, 'mute')),
  contributing('killed while rows wait for an epoch', killedWaiting),
  contributing('what is settled is not sent again', settledIsForgotten),
  contributing('holes are filled first', holes),
  contributing('rows wait for an epoch', waitsForEpoch),
  contributing('the enrolment token is in every Hello', enrolment),
  {
    name: 'typed columns', needs: 'typed',
    run: async (stage) => typedRows(stage, await stage.server(typedDocument), typed),
  },
  {
    name: 'texts and absent values', needs: 'typed',
    run: async (stage) => typedRows(stage, await stage.server(textDocument), texts),
  },
];
