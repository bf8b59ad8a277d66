import 'fake-indexeddb/auto';
import { IDBFactory } from 'fake-indexeddb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createContributor, type Contributor, type OutboxBatch } from '../../client/index.js';
import { openOutbox, openSeed } from '../../client/outbox/browser.js';
import type { ContributorStatus } from '../../client/status.js';
import { ScriptedServer } from '../../cli/conform/scripted-server.js';
import { until } from '../support/until.js';
import { contributorSeed } from '../support/wire-samples.js';

/** The Web Locks of one browser: exclusive, and given back when the callback's promise ends. */
class FakeLocks {
  private readonly held = new Set<string>();

  async request(name: string, _: object, use: (lock: object | null) => unknown): Promise<unknown> {
    if (this.held.has(name)) return use(null);
    this.held.add(name);
    try {
      return await use({ name });
    } finally {
      this.held.delete(name);
    }
  }
}

beforeEach(() => {
  vi.stubGlobal('indexedDB', new IDBFactory());
  vi.stubGlobal('navigator', { locks: new FakeLocks() });
});
afterEach(() => vi.unstubAllGlobals());

const bytes = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);
const pin = { serverKey: bytes(32, 1), studyId: bytes(32, 2), contributor: bytes(32, 3) };
const batch = (sequence: bigint): OutboxBatch => ({
  sequence, epoch: 7n, body: bytes(40, Number(sequence % 251n)), signature: bytes(64, 9),
});

describe('the outbox of a browser', () => {
  it('keeps pin, rows and signed batches for the next page, and forgets what was '
    + 'settled', async () => {
    const outbox = await openOutbox('alice');
    expect(await outbox.load()).toEqual({ pin: null, items: [], nextSequence: 1n });
    await outbox.pin(pin);
    await Promise.all([
      outbox.keep(3, Float64Array.of(5, 6), false, 2),
      outbox.keep(1, Float64Array.of(1.5, -2), true),
      outbox.keep(2, Float64Array.of(3), false),
    ]);
    await outbox.sign(1, true, [batch(1n), batch(2n ** 60n)]);
    outbox.settle(2);
    await outbox.close();
    const again = await openOutbox('alice');
    expect(await again.load()).toEqual({
      pin,
      items: [
        { id: 1, last: true, values: null, batches: [batch(1n), batch(2n ** 60n)] },
        { id: 3, last: false, values: Float64Array.of(5, 6), columns: 2, batches: [] },
      ],
      nextSequence: 2n ** 60n + 1n,
    });
    await again.close();
    const other = await openOutbox('bob');
    expect(await other.load()).toEqual({ pin: null, items: [], nextSequence: 1n });
    await other.close();
  });

  it('has one writer, until it is closed', async () => {
    const outbox = await openOutbox('alice');
    await expect(openOutbox('alice')).rejects.toThrow(/another page uses the outbox alice/);
    await outbox.close();
    await expect(outbox.keep(1, Float64Array.of(1), true)).rejects
      .toMatchObject({ code: 'closed' });
    await (await openOutbox('alice')).close();
  });

  it('reports a browser that stores nothing', async () => {
    vi.stubGlobal('indexedDB', { open: () => { throw new Error('denied'); } });
    await expect(openOutbox('alice')).rejects.toMatchObject({ code: 'outbox-failed' });
    await expect(openSeed('alice')).rejects.toMatchObject({ code: 'outbox-failed' });
    vi.stubGlobal('navigator', {});
    await expect(openOutbox('alice')).rejects.toThrow(/Web Locks/);
  });

  it('sends after the page was closed between signing and the ack: once', async () => {
    const server = await ScriptedServer.start();
    const open = async (): Promise<Contributor> => createContributor({
      url: server.url, study: 'flight-delays', seed: contributorSeed,
      outbox: await openOutbox('alice'),
    });
    server.mute = true;
    const first = await open();
    first.contribute([[1, 2]]).catch(() => undefined);
    await until(() => server.taken.length === 1);
    // The page goes away: nothing is said or cleaned up but the lock, which the browser gives back.
    first.abort();
    await first.close();
    server.mute = false;
    const told: ContributorStatus[] = [];
    const second = await open();
    void (async () => { for await (const status of second.status()) told.push(status); })();
    await until(() => told.some(({ kind }) => kind === 'recovered'));
    await second.close();
    expect(server.taken).toHaveLength(1);
    await server.crash();
  });

  it('keeps one seed per location', async () => {
    const [one, two] = await Promise.all([openSeed('alice'), openSeed('alice')]);
    expect(one).toEqual(two);
    expect(one).toHaveLength(32);
    expect(await openSeed('alice')).toEqual(one);
    expect(await openSeed('bob')).not.toEqual(one);
  });
});
