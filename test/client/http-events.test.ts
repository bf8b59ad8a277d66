import { afterEach, describe, expect, it } from 'vitest';
import {
  subscribe, type ReleaseSubscription, type SubscribeOptions,
  type VerifiedRelease,
} from '../../client/index.js';
import { signing } from '../../src/signing/node.js';
import { startRig, type Rig } from '../listener/harness.js';
import { hurried } from '../support/hurried.js';
import {
  startRefusingProxy, type RefusingProxy, type UpgradeManners,
} from '../support/refusing-proxy.js';
import { until } from '../support/until.js';

const open = { aborters: [] as AbortController[], proxies: [] as RefusingProxy[] };

afterEach(async () => {
  for (const aborter of open.aborters.splice(0)) aborter.abort();
  for (const proxy of open.proxies.splice(0)) await proxy.close();
});

interface Scene {
  readonly rig: Rig;
  readonly proxy: RefusingProxy;
  readonly subscription: ReleaseSubscription;
  readonly found: VerifiedRelease[];
  readonly vias: string[];
  readonly lost: string[];
  readonly ended: Promise<unknown>;
}

async function scene(
  options: Partial<SubscribeOptions> = {}, stored = 0, manners: UpgradeManners = 'refuse',
): Promise<Scene> {
  const rig = await startRig({ limits: { releasesPerPage: 3 } });
  for (let i = 0; i < stored; i++) rig.hub.publish(rig.study);
  const proxy = await startRefusingProxy(rig.listener.port, manners);
  open.proxies.push(proxy);
  const aborter = new AbortController();
  open.aborters.push(aborter);
  const subscription = subscribe({
    url: proxy.url, study: 'flight-delays', backoffInitialMs: 5, backoffMaxMs: 20, endGraceMs: 20,
    signal: aborter.signal, ...options,
  });
  const [found, vias, lost] = [[] as VerifiedRelease[], [] as string[], [] as string[]];
  subscription.onVia((via) => { vias.push(via); });
  subscription.onReconnecting((reason) => { lost.push(reason); });
  const ended = (async () => {
    for await (const one of subscription) found.push(one);
    return 'end';
  })().catch((error: unknown) => error);
  return { rig, proxy, subscription, found, vias, lost, ended };
}

const indexes = ({ found }: Scene): number[] => found.map(({ release }) => Number(release.index));
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe('a subscription behind a proxy that refuses WebSockets', () => {
  it('gets stored releases and new ones as events, and says so', async () => {
    const it = await scene({}, 7);
    await until(() => it.subscription.head?.count === 7n);
    expect([it.subscription.via, it.vias]).toEqual(['http', ['http']]);
    it.rig.hub.publish(it.rig.study);
    await until(() => it.found.length === 8);
    expect(indexes(it)).toEqual(upTo(8));
    it.rig.hub.change(it.rig.study, { state: 'ended', epoch: 0n });
    it.rig.hub.emit({ kind: 'study-stopped', studyId: it.rig.study, state: 'ended' });
    expect(await it.ended).toBe('end');
    expect(it.subscription.head).toMatchObject({ count: 8n, state: 'ended' });
    // Begin, and the stream. One upgrade was tried.
    expect(it.proxy.seen).toEqual({ upgrades: 1, requests: 2 });
  });

  it('hears of the study as over a WebSocket', async () => {
    const it = await scene();
    const news: bigint[] = [];
    it.subscription.onNews(({ epoch }) => { news.push(epoch); });
    await until(() => it.subscription.head !== null);
    it.rig.hub.change(it.rig.study, { epoch: 8n, closesAtMs: 0 });
    it.rig.hub.emit({
      kind: 'epoch-opened', studyId: it.rig.study, epoch: 8n, closesAtMs: 0,
    });
    await until(() => news.includes(8n));
    expect(news[0]).toBe(7n);
  });

  it('goes on after each cut, with each release once', async () => {
    const it = await scene({}, 4);
    for (let count = 4; count < 9; count++) {
      await until(() => it.found.length === count && it.subscription.head !== null);
      it.proxy.cut();
      it.rig.hub.publish(it.rig.study);
    }
    await until(() => it.found.length === 9);
    expect(indexes(it)).toEqual(upTo(9));
    expect(it.lost.length).toBeGreaterThanOrEqual(5);
    expect(it.vias).toEqual(['http']);
  });

  it('believes no release of another signer', async () => {
    const it = await scene({}, 1);
    await until(() => it.found.length === 1);
    Object.assign(it.rig.hub, { signer: signing.createSigner(signing.generateSeed()) });
    it.rig.hub.publish(it.rig.study);
    expect(await it.ended).toMatchObject({ code: 'log-invalid' });
    expect(indexes(it)).toEqual([0]);
  });

  it('believes no other server than the pinned one', async () => {
    const serverKey = signing.createSigner(signing.generateSeed()).publicKey;
    const it = await scene({ serverKey }, 1);
    expect(await it.ended).toMatchObject({ code: 'server-key-mismatch' });
    expect(it.found).toEqual([]);
  });

  it('connects again when the stream brings nothing, not even a comment', async () => {
    const it = await scene({ runtime: hurried((ms) => ms === 60_000) }, 1);
    await until(() => it.found.length === 1
      && it.lost.some((reason) => reason.startsWith('no events within')));
    expect(indexes(it)).toEqual([0]);
  });

  it('goes back to a WebSocket when one gets through', async () => {
    const it = await scene({ runtime: hurried((ms) => ms >= 300_000) }, 2);
    await until(() => it.found.length === 2);
    it.proxy.manners = 'pass';
    await until(() => it.subscription.via === 'websocket');
    it.rig.hub.publish(it.rig.study);
    await until(() => it.found.length === 3);
    expect(indexes(it)).toEqual(upTo(3));
    expect(it.vias).toEqual(['http', 'websocket']);
  });
});
