import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  createContributor, openOutbox, subscribe, type VerifiedRelease,
} from '../../client/index.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { createAggregator, silentLogger, type Aggregator } from '../../server/index.js';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { signBatch } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import { keelson } from '../support/command.js';
import { define } from '../support/hub-bench.js';
import { newSigner, WireClient, WireContributor } from '../support/wire-client.js';

let directory: string;
let aggregator: Aggregator;
const closers: (() => Promise<unknown>)[] = [];
beforeEach(() => { directory = mkdtempSync(join(tmpdir(), 'keelson-rotated-')); });
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  await aggregator.close();
  rmSync(directory, { recursive: true, force: true });
});

const data = (): string => join(directory, 'data');
async function serve(port = 0): Promise<void> {
  aggregator = await createAggregator({
    dataDirectory: data(), port, logger: silentLogger, runnerFactory: () => new InlineEpochRunner(),
    studies: [define({
      participation: 'public', epoch: { contributors: 2 }, privacy: { epsilon: 8, delta: 1e-6 },
    })],
  });
}
const url = (): string => aggregator.address.replace('http', 'ws');

/** The server stops, changes its key, and comes back where it was. @returns the key before. */
async function rotate(): Promise<Uint8Array> {
  const { port, serverKey } = aggregator;
  await aggregator.close();
  expect(await keelson(['keys', 'rotate', '--data', data()]))
    .toMatchObject({ status: 0, stderr: '' });
  await serve(port);
  expect(aggregator.serverKey).not.toEqual(serverKey);
  return serverKey;
}

it('is followed by contributors, subscribers and logs that know the server by its first '
  + 'key', async () => {
  await serve();
  const refused = await keelson(['keys', 'rotate', '--data', data()]);
  expect([refused.status, refused.stderr.includes('in use by another server')]).toEqual([2, true]);
  const study = aggregator.hub.studies()[0]!.name;
  const first = aggregator.serverKey;
  const outboxes = ['a', 'b'].map((name) => join(directory, name));
  const open = async (i: number) => {
    const contributor = createContributor({
      url: url(), study, seed: new Uint8Array(32).fill(i + 1),
      outbox: await openOutbox(outboxes[i]!), serverKey: first, backoffInitialMs: 20,
      backoffMaxMs: 50,
    });
    closers.push(() => contributor.close());
    return contributor;
  };
  const people = await Promise.all([open(0), open(1)]);
  const stop = new AbortController();
  const seen: VerifiedRelease[] = [];
  const reading = (async () => {
    const options = {
      url: url(), study, serverKey: first, signal: stop.signal, backoffInitialMs: 20,
      backoffMaxMs: 50,
    };
    for await (const release of subscribe(options)) seen.push(release);
  })();
  const everybody = async (count: number): Promise<void> => {
    await Promise.all(people.map((person) => person.contribute([[1, 2]])));
    while (seen.length < count) await new Promise((resolve) => { setTimeout(resolve, 10); });
  };
  await everybody(1);
  await rotate();
  await everybody(2);
  const second = aggregator.serverKey;
  await rotate();
  await everybody(3);
  stop.abort();
  await reading;
  const keys = [first, second, aggregator.serverKey].map(toHex);
  expect(seen.map(({ serverKey }) => serverKey)).toEqual(keys);
  // What was kept insists on the newest key; the first one, as somebody wrote it in a script, is
  // still its own.
  await people[0].close();
  await (await open(0)).study();
  const log = join(directory, 'releases.log');
  writeFileSync(
    log, await (await fetch(`${aggregator.address}/v1/releases?study=${study}`)).text(),
  );
  for (const key of keys) {
    const { status, stdout } = await keelson(['verify', log, '--server-key', key]);
    expect([status, stdout.includes('3')]).toEqual([0, true]);
  }
  expect((await keelson(['verify', log, '--server-key', toHex(newSigner().publicKey)])).status)
    .toBe(1);
});

it('keeps batches valid that were signed for an earlier key, and no others', async () => {
  await serve();
  const first = await rotate();
  const client = await WireClient.open(aggregator.port);
  closers.push(async () => client.close());
  const { studyId } = aggregator.hub.studies()[0]!;
  const contributor = await WireContributor.open(client, studyId);
  const send = (serverKey: Uint8Array): void => {
    const batch = contributor.batch(1n);
    const context = { serverKey, studyId: fromHex(studyId) };
    client.send({
      ...batch, signature: signBatch(contributor.signer, context, signing.sha512(batch.body)),
    });
  };
  send(newSigner().publicKey);
  expect(await contributor.refusal()).toMatchObject({ code: 'bad-signature' });
  send(first);
  expect(await client.next('ack')).toMatchObject({ accepted: [1n], rejections: [] });
  send(aggregator.serverKey);
  expect(await client.next('ack')).toMatchObject({ accepted: [1n], rejections: [] });
});
