import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAggregator, type Aggregator } from '../../server/aggregator.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { createLogger } from '../../server/base/logger.js';
import { backupStore } from '../../server/store/sqlite/backup.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { parseStudyText } from '../../server/study-file/index.js';
import { fromHex, utf8 } from '../../src/base/bytes.js';
import { createContributor, subscribe, type VerifiedRelease } from '../../client/index.js';
import { encodeCells, encodeRows, type Answer } from '../../src/wire/index.js';
import { bytesMark, floatPairMark, markOf, marksIn, type Mark } from '../support/marks.js';
import { meanStudy, populousStudy } from '../support/study-files.js';
import { TappedPort } from '../support/tapped-port.js';
import { newSigner, WireClient, WireContributor } from '../support/wire-client.js';

/** Enough for a release, with a value or refused: either is searched. */
const people = 120;
/**
 * Of those, whose rows are looked for: every one has its own, and no code knows which these are.
 */
const marked = 24;
/** Sockets that they come on, at once. */
const sockets = 8;
/**
 * Every row has this second value, so that the mean without noise is this number too, and so is any
 * group's.
 */
const commonValue = 123.456_789_012_345;
const own = (person: number): number => 11.234_567_891_23 + person * 0.057_913_791_379;
const exactMean = Array.from({ length: people }, (_, i) => own(i))
  .reduce((sum, value) => sum + value, 0) / people;

/** Epochs that end when all have come, so that no machine is too slow to get them into one. */
const counted = { participation: 'public', cohort: '120', epoch: `{ contributors: ${people} }` };
const studies = {
  plain: meanStudy('plain', counted),
  robust: populousStudy('robust', { ...counted, cohort: '240' }),
};
/** A study about keys that nobody listed. Every marked person has a text of its own. */
const textStudy = `study: texts
columns: { app: { type: text, bytes: 32 } }
cohort: 120
participation: public
epoch: { contributors: ${people} }
questions: { apps: { estimator: count, by: { column: app, groupsMax: 1, discover: true } } }
privacy: { epsilon: 12, delta: 1e-6 }
budget: { epsilon: 100, delta: 1e-5, scope: study }
`;
const textTypes = [{ type: 'text', bytes: 32 }] as const;
const textOf = (person: number): string =>
  (person < marked ? `text of person ${person + 100}` : 'a text of many');
const cellsOf = (text: string) => ({
  columns: 1, data: new Uint8Array(0),
  cells: encodeCells(Float64Array.of(0), textTypes, 'float64', [text]),
});

const values: readonly Mark[] = [
  markOf('the common value, or a mean without noise', commonValue),
  markOf('the mean of everybody without noise', exactMean),
  ...Array.from({ length: marked }, (_, i) => bytesMark(`text ${i}`, utf8(textOf(i)))),
  ...Array.from({ length: marked }, (_, i) => markOf(`the row of ${i}`, own(i))),
  ...Array.from({ length: marked }, (_, i) =>
    floatPairMark(`the floats of ${i}`, [own(i), commonValue])),
];

const folder = mkdtempSync(join(tmpdir(), 'keelson-taint-'));
const logged: string[] = [];
const keys: Mark[] = [];
const releases: VerifiedRelease[] = [];
let aggregator: Aggregator;
let tap: TappedPort;
/** For who only reads: on the other one, contributors are told their own keys. */
let readersTap: TappedPort;
let token: string;
let foldersBefore: Buffer | undefined;

/** Whatever is in the data folder now, the write-ahead log included. */
const folderBytes = (of = folder): Buffer =>
  Buffer.concat(readdirSync(of).map((name) => readFileSync(join(of, name))));

async function get(
  path: string, headers: Record<string, string> = {}, by = readersTap,
): Promise<void> {
  await (await fetch(`http://127.0.0.1:${by.port}${path}`, { headers })).arrayBuffer();
}

/** All of them in one epoch of one study: doubles from the even ones, floats from the others. */
function contributeAll(studyId: string): Promise<unknown> {
  return Promise.all(
    Array.from({ length: sockets }, (_, socket) => contributeSome(studyId, socket)),
  );
}

async function contributeSome(studyId: string, first: number): Promise<void> {
  const client = await WireClient.open(tap.port);
  for (let person = first; person < people; person += sockets) {
    const contributor = await WireContributor.open(client, studyId);
    if (person < marked) keys.push(bytesMark(`the key of ${person}`, contributor.signer.publicKey));
    const dataType = person % 2 === 0 ? 'float64' : 'float32';
    const data = encodeRows(Float64Array.of(own(person), commonValue), dataType);
    const ack = await contributor.send(1n, { dataType, data, last: true });
    expect(ack.rejections).toEqual([]);
    // While rows are there, and their epoch is still open.
    if (person === marked) foldersBefore ??= folderBytes();
    // The refusals of what is sent once more, changed, and of what follows a complete contribution.
    if (person < 4) {
      await contributor.send(1n, { data: encodeRows(Float64Array.of(own(person), 1), 'float64') });
    }
    if (person < 4) {
      await contributor.send(2n, { data: encodeRows(Float64Array.of(own(person), 2), 'float64') });
    }
  }
  client.close();
}

/** Texts of all people in one epoch, and marked texts in forms that the server refuses. */
async function contributeTexts(studyId: string): Promise<void> {
  const client = await WireClient.open(tap.port);
  const wrong = await WireContributor.open(client, studyId);
  const [cells] = cellsOf(textOf(0)).cells;
  const { dictionary } = cells!;
  const odd = [
    { dictionary: utf8(` ${textOf(0)}`) }, { dictionary: dictionary!.subarray(1) },
    { codes: Uint8Array.of(7) }, { numbers: utf8(textOf(1)) },
  ];
  for (const [i, change] of odd.entries()) {
    const sent = { ...cellsOf(textOf(0)), cells: [{ ...cells!, ...change }] };
    expect((await wrong.send(BigInt(i + 1), sent)).rejections).toHaveLength(1);
  }
  for (let person = 0; person < people; person++) {
    const contributor = await WireContributor.open(client, studyId);
    const ack = await contributor.send(1n, { ...cellsOf(textOf(person)), last: true });
    expect(ack.rejections).toEqual([]);
  }
  client.close();
}

/** Marked rows in messages that are wrong in every way a server names. */
async function misbehave(studyId: string): Promise<void> {
  const client = await WireClient.open(tap.port);
  const contributor = await WireContributor.open(client, studyId);
  // As bytes: the encoder itself refuses what is not finite.
  const row = (...numbers: number[]) => new Uint8Array(Float64Array.of(...numbers).buffer);
  const wrong: readonly [bigint, Parameters<WireContributor['batch']>[1]][] = [
    [1n, { data: row(own(0), NaN) }],
    [2n, { columns: 1, data: row(own(0)) }],
    [3n, { epoch: 900n, data: row(own(0), commonValue) }],
    [9_000_000n, { data: row(own(0), commonValue) }],
  ];
  for (const [sequence, change] of wrong) {
    client.send(contributor.batch(sequence, change));
    await client.next('ack', 'refusal');
  }
  const good = contributor.batch(4n, { data: row(own(0), commonValue) });
  client.send({ ...good, signature: new Uint8Array(64) });
  client.send({ ...good, body: good.body.subarray(0, good.body.length - 3) });
  client.send({ ...good, channel: 77 });
  client.ws.send(Buffer.from(good.body));
  client.ws.send(`rows ${own(0)} ${commonValue}`);
  await client.closed();
  await expect(
    WireContributor.open(await WireClient.open(tap.port), '00'.repeat(32), newSigner()),
  ).rejects.toThrow();
  await get(`/v1/${own(0)}?value=${commonValue}`, {}, tap);
}

beforeAll(async () => {
  const inFile = (text: string) => parseStudyText(text, { name: 'study.yaml' });
  aggregator = await createAggregator({
    dataDirectory: folder, port: 0,
    studies: [...Object.values(studies), textStudy].map(inFile),
    logger: createLogger({ level: 'debug', destination: { write: (line) => logged.push(line) } }),
    openStore: (directory, clock) => openInlineSqliteStore({ directory, clock }),
    runnerFactory: () => new InlineEpochRunner(),
  });
  [tap, readersTap] =
    await Promise.all([TappedPort.before(aggregator.port), TappedPort.before(aggregator.port)]);
  token = readFileSync(aggregator.paths.operatorToken, 'utf8').trim();
  const url = `ws://127.0.0.1:${tap.port}`;
  const stop = new AbortController();
  const reader = {
    url: `ws://127.0.0.1:${readersTap.port}`, serverKey: aggregator.serverKey, signal: stop.signal,
  };
  const following = aggregator.hub.studies().map(async ({ studyId }) => {
    for await (const release of subscribe({ ...reader, study: studyId })) releases.push(release);
  });
  const stays = createContributor({ url, study: 'plain', seed: new Uint8Array(32).fill(9) });
  await stays.send([[own(1), commonValue]]);
  await Promise.all(aggregator.hub.studies().map(({ studyId, name }) =>
    (name === 'texts' ? contributeTexts(studyId) : contributeAll(studyId))));
  await misbehave(aggregator.hub.studies().find(({ name }) => name === 'plain')!.studyId);
  const heard = (name: string): boolean => releases.some(({ document }) => document.study === name);
  while (![...Object.keys(studies), 'texts'].every(heard)) await pause(20);
  for (const path of [
    '/', '/healthz', '/v1/studies', '/v1/ledger', '/metrics', '/v1/operator/progress',
  ]) await get(path);
  for (const name of Object.keys(studies)) await get(`/v1/releases?study=${name}`);
  await stays.close();
  stop.abort();
  await Promise.allSettled(following);
  const operator = { Authorization: `Bearer ${token}` };
  for (const path of ['/healthz', '/metrics', '/v1/operator/progress']) {
    await get(path, operator, tap);
  }
  await aggregator.hub.settled();
});

afterAll(async () => {
  await Promise.all([tap.close(), readersTap.close()]);
  await aggregator.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('marked rows', () => {
  it('are recognised by this test wherever they may be', () => {
    expect(marksIn(foldersBefore!, values).length).toBeGreaterThan(marked / 2);
    const text = JSON.stringify({ estimate: [exactMean, commonValue], row: own(7) });
    expect(marksIn(Buffer.from(text), values)).toHaveLength(3);
    const row = Buffer.from(encodeRows(Float64Array.of(own(3), commonValue), 'float64'));
    for (const at of [0, 1, 2]) {
      const shifted = Buffer.concat([Buffer.alloc(at), row]);
      expect(marksIn(Buffer.from(shifted.toString('base64')), values)).toHaveLength(2);
    }
    expect(marksIn(Buffer.from(row.toString('hex')), values)).toHaveLength(2);
    expect(
      marksIn(Buffer.from(encodeRows(Float64Array.of(own(3), commonValue), 'float32')), values),
    ).toHaveLength(1);
  });

  it('are in no byte that leaves the server, whoever asks, and whatever was wrong with the '
    + 'message', () => {
    for (const { towardsClients } of [tap, readersTap]) {
      expect(towardsClients.length).toBeGreaterThan(10_000);
      expect(marksIn(towardsClients, values)).toEqual([]);
    }
  });

  it('of texts show only where many people have them', () => {
    const { release } = releases.find(({ document }) => document.study === 'texts')!;
    const [{ outcome }] = release.answers as [Answer];
    expect(outcome).toMatchObject({ kind: 'value', groups: [['a text of many']] });
  });

  it('are in no line of its log, at the level that says most', () => {
    expect(logged.join('')).toContain('the rows of an epoch were deleted');
    expect(marksIn(Buffer.from(logged.join('')), [...values, ...keys])).toEqual([]);
  });

  it('are not in the data folder any more once the retention rule is done with them', () => {
    expect(marksIn(folderBytes(), values)).toEqual([]);
  });

  it('are in no backup that is made after that', () => {
    const copies = mkdtempSync(join(tmpdir(), 'keelson-taint-copies-'));
    try {
      const copy = join(copies, 'copy');
      backupStore(folder, copy);
      const bytes = folderBytes(copy);
      expect(bytes.length).toBeGreaterThan(10_000);
      expect(marksIn(bytes, values)).toEqual([]);
    } finally {
      rmSync(copies, { recursive: true, force: true });
    }
  });
});

describe('readers', () => {
  it('learn of no contributor, and of nothing that only the operator may', () => {
    expect(marksIn(readersTap.towardsClients, keys)).toEqual([]);
    for (const { release } of releases) expect(Object.keys(release)).not.toContain('contributors');
    const text = readersTap.towardsClients.toString('latin1');
    for (const word of ['keelson_epoch_contributors', '"complete"', '"progress"', 'leftOut']) {
      expect(text).not.toContain(word);
    }
  });

  it('and nobody at all of the operator\'s token, or of the server\'s secret', () => {
    const secret =
      bytesMark('the seed', fromHex(readFileSync(aggregator.paths.serverKey, 'utf8').trim()));
    const everything = [
      tap.towardsClients, readersTap.towardsClients, Buffer.from(logged.join('')),
    ];
    for (const bytes of everything) {
      expect(bytes.includes(Buffer.from(token))).toBe(false);
      expect(marksIn(bytes, [secret])).toEqual([]);
    }
  });
});
