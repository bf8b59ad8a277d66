import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAggregator, type Aggregator } from '../../server/aggregator.js';
import { systemClock } from '../../server/base/clock.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { rotateServerKey, type RotationStore } from '../../server/keys/key-rotation.js';
import { openServerKeys } from '../../server/keys/server-keys.js';
import { createLogger } from '../../server/base/logger.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { parseStudyText } from '../../server/study-file/index.js';
import { reloadStudies } from '../../server/studies/hub/reload.js';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { issueEnrolment, signWithdrawal } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import { encodeRows } from '../../src/wire/index.js';
import { bytesMark, markOf, marksIn, type Mark } from '../support/marks.js';
import { meanStudy } from '../support/study-files.js';
import { TappedPort } from '../support/tapped-port.js';
import { until } from '../support/until.js';
import { newSigner, WireClient, WireContributor } from '../support/wire-client.js';

/** Enough for an answer of the study, whose cohort this is. */
const people = 200;
const own = (person: number): number => 11.234_567_891_23 + person * 0.057_913_791_379;
/** Of the one whom the automatic rule leaves out, and of the one who takes everything back. */
const far = 3_456.789_123_45;
const withdrawn = 23.456_789_012_34;
const common = 123.456_789_012_345;
const values: readonly Mark[] = [
  markOf('the common value', common), markOf('what was far away', far),
  markOf('what was taken back', withdrawn),
  ...Array.from({ length: 24 }, (_, i) => markOf(`the row of ${i}`, own(i))),
];
const issuer = newSigner();
const folder = mkdtempSync(join(tmpdir(), 'keelson-taint-operations-'));
const logged: string[] = [];
const keys: Mark[] = [];
const signers = Array.from({ length: people }, newSigner);
let aggregator: Aggregator;
/** All that contributors and the operator are told, and apart from it what readers are. */
let tap: TappedPort;
let readersTap: TappedPort;
let token: string;
/** What quarantine noted: distances are of rows, so only the operator may see them. */
let distances: readonly Mark[];

const facts = {
  estimator: 'robust-mean', epoch: '{ every: 3s }', retention: '1h',
  quarantine: '{ beyond: 20, automatic: true }',
  budget: '{ epsilon: 90, delta: 1e-5, scope: study }',
  admission: `{ enrolment: { issuer: "${toHex(issuer.publicKey)}" } }`,
};
const inFile = (change: Readonly<Record<string, string>> = {}) =>
  parseStudyText(meanStudy('watched', { ...facts, ...change }), { name: 'study.yaml' });
const tokenFor = (key: Uint8Array, expiresAtMs = Date.now() + 3_600_000, by = issuer): Uint8Array =>
  issueEnrolment(by, key, { study: 'watched', expiresAtMs }, signing);
const rowOf = (value: number) =>
  ({ data: encodeRows(Float64Array.of(value, common), 'float64'), last: true });

async function open(
  client: WireClient, studyId: string, signer = newSigner(),
): Promise<WireContributor> {
  const ready = await client.hello(signer, studyId, { enrolment: tokenFor(signer.publicKey) });
  return WireContributor.on(client, studyId, signer, ready);
}

/**
 * Epoch by epoch: the rows of all, of the one far away, of one who takes them back, and the
 * refusals of each.
 */
async function contributeAll(studyId: string): Promise<bigint> {
  const client = await WireClient.open(tap.port);
  const contributors: WireContributor[] = [];
  for (const signer of signers) contributors.push(await open(client, studyId, signer));
  keys.push(
    ...signers.slice(0, 24).map((signer, i) => bytesMark(`the key of ${i}`, signer.publicKey)),
  );
  // A fresh one, so that all come into it and out of it in time.
  const before = aggregator.hub.study(studyId)!.epoch;
  await until(() => aggregator.hub.study(studyId)!.epoch > before);
  const { epoch } = aggregator.hub.study(studyId)!;
  contributors.forEach((contributor, i) =>
    client.send(
      contributor.batch(1n, { epoch, ...rowOf(i === 0 ? far : i === 1 ? withdrawn : own(i)) }),
    ));
  await until(() => client.frames.filter(({ kind }) => kind === 'ack').length === people);
  const context = { serverKey: aggregator.serverKey, studyId: fromHex(studyId) };
  const takeBack = (who: number) => client.send({
    kind: 'withdraw', channel: contributors[who]!.ready.channel, epoch,
    signature: signWithdrawal(signers[who]!, context, epoch),
  });
  takeBack(1);
  // After it, the same rows again, and others: both have no place in the epoch any more.
  client.send(contributors[1]!.batch(2n, { epoch, ...rowOf(withdrawn) }));
  await until(() => aggregator.hub.study(studyId)!.epoch > epoch);
  takeBack(2);
  await until(() =>
    client.frames.some((frame) => frame.kind === 'refusal' && frame.code === 'too-late'));
  expect(client.frames.some((frame) => frame.kind === 'ack' && frame.withdrawn === epoch))
    .toBe(true);
  client.close();
  return epoch;
}

/**
 * The one who was far away is told in an epoch after; others come with tokens that are wrong in
 * some way.
 */
async function refusals(studyId: string, released: bigint): Promise<void> {
  const client = await WireClient.open(tap.port);
  await until(() => aggregator.hub.study(studyId)!.epoch >= released + 2n);
  const excluded = await open(client, studyId, signers[0]);
  const ack = await excluded.send(2n, { epoch: excluded.ready.epoch, ...rowOf(far) });
  expect(ack.rejections).toMatchObject([{ code: 'quarantined' }]);
  const key = newSigner();
  for (const enrolment of [
    undefined, tokenFor(signers[1]!.publicKey), tokenFor(key.publicKey, 1_000),
    tokenFor(key.publicKey, Date.now() + 9_999, key),
  ]) {
    await client.sendHello(key, studyId, enrolment === undefined ? {} : { enrolment });
    expect((await client.next('refusal')).code)
      .toMatch(/not-enrolled|enrolment-expired|bad-signature/);
  }
  client.close();
}

async function get(
  path: string, by: TappedPort, headers: Record<string, string> = {}, method = 'GET',
): Promise<string> {
  return (await fetch(`http://127.0.0.1:${by.port}${path}`, { headers, method })).text();
}

beforeAll(async () => {
  const store = await openInlineSqliteStore({
    directory: folder, clock: systemClock,
  }) as unknown as RotationStore & { close(): Promise<void> };
  openServerKeys(folder);
  await rotateServerKey(join(folder, 'server.key'), store, 1);
  await store.close();
  aggregator = await createAggregator({
    dataDirectory: folder, port: 0, studies: [inFile()],
    logger: createLogger({ level: 'debug', destination: { write: (line) => logged.push(line) } }),
    openStore: (directory, clock) => openInlineSqliteStore({ directory, clock }),
    runnerFactory: () => new InlineEpochRunner(),
  });
  [tap, readersTap] =
    await Promise.all([TappedPort.before(aggregator.port), TappedPort.before(aggregator.port)]);
  token = readFileSync(aggregator.paths.operatorToken, 'utf8').trim();
  const { studyId } = aggregator.hub.studies()[0]!;
  const reader = await WireClient.open(readersTap.port);
  reader.send({ kind: 'subscribe', studyId: fromHex(studyId), fromRelease: 0n });
  const released = await contributeAll(studyId);
  await refusals(studyId, released);
  const operator = { Authorization: `Bearer ${token}` };
  const evidence = (by: TappedPort, headers = {}) =>
    get(
      `/v1/operator/evidence?study=watched&contributor=${toHex(signers[0]!.publicKey)}`, by,
      headers,
    );
  expect(await evidence(tap, operator)).toContain('distance');
  for (const path of ['/metrics', '/v1/operator/progress', '/healthz']) {
    await get(path, tap, operator);
  }
  // The same questions from somebody without the token, and a study that changes and ends
  // meanwhile.
  expect(await evidence(readersTap)).toContain('unauthorized');
  await reloadStudies(aggregator.hub, [
    inFile({ cohort: '210' }), inFile({ budget: '{ epsilon: 99, delta: 1e-5, scope: study }' }),
  ],
    createLogger({ destination: { write: (line) => logged.push(line) } }));
  for (const path of [
    '/v1/studies', '/v1/ledger', '/v1/releases?study=watched', '/metrics',
    `/v1/releases?study=${studyId}`,
  ]) {
    await get(path, readersTap);
  }
  await until(() => reader.frames.some(({ kind }) => kind === 'release'));
  const entries = await aggregator.hub.quarantines!(studyId, 9);
  distances =
    entries.map(({ distance }) => markOf('the distance of the one who was left out', distance));
  reader.close();
});

afterAll(async () => {
  await Promise.all([tap.close(), readersTap.close()]);
  await aggregator.close();
  rmSync(folder, { recursive: true, force: true });
});

it('marked rows are in nothing that leaves the server around withdrawals, exclusions, tokens, a '
  + 'changed key and a reload', () => {
  for (const { towardsClients } of [tap, readersTap]) {
    expect(towardsClients.length).toBeGreaterThan(1_000);
    expect(marksIn(towardsClients, values)).toEqual([]);
  }
});

it('readers learn nothing of who was left out, by how much, or who took part', () => {
  expect(distances).toHaveLength(1);
  expect(marksIn(readersTap.towardsClients, [...keys, ...distances])).toEqual([]);
});

it('the log names no row, no key and no distance', () => {
  const lines = logged.join('');
  expect(lines).toContain('a study is refused');
  expect(marksIn(Buffer.from(lines), [...values, ...keys, ...distances])).toEqual([]);
  expect(lines.includes(token)).toBe(false);
});
