import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createContributor, memoryOutbox, type Contributor, type ContributorOptions,
} from '../../client/index.js';
import { createOnceContributor } from '../../client/once.js';
import { systemRuntime } from '../../client/base/defaults.js';
import { SocketChannel } from '../../client/session/socket-channel.js';
import type { VerifiedWelcome } from '../../client/session/handshake.js';
import { sealedBy } from '../../cli/conform/sealed-cases.js';
import { MeddlingProxy } from '../../cli/conform/meddling-proxy.js';
import { fromHex } from '../../src/base/bytes.js';
import { signing as asyncSigning } from '../../src/signing/async-node.js';
import { signing } from '../../src/signing/node.js';
import { signing as web } from '../../src/signing/web.js';
import { decodeClientFrame } from '../../src/wire/index.js';
import { startRig, type Rig } from '../listener/harness.js';
import { until } from '../support/until.js';
import { startRefusingProxy, type UpgradeManners } from '../support/refusing-proxy.js';
import { document } from '../support/wire-samples.js';

const open: { abort(): void }[] = [];
const proxies: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const contributor of open.splice(0)) contributor.abort();
  for (const proxy of proxies.splice(0)) await proxy.close();
  vi.restoreAllMocks();
});

function connect(url: string, options: Partial<ContributorOptions> = {}): Contributor {
  const contributor = createContributor({
    url, study: 'flight-delays', seed: signing.generateSeed(), backoffInitialMs: 2,
    backoffMaxMs: 10, encryptedOnly: true, ...options,
  });
  open.push(contributor);
  return contributor;
}

async function meddling(rig: Rig): Promise<MeddlingProxy> {
  const proxy = await MeddlingProxy.to(rig.listener.port);
  proxies.push(proxy);
  return proxy;
}

/** Rows were refused with the reason, are kept, and no byte of them was sent. */
async function expectUnsupported(rig: Rig, url: string): Promise<void> {
  const outbox = memoryOutbox();
  const keep = vi.spyOn(outbox, 'keep');
  const contributor = connect(url, { outbox });
  await expect(contributor.send([[1, 2]])).rejects.toMatchObject({
    code: 'unsupported', message: expect.stringContaining('or let rows go signed') as string,
  });
  expect(contributor.state).toMatchObject({ kind: 'ended', error: { code: 'unsupported' } });
  expect(keep).toHaveBeenCalledOnce();
  expect(rig.hub.submitted).toEqual([]);
  const forms = ['signed', 'http', 'once'];
  expect(forms.map((form) => rig.metrics.batches.total({ form }))).toEqual([0, 0, 0]);
}

describe('a contributor whose rows go encrypted only', () => {
  it('sends them on an encrypted channel', async () => {
    const rig = await startRig();
    expect((await connect(rig.url('/')).send([[1, 2]])).kind).toBe('accepted');
    expect(rig.metrics.batches.total({ form: 'encrypted' })).toBe(1);
  });

  it('ends and sends nothing, where the server or a proxy has no encrypted channels', async () => {
    const rig = await startRig();
    const proxy = await meddling(rig);
    proxy.offers = () => ['keelson.v1'];
    await expectUnsupported(rig, proxy.url);
    expect(proxy.seen.filter(({ way }) => way === 'up')).toEqual([]);
    expect(proxy.sockets).toBe(3);
  });

  it('goes on when one server of several is not upgraded, or one socket had bad luck', async () => {
    const rig = await startRig();
    const proxy = await meddling(rig);
    const contributor = connect(proxy.url);
    for (const times of [2, 2]) {
      let hidden = 0;
      proxy.offers = (names) => (hidden++ < times ? ['keelson.v1'] : names);
      proxy.cut();
      expect((await contributor.send([[1, 2]])).kind).toBe('accepted');
    }
    const kinds = proxy.seen.flatMap(({ way, message }) =>
      (way === 'up' ? [decodeClientFrame(message).kind] : []));
    expect(new Set(kinds)).toEqual(new Set(['open', 'encrypted-batch']));
  });

  it.each<UpgradeManners>(['refuse', 'cut', 'strip'])(
    'ends and sends nothing, where HTTP requests alone get through (%s)', async (manners) => {
      const rig = await startRig();
      const proxy = await startRefusingProxy(rig.listener.port, manners);
      proxies.push(proxy);
      await expectUnsupported(rig, proxy.url);
      expect(proxy.seen).toEqual({ upgrades: 3, requests: 3 });
    },
  );

  it.each([true, false])('ends and sends nothing on a page without crypto.subtle (%s)', async (
    encryptedOnly,
  ) => {
    const rig = await startRig();
    vi.spyOn(asyncSigning, 'sha256').mockImplementation(async (bytes) => {
      const { crypto } = globalThis;
      vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
      const digest = web.sha256(bytes);
      vi.unstubAllGlobals();
      return digest;
    });
    const contributor = connect(rig.url('/'), { encryptedOnly });
    const kinds: string[] = [];
    const heard = (async () => {
      for await (const { kind } of contributor.status()) kinds.push(kind);
    })();
    await expect(contributor.send([[1, 2]])).rejects.toMatchObject({
      code: 'unsupported', message: expect.stringContaining('no crypto.subtle') as string,
    });
    expect(rig.hub.submitted).toEqual([]);
    // Another connection would have none either.
    await heard;
    expect(kinds).not.toContain('reconnecting');
  });

  it('has no requests without a channel', () => {
    const options = {
      url: 'ws://127.0.0.1:1', study: 'a', seed: signing.generateSeed(), encryptedOnly: true,
    };
    expect(() => createOnceContributor(options)).toThrow('call createContributor');
  });

  it('may send entries of sealed studies, which are encrypted to three servers', async () => {
    const signers = [1, 2, 3].map(() => signing.createSigner(signing.generateSeed()));
    const sent: string[] = [];
    const channel = new SocketChannel({
      signer: signing.createSigner(signing.generateSeed()), study: 'flight-delays',
      runtime: systemRuntime, owner: {}, encryptedOnly: true, sealing: () => new Uint8Array(1),
    });
    const studyIdHex = '01'.repeat(32);
    channel.attach({
      welcome: {
        server: signers[0]!, serverNonce: new Uint8Array(32), share: null,
        studies: [{
          studyId: fromHex(studyIdHex), studyIdHex, state: 'open', epoch: 1n,
          document: { ...document, sealed: sealedBy(signers) },
        }],
      } as unknown as VerifiedWelcome,
      send: (bytes) => void sent.push(decodeClientFrame(bytes).kind),
      writable: true, whenWritable: () => undefined, drop: () => undefined,
      progress: () => undefined,
    });
    await until(() => sent.length > 0);
    expect(sent).toEqual(['hello']);
  });
});
