import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createContributor, type Contributor, type ContributorStatus,
} from '../../client/index.js';
import {
  createOnceContributor, openOutbox, type OnceContributor, type OnceContributorOptions,
} from '../../client/once.js';
import type { SubmitResult } from '../../server/studies/contract.js';
import { signing } from '../../src/signing/node.js';
import { startRig, type Rig } from '../listener/harness.js';
import { hurried } from '../support/hurried.js';
import { startRefusingProxy, type RefusingProxy } from '../support/refusing-proxy.js';
import { until } from '../support/until.js';

const open = {
  contributors: [] as { abort(): void }[], proxies: [] as RefusingProxy[], servers: [] as Server[],
  folders: [] as string[],
};

afterEach(async () => {
  for (const contributor of open.contributors.splice(0)) contributor.abort();
  for (const proxy of open.proxies.splice(0)) await proxy.close();
  for (const server of open.servers.splice(0)) server.close().closeAllConnections();
  // An outbox that was told to abort may still remove its lock.
  for (const folder of open.folders.splice(0)) rmSync(folder, { recursive: true, maxRetries: 5 });
});

interface Scene {
  readonly rig: Rig;
  readonly proxy: RefusingProxy;
  readonly contributor: OnceContributor;
  readonly news: ContributorStatus[];
}

/** A clock on which waits of about a second are short. */
const runtime = hurried((ms) => ms >= 500 && ms < 5_000);

function connect(
  rig: Rig, options: Partial<OnceContributorOptions> = {},
): Pick<Scene, 'contributor' | 'news'> {
  const contributor = createOnceContributor({
    url: rig.listener.address.replace('http', 'ws'), study: rig.study,
    seed: signing.generateSeed(), backoffInitialMs: 5, backoffMaxMs: 20, runtime,
    ...options,
  });
  open.contributors.push(contributor);
  const news: ContributorStatus[] = [];
  void (async () => {
    for await (const one of contributor.status()) news.push(one);
  })();
  return { contributor, news };
}

/** A contributor whose requests are counted on their way. */
async function scene(options: Partial<OnceContributorOptions> = {}): Promise<Scene> {
  const rig = await startRig();
  const proxy = await startRefusingProxy(rig.listener.port);
  open.proxies.push(proxy);
  return { rig, proxy, ...connect(rig, { url: proxy.url, ...options }) };
}

function outboxPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-once-'));
  open.folders.push(folder);
  return join(folder, 'outbox');
}

const accepted = ({ metrics }: Rig): number => metrics.accepted.total({ study: 'flight-delays' });

/** Settles each sequence once, and takes only batches of the open epoch. */
function judgeEpochs({ hub, study }: Rig): void {
  const submit = hub.submit.bind(hub);
  const settled = new Map<bigint, SubmitResult>();
  Object.assign(hub, {
    submit: async (batch: Parameters<typeof submit>[0]): Promise<SubmitResult> => {
      const before = settled.get(batch.sequence);
      if (before !== undefined) return before;
      const result: SubmitResult = batch.epoch < hub.study(study)!.epoch
        || hub.study(study)!.epoch === 0n
        ? { verdict: 'rejected', code: 'stale-epoch' } : await submit(batch);
      settled.set(batch.sequence, result);
      return result;
    },
  });
}

describe('a contributor without a channel', () => {
  it('takes one answer of a cache and one request of the server', async () => {
    const { rig, proxy, contributor } = await scene();
    const sent = await contributor.contribute([[1, 2]]);
    expect(sent).toMatchObject({ kind: 'accepted', epoch: 7n, sequences: [1n] });
    expect(proxy.seen).toEqual({ upgrades: 0, requests: 2 });
    expect(accepted(rig)).toBe(1);
    expect(rig.metrics.totals.sockets).toBe(0);
    expect((await contributor.study()).study).toBe('flight-delays');
    await contributor.close();
  });

  it('finds a study by its name', async () => {
    const { contributor } = await scene({ study: 'flight-delays' });
    expect(await contributor.contribute([[1, 2]])).toMatchObject({ kind: 'accepted' });
  });

  it('says which studies there are', async () => {
    for (const study of ['flights', 'ab'.repeat(32)]) {
      const { contributor } = await scene({ study });
      await expect(contributor.contribute([[1, 2]])).rejects.toMatchObject({
        code: 'unknown-study', message: expect.stringContaining('flight-delays') as string,
      });
    }
  });

  it('counts every row once when answers are lost', async () => {
    const { rig, proxy, contributor } = await scene();
    await contributor.send([[0, 2]]);
    for (let i = 1; i <= 3; i++) {
      proxy.losesAnswers = 1;
      expect(await contributor.send([[i, 2]])).toMatchObject({ sequences: [BigInt(i + 1)] });
    }
    expect(accepted(rig)).toBe(4);
    expect(rig.metrics.duplicates.total({ study: 'flight-delays' })).toBe(3);
  });

  it('comes again when the server is busy, and not before it said', async () => {
    const { rig, contributor, news } = await scene();
    await contributor.send([[1, 2]]);
    rig.hub.overload = true;
    const sent = contributor.send([[3, 4]]);
    await until(() => news.some((one) => one.kind === 'reconnecting'));
    expect(news).toContainEqual(expect.objectContaining({
      kind: 'reconnecting', reason: expect.stringContaining('503') as string,
    }));
    rig.hub.overload = false;
    expect(await sent).toMatchObject({ kind: 'accepted', sequences: [2n] });
  });

  it('hears why nothing of it counts in one word', async () => {
    const { rig, contributor } = await scene();
    Object.assign(rig.hub, {
      submit: async () => ({ verdict: 'rejected', code: 'contribution-full' }),
    });
    expect(await contributor.contribute([[1, 2]]))
      .toMatchObject({ kind: 'refused', error: { code: 'not-counted' }, sequences: [1n] });
  });

  it('ends where a study is sealed, or the server knows nothing of it', async () => {
    const { rig, contributor } = await scene({ serverKey: new Uint8Array(32).fill(9) });
    await expect(contributor.contribute([[1, 2]]))
      .rejects.toMatchObject({ code: 'server-key-mismatch' });
    const older = createServer((asked, answer) => {
      if (asked.url === '/v1/once') return void answer.writeHead(404).end();
      void fetch(`${rig.listener.address}${asked.url}`).then(async (came) => {
        answer.writeHead(came.status).end(Buffer.from(await came.arrayBuffer()));
      });
    });
    open.servers.push(older);
    await new Promise<void>((resolve) => { older.listen(0, '127.0.0.1', resolve); });
    const url = `ws://127.0.0.1:${(older.address() as AddressInfo).port}`;
    await expect(connect(rig, { url }).contributor.contribute([[1, 2]])).rejects.toMatchObject({
      code: 'unsupported', message: expect.stringContaining('/v1/once') as string,
    });
  });

  it('takes back nothing, and says what does', async () => {
    const { contributor } = await scene();
    await expect((contributor as Contributor).withdraw()).rejects.toMatchObject({
      code: 'unsupported', message: expect.stringContaining('createContributor') as string,
    });
  });
});

describe('its epoch', () => {
  it('may have closed: the rows go to the next one under the next sequence', async () => {
    const { rig, contributor } = await scene();
    judgeEpochs(rig);
    await contributor.study();
    rig.hub.change(rig.study, { epoch: 8n });
    expect(await contributor.contribute([[1, 2]]))
      .toMatchObject({ kind: 'accepted', epoch: 8n, sequences: [2n] });
    expect(rig.hub.submitted).toHaveLength(1);
  });

  it('may have closed before the next one opens', async () => {
    const { rig, contributor, news } = await scene();
    judgeEpochs(rig);
    await contributor.study();
    rig.hub.change(rig.study, { epoch: 0n });
    const sent = contributor.contribute([[1, 2]]);
    await until(() => news.some((one) => one.kind === 'put-off'));
    rig.hub.change(rig.study, { epoch: 8n });
    expect(await sent).toMatchObject({ kind: 'accepted', epoch: 8n, sequences: [2n] });
  });

  it('is waited for', async () => {
    const { rig, contributor, news } = await scene();
    rig.hub.change(rig.study, { epoch: 0n });
    const sent = contributor.contribute([[1, 2]]);
    await until(() => news.some((one) => one.kind === 'kept'));
    rig.hub.change(rig.study, { epoch: 8n });
    expect(await sent).toMatchObject({ kind: 'accepted', epoch: 8n, sequences: [1n] });
  });

  it('never opens again once the study has ended', async () => {
    const { rig, contributor, news } = await scene();
    rig.hub.change(rig.study, { epoch: 0n });
    const sent = contributor.contribute([[1, 2]]);
    await until(() => news.some((one) => one.kind === 'kept'));
    rig.hub.change(rig.study, { state: 'ended' });
    expect(await sent).toMatchObject({ kind: 'refused', error: { code: 'study-ended' } });
  });
});

describe('its outbox', () => {
  it('knows the next sequence in a later run, as in one with a channel', async () => {
    const rig = await startRig();
    const seed = signing.generateSeed();
    const path = outboxPath();
    for (const sequence of [1n, 2n]) {
      const { contributor } = connect(rig, { seed, outbox: await openOutbox(path) });
      expect(await contributor.contribute([[1, 2]])).toMatchObject({ sequences: [sequence] });
      await contributor.close();
    }
    const channel = createContributor({
      url: rig.listener.address.replace('http', 'ws'), study: rig.study, seed,
      outbox: await openOutbox(path),
    });
    open.contributors.push(channel);
    expect(await channel.contribute([[1, 2]])).toMatchObject({ sequences: [3n] });
    await channel.close();
    const { contributor } = connect(rig, { seed, outbox: await openOutbox(path) });
    expect(await contributor.contribute([[1, 2]])).toMatchObject({ sequences: [4n] });
  });

  it('that is gone lets the key begin anew: equal rows count once, others come after', async () => {
    const rig = await startRig();
    const seed = signing.generateSeed();
    const counted: number[] = [];
    for (const [value, sequence] of [[1, 1n], [1, 1n], [9, 2n]] as const) {
      const { contributor } = connect(rig, { seed });
      expect(await contributor.contribute([[value, 2]]))
        .toMatchObject({ kind: 'accepted', sequences: [sequence] });
      await contributor.close();
      counted.push(accepted(rig));
    }
    expect(counted).toEqual([1, 1, 2]);
  });

  it('brings what an earlier run sent without an answer, byte for byte', async () => {
    const { rig, proxy, contributor, news } = await scene();
    const seed = signing.generateSeed();
    const path = outboxPath();
    contributor.abort();
    const first = connect(rig, { url: proxy.url, seed, outbox: await openOutbox(path) });
    await first.contributor.study();
    proxy.losesAnswers = Infinity;
    const sent = first.contributor.contribute([[1, 2]]);
    await until(() => accepted(rig) === 1);
    first.contributor.abort();
    await expect(sent).rejects.toMatchObject({ code: 'closed' });
    await first.contributor.close();
    proxy.losesAnswers = 0;
    const second = connect(rig, { seed, outbox: await openOutbox(path) });
    expect(await second.contributor.contribute([[5, 6]])).toMatchObject({ sequences: [2n] });
    expect(second.news).toContainEqual(expect.objectContaining({
      kind: 'recovered', result: expect.objectContaining({ sequences: [1n] }) as object,
    }));
    expect(accepted(rig)).toBe(2);
    expect(news).not.toContainEqual(expect.objectContaining({ kind: 'recovered' }));
  });
});
