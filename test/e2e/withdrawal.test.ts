import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createContributor } from '../../client/index.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { createAggregator, silentLogger, type Aggregator } from '../../server/index.js';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { issueEnrolment, signWithdrawal } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import { keelson } from '../support/command.js';
import { define } from '../support/hub-bench.js';
import { ShiftedClock } from '../support/shifted-clock.js';
import { until } from '../support/until.js';
import { newSigner, WireClient, WireContributor } from '../support/wire-client.js';

const issuer = newSigner();
let directory: string;
let aggregator: Aggregator;
let clock: ShiftedClock;
beforeEach(async () => {
  clock = new ShiftedClock();
  directory = mkdtempSync(join(tmpdir(), 'keelson-withdrawn-'));
  aggregator = await createAggregator({
    dataDirectory: join(directory, 'data'), port: 0, logger: silentLogger, clock,
    runnerFactory: () => new InlineEpochRunner(),
    studies: [
      define({ participation: 'public', epoch: { contributors: 2 } }),
      define({
        participation: 'public', epoch: { contributors: 2 }, study: 'members',
        admission: { kind: 'enrolment', issuer: toHex(issuer.publicKey) },
      }),
    ],
  });
});
afterEach(async () => {
  await aggregator.close();
  rmSync(directory, { recursive: true, force: true });
});

const url = (): string => aggregator.address.replace('http', 'ws');
const counted = async (): Promise<number> =>
  (await aggregator.hub.progress(aggregator.hub.studies()[0]!.studyId))!.complete;

it('is asked for by the client and by the command, and refused once the epoch is '
  + 'closed', async () => {
  const { name: study } = aggregator.hub.studies()[0]!;
  const seed = new Uint8Array(32).fill(9);
  const first = createContributor({ url: url(), study, seed });
  expect(await first.contribute([[1, 2]])).toMatchObject({ kind: 'accepted', epoch: 1n });
  expect(await first.withdraw()).toBe(1n);
  expect(await first.contribute([[3, 4]]))
    .toMatchObject({ kind: 'refused', error: { code: 'contribution-full' } });
  await first.close();
  const key = join(directory, 'alice.key');
  const rows = join(directory, 'rows.csv');
  writeFileSync(rows, 'minutes,miles\n1,2\n');
  expect((await keelson(['keys', 'new', key])).status).toBe(0);
  const words = ['contribute', url(), '--study', study, '--key', key];
  expect(await keelson([...words, '--input', rows])).toMatchObject({ status: 0 });
  const withdrawn = await keelson([...words, '--withdraw']);
  expect([withdrawn.status, withdrawn.stdout])
    .toEqual([0, 'withdrawn: nothing of this key counts in epoch 1\n']);
  expect((await keelson([...words, '--withdraw', '--input', rows])).status).toBe(2);
  expect((await keelson(words)).status).toBe(2);
  // Two others close the epoch: neither of those who withdrew counts.
  const others = [1, 2].map((fill) =>
    createContributor({ url: url(), study, seed: new Uint8Array(32).fill(fill) }));
  for (const other of others) expect(await other.contribute([[5, 6]])).toMatchObject({ epoch: 1n });
  await until(() => aggregator.hub.studies()[0]!.epoch !== 1n);
  await expect(others[0]!.withdraw(1n)).rejects
    .toMatchObject({ code: 'too-late', retryable: false });
  // A refusal to take back is no reason to end.
  expect(await others[0]!.contribute([[5, 6]])).toMatchObject({ kind: 'accepted', epoch: 2n });
  for (const other of others) await other.close();
});

it('takes a withdrawal from the key alone, for the epoch that it signed', async () => {
  const client = await WireClient.open(aggregator.port);
  const { studyId } = aggregator.hub.studies()[0]!;
  const contributor = await WireContributor.open(client, studyId);
  expect(await contributor.send(1n, { last: true })).toMatchObject({ accepted: [1n] });
  const context = { serverKey: aggregator.serverKey, studyId: fromHex(studyId) };
  const { channel } = contributor.ready;
  const ask = (signer = contributor.signer, signed = 1n, epoch = 1n): void => {
    client.send({
      kind: 'withdraw', channel, epoch, signature: signWithdrawal(signer, context, signed),
    });
  };
  ask(newSigner());
  expect(await contributor.refusal()).toMatchObject({ code: 'bad-signature', channel });
  ask(contributor.signer, 2n);
  expect(await contributor.refusal()).toMatchObject({ code: 'bad-signature' });
  expect(await counted()).toBe(1);
  ask();
  expect(await client.next('ack')).toMatchObject({ withdrawn: 1n, accepted: [], rejections: [] });
  ask();
  expect(await client.next('ack')).toMatchObject({ withdrawn: 1n });
  client.send({ kind: 'withdraw', channel: 99, epoch: 1n, signature: new Uint8Array(64) });
  expect(await contributor.refusal()).toMatchObject({ code: 'unknown-channel' });
  client.close();
});

it('is possible for a key whose enrolment ended, which can send no more rows', async () => {
  const expiresAtMs = Date.now() + 3_600_000;
  const connect = (fill: number) => {
    const seed = new Uint8Array(32).fill(fill);
    const { publicKey } = signing.createSigner(seed);
    const enrolment =
      toHex(issueEnrolment(issuer, publicKey, { study: 'members', expiresAtMs }, signing));
    return createContributor({ url: url(), study: 'members', seed, enrolment });
  };
  const member = connect(5);
  expect(await member.contribute([[1, 2]])).toMatchObject({ kind: 'accepted', epoch: 1n });
  await member.close();
  clock.advance(3_600_000);
  const [again, stranger] = [connect(5), connect(6)];
  expect(await again.withdraw()).toBe(1n);
  await expect(again.contribute([[3, 4]])).rejects.toMatchObject({ code: 'enrolment-expired' });
  // A token that is over, and nothing to take back: not let in.
  await expect(stranger.contribute([[3, 4]])).rejects.toMatchObject({ code: 'enrolment-expired' });
  const { studyId } = aggregator.hub.studies()[1]!;
  // What was taken back leaves the summaries at the release; nothing came to it.
  expect(await aggregator.hub.progress(studyId)).toMatchObject({ contributors: 1 });
  for (const contributor of [again, stranger]) await contributor.close();
});
