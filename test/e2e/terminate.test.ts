import { afterAll, expect, it } from 'vitest';
import { systemClock } from '../../server/base/clock.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { toHex } from '../../src/base/bytes.js';
import { Stage } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';
import { newSigner, WireClient, WireContributor } from '../support/wire-client.js';

const stage = new Stage();
afterAll(() => stage.end());

interface Sender {
  readonly key: string; readonly sent: number; readonly settled: number;
  readonly client: WireClient;
}

/** Keeps eight batches in flight until the server says goodbye. */
async function sendUntilGoodbye(port: number, studyId: string, onAck: () => void): Promise<Sender> {
  const client = await WireClient.open(port);
  const signer = newSigner();
  const contributor = await WireContributor.open(client, studyId, signer);
  let sent = 0n;
  let settled = 0n;
  const send = (): void => client.send(contributor.batch(++sent, { last: false }));
  for (let i = 0; i < 8; i++) send();
  for (;;) {
    const frame = await client.next('ack', 'refusal').catch(() => null);
    if (frame === null) break;
    if (frame.kind !== 'ack') continue;
    expect(frame.rejections.filter(({ retryable }) => !retryable)).toEqual([]);
    for (const sequence of frame.accepted) settled = sequence > settled ? sequence : settled;
    onAck();
    while (client.closeCode === undefined && sent < settled + 8n) send();
  }
  return { key: toHex(signer.publicKey), sent: Number(sent), settled: Number(settled), client };
}

it('ends at SIGTERM with clients in flight: politely, with status 0, and with all that it '
  + 'acknowledged', async () => {
  const file = stage.write('study.yaml', meanStudy('survey', {
    epoch: '{ every: 1h }', contribution: '{ reduce: mean, rowsMax: 1000000 }',
  }));
  const served = await stage.serve([file]);
  const { port } = new URL(served.url);
  const listed =
    await (await fetch(`${served.address}/v1/studies`)).json() as { studies: { id: string }[] };
  const studyId = listed.studies[0]!.id;
  let acks = 0;
  const idle = await WireClient.open(Number(port));
  await idle.hello(newSigner(), studyId);
  const senders = Array.from({ length: 8 }, () => sendUntilGoodbye(Number(port), studyId, () => {
    acks += 1;
    // All are under way by then.
    if (acks === 200) served.command.child.kill('SIGTERM');
  }));
  const told = await Promise.all(senders);
  expect(await served.command.ended).toMatchObject({ status: 0 });
  for (const { client } of told) {
    expect([client.closeCode, client.closeReason]).toEqual([1001, 'the server is stopping']);
    const refused = client.frames.flatMap((frame) => (frame.kind === 'refusal' ? [frame] : []));
    expect(refused.map(({ code, retryable }) => [code, retryable]))
      .toContainEqual(['shutting-down', true]);
  }
  expect(await idle.closed()).toBe(1001);
  expect(idle.frames.at(-1)).toMatchObject({ kind: 'refusal', code: 'shutting-down' });
  // They did not all come to rest by themselves: batches were on their way.
  expect(told.some(({ sent, settled }) => sent > settled)).toBe(true);
  const store = await openInlineSqliteStore({ directory: stage.path('data'), clock: systemClock });
  const kept = new Map<string, Set<bigint>>();
  for (const { contributor, sequence } of await store.journal(studyId, 1n, 0n, 1_000_000)) {
    const sequences = kept.get(contributor) ?? new Set<bigint>();
    expect(sequences.has(sequence)).toBe(false);
    kept.set(contributor, sequences.add(sequence));
  }
  for (const { key, settled } of told) {
    expect(settled).toBeGreaterThan(0);
    const sequences = kept.get(key) ?? new Set<bigint>();
    const lost = Array.from({ length: settled }, (_, i) => BigInt(i + 1))
      .filter((sequence) => !sequences.has(sequence));
    expect(lost).toEqual([]);
  }
  await store.close();
});
