import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { subscribe, type SubscribeOptions, type VerifiedRelease } from '../../client/index.js';
import { signing } from '../../src/signing/node.js';
import { scriptedHead, scriptedRelease } from '../../cli/conform/scripted-releases.js';
import { ScriptedServer } from '../../cli/conform/scripted-server.js';
import { until } from '../support/until.js';

let server: ScriptedServer;
beforeEach(async () => { server = await ScriptedServer.start(); });
afterEach(() => server.crash());

const follow = (options: Partial<SubscribeOptions> = {}) =>
  subscribe({
    url: server.url, study: 'flight-delays', backoffInitialMs: 5, backoffMaxMs: 20, endGraceMs: 20,
    ...options,
  });

/** Reads in the background. */
function collect(subscription: AsyncIterable<VerifiedRelease>) {
  const indexes: number[] = [];
  const done = (async () => {
    for await (const item of subscription) indexes.push(Number(item.release.index));
  })();
  done.catch(() => undefined);
  return { indexes, done };
}

describe('a subscription', () => {
  it('yields stored and new releases, across a restart, and ends with the study\'s '
    + 'head', async () => {
    server.publish();
    server.publish();
    const subscription = follow();
    const { indexes, done } = collect(subscription);
    await until(() => indexes.length === 2);
    server.publish();
    await until(() => indexes.length === 3);
    await server.crash();
    server.publish();
    await server.listen();
    await until(() => indexes.length === 4);
    expect(server.subscriptions).toEqual([0n, 3n]);
    server.stop('exhausted');
    server.publish();
    server.broadcast(scriptedHead(server, server.releases.length));
    await done;
    expect(indexes).toEqual([0, 1, 2, 3, 4]);
    expect(subscription.head).toMatchObject({ count: 5n, state: 'exhausted' });
  });

  it('reports connections, the state of the study, and heads that agree', async () => {
    server.publish();
    const told: unknown[] = [];
    const subscription = follow();
    subscription.onConnected(() => told.push('connected'));
    subscription.onReconnecting(() => told.push('lost'));
    subscription.onNews((news) => told.push(news));
    subscription.onHead(({ count }) => told.push(count));
    const { done } = collect(subscription);
    await until(() => told.includes(1n));
    server.openEpoch(8n, 1_500);
    server.openEpoch(9n, 0);
    await until(() => told.length === 5);
    await server.crash();
    await server.listen();
    await until(() => told.filter((item) => item === 1n).length === 2);
    server.stop('ended');
    await done;
    const open = { state: 'open', closesInMs: null };
    const [epoch7, epoch9] = [{ ...open, epoch: 7n }, { ...open, epoch: 9n }];
    expect(told).toEqual([
      'connected', epoch7, 1n, { ...open, epoch: 8n, closesInMs: 1_500 }, epoch9,
      'lost', 'connected', epoch9, 1n, { state: 'ended', epoch: 0n, closesInMs: null }, 1n,
    ]);
  });

  it('gives the decoded release with its signed bytes and the study', async () => {
    const signed = server.publish();
    for await (const item of follow()) {
      expect(item.release).toMatchObject({
        index: 0n, epoch: 7n, answers: [{ outcome: { kind: 'value', estimate: [8.25, 731.5] } }],
      });
      expect(item.signed).toEqual(signed);
      expect(item.document).toEqual(server.document);
      break;
    }
  });

  it('requests skipped releases again', async () => {
    server.skipOnce = true;
    for (let i = 0; i < 4; i++) server.publish();
    const { indexes } = collect(follow());
    await until(() => indexes.length === 4);
    expect(indexes).toEqual([0, 1, 2, 3]);
    expect(server.subscriptions).toEqual([0n, 0n]);
  });

  it('loses nothing when the reader is slow', async () => {
    for (let i = 0; i < 300; i++) server.publish();
    const iterator = follow()[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toMatchObject({ release: { index: 0n } });
    // Full: it leaves, and comes back when the reader has caught up.
    await until(() => server.connected === 0);
    for (let i = 1; i < 300; i++) {
      expect((await iterator.next()).value).toMatchObject({ release: { index: BigInt(i) } });
    }
    await iterator.return?.(undefined);
    expect(server.subscriptions).toEqual([0n, 257n]);
  });

  it('begins at the requested index', async () => {
    for (let i = 0; i < 3; i++) server.publish();
    const { indexes } =
      collect(follow({ from: 2n, previousDigest: signing.sha512(server.releases[1]!.body) }));
    await until(() => indexes.length === 1);
    expect(indexes).toEqual([2]);
  });

  it('ends by its signal', async () => {
    const abort = new AbortController();
    const { done } = collect(follow({ signal: abort.signal }));
    await until(() => server.subscriptions.length === 1);
    abort.abort();
    await done;
  });
});

describe('a subscription that cannot verify', () => {
  interface Break {
    readonly tamper: () => void;
    readonly fault: string;
    readonly index: bigint;
  }
  const breaks: Readonly<Record<string, Break>> = {
    'a broken chain': {
      tamper: () => { server.publish(); server.publish(new Uint8Array(64).fill(1)); },
      fault: 'digest-mismatch',
      index: 1n,
    },
    'a signature by another key': {
      tamper: () => {
        const release = server.publish();
        server.releases[0] = { ...release, signature: new Uint8Array(64).fill(1) };
      },
      fault: 'signature-invalid',
      index: 0n,
    },
    'a release that is never sent': {
      tamper: () => { server.publish(); server.publish(); server.releases.shift(); },
      fault: 'index-mismatch',
      index: 0n,
    },
    'a changed byte': {
      tamper: () => {
        server.publish();
        const release = server.publish();
        const body = release.body.slice();
        body[60]! ^= 1;
        server.releases[1] = { ...release, body };
      },
      fault: 'signature-invalid',
      index: 1n,
    },
  };

  for (const [name, { tamper, fault, index }] of Object.entries(breaks)) {
    it(`stops at ${name}, and names the index`, async () => {
      tamper();
      const { done } = collect(follow());
      await expect(done).rejects
        .toMatchObject({ code: 'log-invalid', fault, details: { expected: index } });
    });
  }

  it('notices a log that was shortened while it was away', async () => {
    for (let i = 0; i < 3; i++) server.publish();
    const { indexes, done } = collect(follow());
    await until(() => indexes.length === 3);
    await server.crash();
    server.releases.pop();
    await server.listen();
    await expect(done).rejects.toMatchObject({ code: 'log-invalid', fault: 'head-mismatch' });
  });

  it('notices a chain that was rewritten while it was away', async () => {
    for (let i = 0; i < 2; i++) server.publish();
    const { indexes, done } = collect(follow());
    await until(() => indexes.length === 2);
    await server.crash();
    server.releases[1] = scriptedRelease(server, 1n, new Uint8Array(64).fill(3));
    server.releases.push(scriptedRelease(server, 2n));
    await server.listen();
    await expect(done).rejects
      .toMatchObject({ fault: 'digest-mismatch', details: { expected: 2n } });
  });

  it('refuses another server, and a study that does not exist', async () => {
    const serverKey = signing.createSigner(signing.generateSeed()).publicKey;
    await expect(collect(follow({ serverKey })).done).rejects
      .toMatchObject({ code: 'server-key-mismatch' });
    await expect(collect(follow({ study: 'other' })).done).rejects
      .toMatchObject({ code: 'unknown-study' });
    expect(() => follow({ url: 'x' })).toThrow(/URL/);
  });
});
