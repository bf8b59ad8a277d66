import {
  appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createContributor, openOutbox, type Contributor, type Outbox, type OutboxBatch,
} from '../../client/index.js';
import type { ContributorStatus } from '../../client/status.js';
import { ScriptedServer } from '../../cli/conform/scripted-server.js';
import { until } from '../support/until.js';
import { contributorSeed } from '../support/wire-samples.js';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keelson-outbox-'));
  path = join(folder, 'alice.outbox');
});

afterEach(() => rmSync(folder, { recursive: true }));

const bytes = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);
const pin = { serverKey: bytes(32, 1), studyId: bytes(32, 2), contributor: bytes(32, 3) };
const batch = (sequence: bigint, size = 40): OutboxBatch => ({
  sequence, epoch: 7n, body: bytes(size, Number(sequence % 251n)), signature: bytes(64, 9),
});

/** What the next run finds. */
async function reopened(): Promise<Awaited<ReturnType<Outbox['load']>>> {
  const outbox = await openOutbox(path);
  const contents = await outbox.load();
  await outbox.close();
  return contents;
}

describe('the file outbox', () => {
  it('keeps pin, rows and signed batches, and forgets what was settled', async () => {
    const outbox = await openOutbox(path);
    expect(await outbox.load()).toEqual({ pin: null, items: [], nextSequence: 1n });
    await outbox.pin(pin);
    await Promise.all([
      outbox.keep(1, Float64Array.of(1.5, -2), true), outbox.keep(2, Float64Array.of(3, 4), false),
    ]);
    await outbox.sign(1, true, [batch(1n), batch(2n)]);
    await outbox.sign(2 ** 40, false, [batch(3n)]);
    await outbox.sign(4, false, [batch(2n ** 60n)]);
    outbox.settle(4);
    await outbox.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await reopened()).toEqual({
      pin,
      items: [
        { id: 1, last: true, values: null, batches: [batch(1n), batch(2n)] },
        { id: 2, last: false, values: Float64Array.of(3, 4), batches: [] },
        { id: 2 ** 40, last: false, values: null, batches: [batch(3n)] },
      ],
      nextSequence: 2n ** 60n + 1n,
    });
  });

  it('is on the medium when the promise resolves, not only at close', async () => {
    const outbox = await openOutbox(path);
    await outbox.sign(1, true, [batch(1n)]);
    const copy = join(folder, 'copy');
    writeFileSync(copy, readFileSync(path));
    const other = await openOutbox(copy);
    expect((await other.load()).items).toHaveLength(1);
    await other.close();
    await outbox.close();
  });

  it('tolerates a tail torn at any byte, and never invents or loses what was durable '
    + 'before', { tags: ['long'] }, async () => {
    const outbox = await openOutbox(path);
    await outbox.sign(1, false, [batch(1n)]);
    const durableBytes = statSync(path).size;
    await outbox.sign(2, false, [batch(2n)]);
    await outbox.close();
    const whole = readFileSync(path);
    for (let end = durableBytes; end < whole.length; end++) {
      writeFileSync(path, whole.subarray(0, end));
      expect((await reopened()).items.map((item) => item.id)).toEqual([1]);
      // The torn part is gone: what is written next is found again.
      expect(statSync(path).size).toBe(durableBytes);
    }
    // Space that was allocated but not written reads as zeros.
    writeFileSync(path, Buffer.concat([whole.subarray(0, durableBytes), Buffer.alloc(4096)]));
    expect((await reopened()).items.map((item) => item.id)).toEqual([1]);
  });

  it('goes on after a torn tail', async () => {
    const outbox = await openOutbox(path);
    await outbox.sign(1, false, [batch(1n)]);
    await outbox.close();
    appendFileSync(path, Buffer.from([40, 0, 0, 0, 1, 2, 3]));
    const again = await openOutbox(path);
    await again.sign(2, false, [batch(2n)]);
    await again.close();
    expect((await reopened()).items.map((item) => item.id)).toEqual([1, 2]);
  });

  it('refuses damage before the end, and files that are something else', async () => {
    const outbox = await openOutbox(path);
    await outbox.sign(1, false, [batch(1n)]);
    const at = statSync(path).size - 10;
    await outbox.sign(2, false, [batch(2n)]);
    await outbox.close();
    const damaged = readFileSync(path);
    damaged[at]! ^= 1;
    writeFileSync(path, damaged);
    await expect(openOutbox(path)).rejects
      .toMatchObject({ code: 'outbox-failed', details: { offset: 17 } });
    expect(readFileSync(path)).toEqual(damaged);
    writeFileSync(path, 'delay,distance\n1,2\n3,4\n');
    await expect(openOutbox(path)).rejects.toThrow(/not an outbox/);
    expect(readFileSync(path, 'utf8')).toBe('delay,distance\n1,2\n3,4\n');
    await expect(openOutbox(join(folder, 'missing', 'x'))).rejects
      .toMatchObject({ code: 'outbox-failed' });
  });

  it('has one writer', async () => {
    const outbox = await openOutbox(path);
    await expect(openOutbox(join(folder, '.', 'alice.outbox'))).rejects
      .toThrow(/another contributor uses the outbox/);
    await outbox.close();
    await (await openOutbox(path)).close();
  });

  it('is rewritten when most of it is settled', async () => {
    const outbox = await openOutbox(path);
    await outbox.pin(pin);
    await outbox.sign(1, false, [batch(1n)]);
    for (let id = 2; id < 12; id++) {
      await outbox.sign(id, false, [batch(BigInt(id), 100_000)]);
      outbox.settle(id);
    }
    await outbox.close();
    expect(statSync(path).size).toBeLessThan(400_000);
    const { pin: kept, items } = await reopened();
    expect(kept).toEqual(pin);
    expect(items).toEqual([{ id: 1, last: false, values: null, batches: [batch(1n)] }]);
  });

  it('keeps no row in the file once all are settled', async () => {
    const outbox = await openOutbox(path);
    const holds = (bytes: Uint8Array): boolean => readFileSync(path).includes(Buffer.from(bytes));
    await outbox.pin(pin);
    const values = Float64Array.of(1234.5, -987.25);
    const rows = new Uint8Array(values.buffer.slice(0));
    await outbox.keep(1, values, true);
    expect(holds(rows)).toBe(true);
    await outbox.sign(1, true, [{ ...batch(1n), body: rows }]);
    outbox.settle(1);
    await until(() => !holds(rows));
    expect((await outbox.load()).pin).toEqual(pin);
    await outbox.keep(2, values, true);
    outbox.settle(2);
    await outbox.close();
    expect(holds(rows)).toBe(false);
    expect(await reopened()).toEqual({ pin, items: [], nextSequence: 2n });
  });

  it('starts over when not even its first bytes were written', async () => {
    await (await openOutbox(path)).close();
    truncateSync(path, 5);
    expect(await reopened()).toEqual({ pin: null, items: [], nextSequence: 1n });
  });
});

describe('a contributor with an outbox', () => {
  let server: ScriptedServer;
  let contributor: Contributor | undefined;

  beforeEach(async () => { server = await ScriptedServer.start(); });
  afterEach(async () => {
    contributor?.abort();
    await contributor?.close();
    await server.crash();
  });

  async function connect(seed = contributorSeed): Promise<Contributor> {
    const outbox = await openOutbox(path);
    contributor = createContributor({
      url: server.url, study: 'flight-delays', seed, outbox, backoffInitialMs: 5, backoffMaxMs: 20,
    });
    return contributor;
  }

  it('sends the same bytes in the next run, and what was never signed as well', async () => {
    server.deaf = true;
    server.credit = 1;
    const first = await connect();
    const sent = [first.send([[1, 10]]), first.send([[2, 20]])];
    await until(() => server.offered.length === 1);
    first.abort();
    await Promise.all(sent.map((one) => expect(one).rejects.toMatchObject({ code: 'closed' })));
    await first.close();
    expect((await reopened()).items.map((item) => item.values === null)).toEqual([true, false]);

    server.deaf = false;
    server.openEpoch(8n);
    const second = await connect();
    const statuses: ContributorStatus[] = [];
    const reading =
      (async () => { for await (const status of second.status()) statuses.push(status); })();
    await second.close();
    await reading;
    const taken = server.taken.map((batch) => [batch.sequence, batch.epoch, batch.values[0]]);
    expect(taken).toEqual([[1n, 7n, 1], [2n, 8n, 2]]);
    expect(server.offered[1]).toBe(server.offered[0]);
    expect(statuses.filter((status) => status.kind === 'recovered')).toHaveLength(2);
    expect((await reopened()).items).toEqual([]);
  });

  it('does not count rows twice whose ack the first run missed', async () => {
    server.mute = true;
    const first = await connect();
    const sent = first.contribute([[1, 10]]);
    await until(() => server.taken.length === 1);
    first.abort();
    await expect(sent).rejects.toMatchObject({ code: 'closed' });
    await first.close();
    server.mute = false;
    await (await connect()).close();
    expect(server.taken).toHaveLength(1);
    expect((await reopened()).items).toEqual([]);
  });

  it('keeps the server key of the first use, and belongs to one key', async () => {
    await (await connect()).contribute([[1, 10]]);
    await contributor!.close();
    const stranger = await connect(bytes(32, 77));
    await expect(stranger.send([[1, 2]])).rejects.toThrow(/another key/);
    await stranger.close();
    const { port } = server;
    await server.crash();
    server = await ScriptedServer.start(
      {}, (await import('../../src/signing/node.js')).signing.createSigner(bytes(32, 5)),
    );
    await server.crash();
    server.port = port;
    await server.listen();
    await expect((await connect()).send([[1, 2]])).rejects
      .toMatchObject({ code: 'server-key-mismatch' });
    expect(server.offered).toEqual([]);
  });

  it('stores the width of unsent rows, and reports when they do not fit the study', async () => {
    await server.crash();
    const first = await connect();
    const sent = first.send([[1, 2, 3], [4, 5, 6]]);
    sent.catch(() => undefined);
    await until(() => statSync(path).size > 80);
    first.abort();
    await expect(sent).rejects.toMatchObject({ code: 'closed' });
    await first.close();
    await server.listen();
    const next = await connect();
    const told: ContributorStatus[] = [];
    void (async () => { for await (const status of next.status()) told.push(status); })();
    await until(() => told.some(({ kind }) => kind === 'recovered'));
    expect(told).toContainEqual(expect.objectContaining({
      kind: 'recovered', result: expect.objectContaining({
        kind: 'refused', error: expect.objectContaining({ code: 'wrong-columns' }) as unknown,
      }) as unknown,
    }));
    await next.close();
    expect(server.offered).toEqual([]);
    expect((await reopened()).items).toEqual([]);
  });

  it('offers a batch only after the outbox holds it', async () => {
    const real = await openOutbox(path);
    let offeredBefore = -1;
    const slow: Outbox = {
      ...delegate(real),
      async sign(id, last, batches) {
        await until(() => server.connected === 1);
        await server.roundTrip();
        offeredBefore = server.offered.length;
        await real.sign(id, last, batches);
      },
    };
    contributor = createContributor({
      url: server.url, study: 'flight-delays', seed: contributorSeed, outbox: slow,
    });
    expect((await contributor.contribute([[1, 2]])).kind).toBe('accepted');
    expect(offeredBefore).toBe(0);
  });

  it('ends when the outbox fails, and offers nothing', async () => {
    const real = await openOutbox(path);
    const failing: Outbox = {
      ...delegate(real),
      sign: () => Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' })),
    };
    const { url } = server;
    contributor =
      createContributor({ url, study: 'flight-delays', seed: contributorSeed, outbox: failing });
    await expect(contributor.send([[1, 2]])).rejects.toThrow();
    expect(server.offered).toEqual([]);
  });
});

function delegate(outbox: Outbox): Outbox {
  return {
    load: () => outbox.load(),
    pin: (value) => outbox.pin(value),
    keep: (id, values, last, columns) => outbox.keep(id, values, last, columns),
    sign: (id, last, batches) => outbox.sign(id, last, batches),
    settle: (id) => outbox.settle(id),
    close: () => outbox.close(),
  };
}
