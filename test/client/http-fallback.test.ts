import { afterEach, describe, expect, it } from 'vitest';
import {
  createContributor, type Contributor, type ContributorOptions,
  type ContributorStatus,
} from '../../client/index.js';
import { uploadUrl } from '../../client/http/upload-url.js';
import { startRig, type Rig } from '../listener/harness.js';
import { hurried } from '../support/hurried.js';
import {
  startRefusingProxy, type RefusingProxy, type UpgradeManners,
} from '../support/refusing-proxy.js';
import { signing } from '../../src/signing/node.js';
import { until } from '../support/until.js';

const open = { contributors: [] as Contributor[], proxies: [] as RefusingProxy[] };

afterEach(async () => {
  for (const contributor of open.contributors.splice(0)) contributor.abort();
  for (const proxy of open.proxies.splice(0)) await proxy.close();
});

interface Scene {
  readonly rig: Rig;
  readonly proxy: RefusingProxy;
  readonly contributor: Contributor;
  readonly news: ContributorStatus[];
}

async function scene(
  manners: UpgradeManners, options: Partial<ContributorOptions> = {},
): Promise<Scene> {
  const rig = await startRig();
  const proxy = await startRefusingProxy(rig.listener.port, manners);
  open.proxies.push(proxy);
  const contributor = createContributor({
    url: proxy.url, study: 'flight-delays', seed: signing.generateSeed(), backoffInitialMs: 5,
    backoffMaxMs: 20, ...options,
  });
  open.contributors.push(contributor);
  const news: ContributorStatus[] = [];
  void (async () => {
    for await (const one of contributor.status()) news.push(one);
  })();
  return { rig, proxy, contributor, news };
}

const accepted = ({ rig }: Scene): number => rig.metrics.accepted.total({ study: 'flight-delays' });

describe('a contributor behind a proxy that refuses WebSockets', () => {
  it.each(['refuse', 'cut'] as const)('contributes over HTTP and says so (%s)', async (manners) => {
    const it = await scene(manners);
    expect(it.contributor.via).toBe('websocket');
    const result = await it.contributor.send([[1, 2]]);
    expect(result).toMatchObject({ kind: 'accepted', epoch: 7n, sequences: [1n] });
    expect(it.contributor.via).toBe('http');
    expect(it.news.filter(({ kind }) => kind === 'via')).toHaveLength(1);
    expect(it.news).toContainEqual(expect.objectContaining({ kind: 'via', via: 'http' }));
    const more = await Promise.all(Array.from({ length: 50 }, (_, i) =>
      it.contributor.send([[i, 2]])));
    expect(more.every(({ kind }) => kind === 'accepted')).toBe(true);
    expect(accepted(it)).toBe(51);
    const { batches } = it.rig.metrics;
    expect(['http', 'signed'].map((form) => batches.total({ form }))).toEqual([51, 0]);
    expect(it.proxy.seen.upgrades).toBe(1);
    expect(it.proxy.seen.requests).toBeLessThan(25);
    expect(await it.contributor.withdraw()).toBe(7n);
    await it.contributor.close();
    expect(it.rig.metrics.totals.sockets).toBe(0);
  });

  it('uses HTTP after an upgrade that nobody answers', async () => {
    const it = await scene('hang', { runtime: hurried((ms) => ms === 10_000) });
    expect(await it.contributor.send([[1, 2]])).toMatchObject({ kind: 'accepted' });
    expect(it.contributor.via).toBe('http');
  });

  it('counts every row once when answers are lost', async () => {
    const it = await scene('refuse');
    await it.contributor.send([[0, 2]]);
    for (let i = 1; i <= 5; i++) {
      it.proxy.losesAnswers = 1;
      expect(await it.contributor.send([[i, 2]])).toMatchObject({ sequences: [BigInt(i + 1)] });
    }
    expect(accepted(it)).toBe(6);
    expect(it.rig.metrics.duplicates.total({ study: 'flight-delays' })).toBeGreaterThan(0);
  });

  it('learns by itself that an epoch opened', async () => {
    const it = await scene('refuse');
    await it.contributor.send([[0, 2]]);
    it.rig.hub.change(it.rig.study, { epoch: 8n, closesAtMs: Date.now() + 300 });
    await it.contributor.send([[1, 2]]);
    it.rig.hub.change(it.rig.study, { epoch: 9n, closesAtMs: Date.now() + 60_000 });
    await until(() => it.contributor.state.kind === 'ready' && it.contributor.state.epoch === 9n);
  });

  it('goes back to a WebSocket when one gets through', async () => {
    const it = await scene('refuse', { runtime: hurried((ms) => ms >= 300_000) });
    await it.contributor.send([[0, 2]]);
    it.proxy.manners = 'pass';
    await until(() => it.contributor.via === 'websocket');
    expect(await it.contributor.send([[1, 2]])).toMatchObject({ kind: 'accepted' });
  });

  it('believes no answer whose server does not prove its key again', async () => {
    const it = await scene('refuse');
    await it.contributor.send([[0, 2]]);
    Object.assign(it.rig.hub, { signReady: () => new Uint8Array(64) });
    const sent = it.contributor.send([[1, 2]]);
    await expect(sent).rejects.toMatchObject({ code: 'bad-signature' });
  });
});

it('uploads below the path of the server', () => {
  expect(uploadUrl('wss://answers.example/keelson')).toBe(
    'https://answers.example/keelson/v1/batches');
  expect(uploadUrl('ws://127.0.0.1:8787/?a=b')).toBe('http://127.0.0.1:8787/v1/batches');
});
