import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createContributor, memoryOutbox, publicKeyOf, type Contributor, type ContributorOptions,
} from '../../client/index.js';
import type { ContributorStatus } from '../../client/status.js';
import { toHex } from '../../src/base/bytes.js';
import { signing } from '../../src/signing/node.js';
import { ScriptedServer } from '../../cli/conform/scripted-server.js';
import { until } from '../support/until.js';
import { contributorSeed } from '../support/wire-samples.js';

const open = { contributors: [] as Contributor[], servers: [] as ScriptedServer[] };

afterEach(async () => {
  for (const contributor of open.contributors.splice(0)) contributor.abort();
  for (const server of open.servers.splice(0)) await server.crash();
});

async function startServer(
  document: Parameters<typeof ScriptedServer.start>[0] = {},
): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(document);
  open.servers.push(server);
  return server;
}

function connect(server: ScriptedServer, options: Partial<ContributorOptions> = {}): Contributor {
  const contributor = createContributor({
    url: server.url, study: 'flight-delays', seed: contributorSeed, backoffInitialMs: 5,
    backoffMaxMs: 20, ...options,
  });
  open.contributors.push(contributor);
  return contributor;
}

/** Rows that can be told apart: the first value counts. */
const row = (i: number): number[][] => [[i, 100]];
const firsts = (server: ScriptedServer): number[] =>
  server.taken.map((batch) => batch.values[0]!).sort((a, b) => a - b);

describe('a contributor', () => {
  it('sends rows to the open epoch and says when they are settled', async () => {
    const server = await startServer();
    const contributor = connect(server);
    const result = await contributor.contribute([[12.5, 733], [-4, 2475]]);
    expect(result).toEqual({ kind: 'accepted', epoch: 7n, openEpoch: 7n, sequences: [1n] });
    expect(server.taken).toEqual([
      {
        contributor: toHex(await publicKeyOf(contributorSeed)), sequence: 1n, epoch: 7n, last: true,
        rows: 2, values: Float64Array.of(12.5, 733, -4, 2475),
      },
    ]);
    expect((await contributor.study()).columns).toEqual(['delay_minutes', 'distance_miles']);
    await contributor.close();
    expect(contributor.state).toEqual({ kind: 'ended', error: null });
  });

  it('shows its enrolment token with every Hello', async () => {
    const server = await startServer();
    const contributor = connect(server, { enrolment: ' 00ff10\n' });
    await contributor.contribute(row(1));
    server.dropSockets();
    await vi.waitUntil(() => server.hellos === 2);
    expect(server.enrolments).toEqual([Uint8Array.of(0, 255, 16), Uint8Array.of(0, 255, 16)]);
    expect(() => connect(server, { enrolment: 'not hexadecimal' })).toThrow('hexadecimal digits');
  });

  it('splits rows over batches by the server\'s limit, the last one marked', async () => {
    const server = await startServer();
    const contributor = connect(server, { dataType: 'float32' });
    const rows = Array.from({ length: 40 }, (_, i) => [i, 2 * i]);
    const result = await contributor.contribute(rows);
    expect(result.sequences).toEqual([1n, 2n, 3n]);
    expect(server.taken.map((batch) => [batch.rows, batch.last]))
      .toEqual([[16, false], [16, false], [8, true]]);
    expect(server.taken.flatMap((batch) => [...batch.values])).toEqual(rows.flat());
  });

  it('refuses rows that no epoch takes, without asking, and states the limit', async () => {
    const server = await startServer({ contribution: { reduce: 'mean', rowsMax: 4 } });
    const contributor = connect(server);
    await expect(contributor.send([])).rejects.toMatchObject({ code: 'invalid-parameter' });
    await expect(contributor.send([[1, 2], [3]])).rejects
      .toThrow(/row 1 has 1 columns, row 0 has 2/);
    await expect(contributor.send([[1, Number.NaN]])).rejects
      .toMatchObject({ code: 'invalid-parameter' });
    // Before the study is known, and when it is: six values are not three rows of two.
    await expect(contributor.send([[1, 2, 3], [4, 5, 6]])).rejects
      .toThrow(/3 columns, the study has 2/);
    await contributor.study();
    await expect(contributor.send([[1, 2, 3], [4, 5, 6]])).rejects
      .toThrow(/3 columns, the study has 2/);
    await expect(contributor.send(new Float64Array(3))).rejects.toThrow(/whole rows/);
    await expect(contributor.send(new Float64Array(10))).rejects
      .toThrow(/5 rows are more than the 4/);
    expect(server.offered).toEqual([]);
    expect((await contributor.send(new Float64Array(6))).kind).toBe('accepted');
    const full = await contributor.send(new Float64Array(4));
    expect(full).toMatchObject({ kind: 'refused', error: { code: 'contribution-full' } });
    expect(server.offered).toHaveLength(1);
    server.openEpoch(8n);
    await until(() => contributor.state.kind === 'ready' && contributor.state.epoch === 8n);
    expect(await contributor.contribute(new Float64Array(4)))
      .toMatchObject({ kind: 'accepted', epoch: 8n });
  });

  it('waits for an epoch, and reports each one that opens', async () => {
    const server = await startServer();
    server.epoch = 0n;
    const contributor = connect(server);
    const sent = contributor.contribute(row(1));
    await until(() => contributor.state.kind === 'waiting-for-epoch');
    const epochs = contributor.epochs()[Symbol.asyncIterator]();
    server.openEpoch(8n, 250);
    expect(await sent).toMatchObject({ kind: 'accepted', epoch: 8n });
    server.notice(200);
    server.openEpoch(9n, 0);
    expect((await epochs.next()).value).toEqual({ epoch: 8n, closesInMs: 250 });
    expect((await epochs.next()).value).toEqual({ epoch: 9n, closesInMs: null });
  });

  it('keeps events that come while its outbox stores the server key', async () => {
    const server = await startServer();
    server.epoch = 0n;
    const pin = async (): Promise<void> => {
      server.openEpoch(8n);
      // The notice comes before this ends.
      await server.roundTrip();
    };
    const contributor = connect(server, { outbox: { ...memoryOutbox(), pin } });
    expect(await contributor.contribute(row(1))).toMatchObject({ kind: 'accepted', epoch: 8n });
  });

  it('keeps the credit within one contribution of many batches', async () => {
    const server = await startServer();
    server.credit = 2;
    server.deaf = true;
    const contributor = connect(server);
    const sent = contributor.contribute(new Float64Array(2 * 64));
    await until(() => server.offered.length === 2);
    await server.roundTrip();
    expect(server.offered).toHaveLength(2);
    server.deaf = false;
    server.dropSockets();
    expect((await sent).sequences).toEqual([1n, 2n, 3n, 4n]);
    expect(server.taken.map((batch) => batch.rows)).toEqual([16, 16, 16, 16]);
  });

  it('keeps the credit', async () => {
    const server = await startServer();
    server.credit = 2;
    server.deaf = true;
    const contributor = connect(server);
    const sent = Array.from({ length: 6 }, (_, i) => contributor.send(row(i)));
    await until(() => server.offered.length === 2);
    await server.roundTrip();
    expect(server.offered).toHaveLength(2);
    server.deaf = false;
    server.dropSockets();
    const results = await Promise.all(sent);
    expect(results.map((result) => result.kind)).toEqual(Array<string>(6).fill('accepted'));
    expect(firsts(server)).toEqual([0, 1, 2, 3, 4, 5]);
  });
});

describe('lost connections', () => {
  it('sends again what was not settled: nothing lost, nothing twice, after a crash with lost '
    + 'acks', async () => {
    const server = await startServer();
    const contributor = connect(server);
    await contributor.send(row(0));
    server.mute = true;
    const sent = Array.from({ length: 8 }, (_, i) => contributor.send(row(i + 1)));
    await until(() => server.taken.length === 9);
    server.deaf = true;
    const late = Array.from({ length: 3 }, (_, i) => contributor.send(row(i + 9)));
    await until(() => server.offered.length === 12);
    await server.crash();
    await until(() => contributor.state.kind === 'reconnecting');
    server.mute = false;
    server.deaf = false;
    const before = [...server.offered];
    await server.listen();
    const results = await Promise.all([...sent, ...late]);
    expect(results.every((result) => result.kind === 'accepted')).toBe(true);
    expect(firsts(server)).toEqual([...Array(12).keys()]);
    expect(server.taken.map((batch) => batch.sequence))
      .toEqual([...Array(12).keys()].map((i) => BigInt(i + 1)));
    // Byte for byte: what was offered after the crash had been offered before.
    expect(server.offered.slice(before.length).every((body) => before.includes(body))).toBe(true);
  });

  it('learns the verdict of a batch that was refused while the connection was lost', async () => {
    const server = await startServer();
    server.mute = true;
    server.judge = (body) => (body.sequence === 2n ? 'stale-epoch' : null);
    const contributor = connect(server);
    const sent = [1, 2, 3].map((i) => contributor.send(row(i)));
    await until(() => server.offered.length === 3);
    server.mute = false;
    server.dropSockets();
    const results = await Promise.all(sent);
    expect(results.map((result) => result.kind)).toEqual(['accepted', 'refused', 'accepted']);
    expect(results[1]).toMatchObject({ error: { code: 'stale-epoch', retryable: false } });
  });

  it('sends deferred batches again, with the same bytes', { tags: ['long'] }, async () => {
    const server = await startServer();
    let refusals = 2;
    server.judge = () => (refusals-- > 0 ? 'overloaded' : null);
    const contributor = connect(server);
    const seen: ContributorStatus[] = [];
    void (async () => { for await (const status of contributor.status()) seen.push(status); })();
    expect(await contributor.contribute(row(5)))
      .toMatchObject({ kind: 'accepted', sequences: [1n] });
    expect(new Set(server.offered).size).toBe(1);
    expect(server.offered.length).toBe(3);
    expect(seen.filter((status) => status.kind === 'put-off')).toHaveLength(2);
    expect(server.taken).toHaveLength(1);
  });

  it('learns that a batch counts while an earlier one is deferred', async () => {
    const server = await startServer();
    server.judge = (body) => (body.sequence === 1n && server.epoch < 9n ? 'epoch-not-open' : null);
    const contributor = connect(server);
    const first = contributor.send(row(1));
    expect(await contributor.send(row(2))).toMatchObject({ kind: 'accepted', sequences: [2n] });
    server.openEpoch(9n);
    expect(await first).toMatchObject({ kind: 'accepted', sequences: [1n] });
  });

  it('sends a batch for an epoch that had not opened again when one opens', async () => {
    const server = await startServer();
    server.judge = (body) =>
      (body.epoch > server.epoch || server.epoch < 9n ? 'epoch-not-open' : null);
    const contributor = connect(server);
    const sent = contributor.contribute(row(5));
    await until(() => server.offered.length === 1);
    server.openEpoch(9n);
    expect(await sent).toMatchObject({ kind: 'accepted', epoch: 7n, openEpoch: 9n });
    expect(new Set(server.offered).size).toBe(1);
  });

  it('fills holes whose bytes are lost, or the window would never move on', async () => {
    const server = await startServer();
    const window = server.windows.of(toHex(await publicKeyOf(contributorSeed)));
    window.settled.set(3n, { digest: 'of another run', code: null });
    const contributor = connect(server, { outbox: memoryOutbox() });
    const results = await Promise.all([1, 2, 3, 4].map((i) => contributor.send(row(i))));
    expect(results.map((result) => result.sequences[0])).toEqual([1n, 2n, 4n, 5n]);
    expect(window.contiguous).toBe(5n);
  });

  it('takes a fresh sequence when another run used this one for other bytes', async () => {
    const server = await startServer();
    const contributor = connect(server);
    await contributor.send(row(0));
    server.windows.of(toHex(await contributor.publicKey)).settled
      .set(2n, { digest: 'of another run', code: null });
    expect(await contributor.send(row(1))).toMatchObject({ kind: 'accepted', sequences: [3n] });
    expect(firsts(server)).toEqual([0, 1]);
  });

  it('is not confused by a server that was restored to an earlier state', async () => {
    const server = await startServer({ contribution: { reduce: 'mean', rowsMax: 100 } });
    const contributor = connect(server);
    for (let i = 0; i < 80; i++) await contributor.send(row(i));
    server.deaf = true;
    const sent = contributor.send(row(99));
    await until(() => server.offered.length === 81);
    const window = server.windows.of(toHex(await contributor.publicKey));
    for (const sequence of [...window.settled.keys()]) {
      if (sequence > 5n) window.settled.delete(sequence);
    }
    window.contiguous = 5n;
    server.deaf = false;
    server.dropSockets();
    expect(await sent).toMatchObject({ kind: 'accepted', sequences: [6n] });
  });
});

describe('the server of a contributor', () => {
  it('refuses another server than the pinned one, without a Hello', async () => {
    const server = await startServer();
    const contributor =
      connect(server, { serverKey: signing.createSigner(signing.generateSeed()).publicKey });
    await expect(contributor.contribute(row(1))).rejects
      .toMatchObject({ code: 'server-key-mismatch' });
    expect(contributor.state)
      .toMatchObject({ kind: 'ended', error: { code: 'server-key-mismatch' } });
    expect(server.hellos).toBe(0);
  });

  it('keeps to the first server that proved its key', async () => {
    const server = await startServer();
    const contributor = connect(server);
    await contributor.send(row(1));
    const { port } = server;
    await server.crash();
    const other = await ScriptedServer.start({}, signing.createSigner(signing.generateSeed()));
    await other.crash();
    other.port = port;
    await other.listen();
    open.servers[0] = other;
    await expect(contributor.send(row(2))).rejects.toMatchObject({ code: 'server-key-mismatch' });
    expect(other.offered).toEqual([]);
  });

  it('sends nothing to a server that shows a key but cannot sign with it', async () => {
    const server = await startServer();
    server.readyForger = signing.createSigner(signing.generateSeed());
    const contributor = connect(server);
    await expect(contributor.contribute(row(1))).rejects.toMatchObject({ code: 'bad-signature' });
    expect(server.offered).toEqual([]);
  });

  it('names the existing studies when the wanted one is missing', async () => {
    const server = await startServer();
    const contributor = connect(server, { study: 'flight-delay' });
    await expect(contributor.contribute(row(1))).rejects
      .toThrow(/no study flight-delay; it has: flight-delays/);
  });

  it('does not contribute to changed facts under the old name', async () => {
    const server = await startServer();
    const contributor = connect(server);
    await contributor.send(row(1));
    await server.crash();
    await server.rename({ privacy: { epsilon: 50, delta: 1e-6 } });
    await server.listen();
    await expect(contributor.send(row(2))).rejects.toMatchObject({ code: 'unknown-study' });
    expect(server.offered).toHaveLength(1);
  });

  it('takes rows back of an epoch that opens later, and never asks for epoch 0', async () => {
    const server = await startServer();
    server.epoch = 0n;
    const contributor = connect(server);
    const taken = contributor.withdraw();
    await until(() => contributor.state.kind === 'waiting-for-epoch');
    server.openEpoch(9n);
    expect(await taken).toBe(9n);
    expect(server.asked).toEqual([9n]);
  });

  it('ends with the study, and says which way', async () => {
    const server = await startServer();
    const contributor = connect(server);
    await contributor.send(row(1));
    server.stop('exhausted');
    await until(() => contributor.state.kind === 'ended');
    expect(await contributor.send(row(2)).catch((error: unknown) => error))
      .toMatchObject({ code: 'budget-exhausted' });
    await expect(contributor.withdraw()).rejects.toMatchObject({ code: 'budget-exhausted' });
    server.refuseHello = 'key-not-allowed';
    server.state = 'open';
    const stranger = connect(server);
    await expect(stranger.send(row(1))).rejects.toMatchObject({ code: 'key-not-allowed' });
  });

  it('learns after the end of the study that its last batch was taken, although the ack was '
    + 'lost', async () => {
    const server = await startServer();
    const contributor = connect(server);
    await contributor.send(row(1));
    server.mute = true;
    const last = contributor.send(row(2));
    await until(() => server.taken.length === 2);
    server.state = 'exhausted';
    server.epoch = 0n;
    server.mute = false;
    server.dropSockets();
    expect(await last).toMatchObject({ kind: 'accepted' });
    await until(() => contributor.state.kind === 'ended');
    await expect(contributor.send(row(3))).rejects.toMatchObject({ code: 'budget-exhausted' });
  });

  it('sends Hello again when the server defers it', { tags: ['long'] }, async () => {
    const server = await startServer();
    server.refuseHello = 'rate-limited';
    const contributor = connect(server);
    const sent = contributor.send(row(1));
    await until(() => server.hellos === 2);
    server.refuseHello = null;
    expect((await sent).kind).toBe('accepted');
  });
});

describe('the end of a contributor', () => {
  it('waits at close until everything is settled', async () => {
    const server = await startServer();
    server.deaf = true;
    const contributor = connect(server);
    const sent = contributor.send(row(1));
    await until(() => server.offered.length === 1);
    let closed = false;
    const closing = contributor.close().then(() => { closed = true; });
    await expect(contributor.send(row(2))).rejects.toMatchObject({ code: 'closed' });
    await server.roundTrip();
    expect(closed).toBe(false);
    server.deaf = false;
    server.dropSockets();
    expect((await sent).kind).toBe('accepted');
    await closing;
  });

  it('rejects everything that waits when it is aborted', async () => {
    const server = await startServer();
    server.deaf = true;
    const abort = new AbortController();
    const contributor = connect(server, { signal: abort.signal });
    const sent = contributor.send(row(1));
    await until(() => server.offered.length === 1);
    abort.abort();
    await expect(sent).rejects.toMatchObject({ code: 'closed' });
    expect(contributor.state.kind).toBe('ended');
    await contributor.close();
  });

  it('leaves nothing with its signal once it has ended', async () => {
    const { signal } = new AbortController();
    const contributor = connect(await startServer(), { signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await contributor.close();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('refuses to hold more than its bound', async () => {
    const contributor = connect({ url: 'ws://127.0.0.1:9' } as ScriptedServer);
    const large = new Float64Array(1024 * 1024);
    const sent = Array.from({ length: 9 }, () => contributor.send(large));
    await expect(sent[8]).rejects.toMatchObject({ code: 'overloaded', retryable: true });
    contributor.abort();
    await Promise.allSettled(sent);
  });

  it('refuses a URL or seed that can never work, at once', () => {
    const options = { url: 'ws://127.0.0.1:9', study: 's', seed: contributorSeed };
    expect(() => createContributor({ ...options, url: 'ftp://x' })).toThrow(/use ws: or wss:/);
    expect(() => createContributor({ ...options, url: 'nowhere' })).toThrow(/cannot be read/);
    expect(() => createContributor({ ...options, seed: new Uint8Array(31) })).toThrow(/32 bytes/);
    expect(() => createContributor({ ...options, serverKey: new Uint8Array(3) })).toThrow(/32/);
  });
});
