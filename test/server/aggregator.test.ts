import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import { ReleaseChain } from '../../src/log/index.js';
import { signing } from '../../src/signing/node.js';
import {
  createAggregator, silentLogger, type Aggregator, type AggregatorOptions, type HubEvent,
} from '../../server/index.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { define } from '../support/hub-bench.js';
import { LiveCommand } from '../support/live-command.js';
import { root } from '../support/sources.js';
import { WireClient, WireContributor } from '../support/wire-client.js';

let directory: string;
let running: Aggregator[] = [];
beforeEach(() => { directory = mkdtempSync(join(tmpdir(), 'keelson-server-')); });
afterEach(async () => {
  for (const aggregator of running) await aggregator.close();
  running = [];
  rmSync(directory, { recursive: true, force: true });
});

async function start(options: Partial<AggregatorOptions> = {}): Promise<Aggregator> {
  const aggregator = await createAggregator({
    dataDirectory: directory, studies: [define({ epoch: { everyMs: 600_000 } })], port: 0,
    logger: silentLogger, ...options,
  });
  running.push(aggregator);
  return aggregator;
}

/** Resolves at the first event of a kind. */
const next = (aggregator: Aggregator, kind: HubEvent['kind']): Promise<HubEvent> =>
  new Promise((resolve) => {
    const stop = aggregator.hub.onEvent((event) => {
      if (event.kind !== kind) return;
      stop();
      resolve(event);
    });
  });

async function sendRows(aggregator: Aggregator, count: number): Promise<void> {
  const client = await WireClient.open(aggregator.port);
  const { studyId } = aggregator.hub.studies()[0]!;
  for (let i = 0; i < count; i++) {
    const contributor = await WireContributor.open(client, studyId);
    const ack = await contributor.send(1n, { last: true });
    expect(ack).toMatchObject({ accepted: [1n], rejections: [] });
  }
  client.close();
}

describe('an aggregator', () => {
  it('takes signed batches over a socket and releases them from its worker threads', async () => {
    const aggregator = await start({
      studies: [define({
        participation: 'public', epoch: { contributors: 12 }, privacy: { epsilon: 8, delta: 1e-6 },
      })],
    });
    const released = next(aggregator, 'release');
    await sendRows(aggregator, 12);
    const event = await released;
    const { studyId } = aggregator.hub.studies()[0]!;
    const chain = new ReleaseChain({
      server: signing.createVerifier(aggregator.serverKey), signing, studyId: fromHex(studyId),
      document: aggregator.hub.studies()[0]!.document,
    });
    expect(
      event.kind === 'release' && chain.accept(event.release),
    ).toMatchObject({ index: 0n, epoch: 1n, participation: 'public' });
    chain.checkHead(await aggregator.hub.head(studyId));
    const log = await (await fetch(`${aggregator.address}/v1/releases?study=delays`)).text();
    expect(log.trim().split('\n')).toHaveLength(3);
  });

  it('closes clean and goes on with its open epoch, its key and its contributors', async () => {
    const first = await start();
    expect(first.created).toHaveLength(2);
    await sendRows(first, 3);
    await first.close();
    const second = await start();
    expect(second.serverKey).toEqual(first.serverKey);
    expect(second.created).toEqual([]);
    const view = second.hub.studies()[0]!;
    expect(view.epoch).toBe(1n);
    await sendRows(second, 2);
    expect(await second.hub.progress(view.studyId)).toMatchObject({ contributors: 5, complete: 5 });
  });

  it('refuses a data folder that another one uses, and leaves that one alone', async () => {
    const first = await start();
    await expect(start()).rejects.toMatchObject({ code: 'data-folder-in-use' });
    await sendRows(first, 1);
  });

  it('keeps the process that it is embedded in while it waits for its store', async () => {
    const program = join(directory, 'embeds.mjs');
    writeFileSync(program, `
      import { createAggregator } from ${JSON.stringify(`${root}dist/server/index.js`)};
      const openStore = async (_directory, clock) => {
        await new Promise((resolve) => { clock.after(300, resolve); });
        throw new Error('the store is gone');
      };
      await createAggregator({ dataDirectory: ${JSON.stringify(directory)}, studies: [], openStore })
        .catch(({ message }) => { process.stdout.write(message); });
    `);
    expect(await new LiveCommand([], { command: program }).ended)
      .toMatchObject({ status: 0, stdout: 'the store is gone' });
  });

  it('closes what it opened when it cannot listen', async () => {
    const first = await start();
    const other = mkdtempSync(join(tmpdir(), 'keelson-server-'));
    const attempt = (): Promise<Aggregator> => start({ dataDirectory: other, port: first.port });
    await expect(attempt()).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await expect(attempt()).rejects.toMatchObject({ code: 'EADDRINUSE' });
    rmSync(other, { recursive: true, force: true });
  });

  it('stops taking batches and says so when its store fails', async () => {
    const failures: unknown[] = [];
    let broken = false;
    const aggregator = await start({
      runnerFactory: () => new InlineEpochRunner(),
      onFatal: (error) => failures.push(error),
      openStore: async (folder, clock) => {
        const store = await openInlineSqliteStore({ directory: folder, clock });
        const admit = store.admit.bind(store);
        store.admit = (batches) =>
          (broken ? Promise.reject(new Error('the disk is gone')) : admit(batches));
        return store;
      },
    });
    await sendRows(aggregator, 1);
    broken = true;
    const client = await WireClient.open(aggregator.port);
    const contributor = await WireContributor.open(client, aggregator.hub.studies()[0]!.studyId);
    const ack = await contributor.send(1n, { last: true });
    expect(ack.accepted).toEqual([]);
    expect(ack.rejections).toMatchObject([{ sequence: 1n, code: 'internal', retryable: true }]);
    expect(failures).toHaveLength(1);
    await expect(aggregator.failed).rejects.toThrow('the disk is gone');
  });
});
