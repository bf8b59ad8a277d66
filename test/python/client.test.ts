import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../server/base/clock.js';
import type { JournalEntry } from '../../server/store/contract.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { batchRows, decodeBatchBody } from '../../src/wire/index.js';
import { Stage, type JsonLine, type LiveCommand } from '../support/live-command.js';
import { root } from '../support/sources.js';
import { meanStudy } from '../support/study-files.js';

/** Debian's, whose packages these are; another one in the path knows nothing of them. */
const python = '/usr/bin/python3';
const packages = 'python3-websockets python3-nacl python3-protobuf protobuf-compiler';

function hasPython(): boolean {
  try {
    const stdio = 'ignore';
    execFileSync(python, ['-c', 'import google.protobuf, nacl.signing, websockets'], { stdio });
    execFileSync('protoc', ['--version'], { stdio });
    return true;
  } catch {
    return false;
  }
}

const runs = hasPython();
// The title of a suite that is skipped is not shown.
if (!runs) process.stderr.write(`test/python is skipped. To run it: apt-get install ${packages}\n`);
const seeds = { a: '0a', b: '0b', c: '0c', d: '0d' };

describe.skipIf(!runs)('a client in Python that uses nothing but what docs/reference/protocol.md '
  + 'says', () => {
  const stage = new Stage();
  afterAll(() => stage.end());

  beforeAll(() => {
    mkdirSync(stage.path('generated'));
    const folder = `${root}proto/keelson/v1`;
    execFileSync('protoc', ['-I', folder, `--python_out=${stage.path('generated')}`, 'wire.proto']);
  });

  const start = (...words: string[]): LiveCommand => stage.start(words, {
    program: python,
    command: `${root}test/python/main.py`,
    environment: { PYTHONPATH: stage.path('generated'), PYTHONDONTWRITEBYTECODE: '1' },
  });

  /** Runs to the end, which must be a good one. */
  async function run(...words: string[]): Promise<readonly JsonLine[]> {
    const command = start(...words);
    const { status, stderr } = await command.ended;
    expect([status, stderr]).toEqual([0, '']);
    return command.lines;
  }

  it('agrees with every vector', async () => {
    expect(await run('vectors', `${root}test/vectors`))
      .toEqual([{ type: 'vectors', signatures: 9, messages: 26, keys: 20, numbers: 28 }]);
  });

  it('contributes over a kill of the server, withdraws, and verifies what is '
    + 'released', async () => {
    // Epochs close when two contributors are complete: no step waits for time.
    const study = stage.write('study.yaml', meanStudy('from-page', {
      epoch: '{ contributors: 2 }', participation: 'public', retention: '30d',
    }));
    let served = await stage.serve([study]);
    const { url, port, serverKey } = served;
    const words = (who: keyof typeof seeds): string[] =>
      [url, 'from-page', serverKey, seeds[who].repeat(32), stage.path(`outbox-${who}`)];

    const sender = start('contribute', ...words('a'), '60', '--hold-after', '20');
    const holding = await sender.line(({ type }) => type === 'holding');
    const unread = [21, 22, 23, 24, 25, 26, 27, 28];
    expect(holding).toMatchObject({ unsettled: unread });
    await served.command.kill();
    served = await stage.serve([study], { port });
    expect((await sender.ended).status).toBe(0);
    expect(sender.lines.filter(({ type }) => type === 'ready')).toMatchObject([
      // 29 was signed and stored, and then there was no connection to send it over.
      { next: 1, holes: [], unsettled: [] }, { unsettled: [...unread, 29] },
    ]);
    expect(settled(sender.lines)).toEqual(accepted(60));

    expect(settled(await run('withdraw', ...words('c'), '3')))
      .toEqual([...accepted(3), [4, 'contribution-full']]);

    await run('deaf', ...words('d'), '5', '--bad', '3');
    const found = await run('contribute', ...words('d'), '1');
    expect(found).toContainEqual({ type: 'ready', next: 6, holes: [], unsettled: [1, 2, 3, 4, 5] });
    expect(settled(found)).toEqual(
      [
        [1, 'accepted'], [2, 'accepted'], [3, 'not-finite'], [4, 'accepted'], [5, 'accepted'],
        [6, 'accepted'],
      ]);

    const subscriber = start('subscribe', url, 'from-page', serverKey, '2');
    await subscriber.line(({ type }) => type === 'release');
    for (const who of ['a', 'b'] as const) await run('contribute', ...words(who), '1');
    expect((await subscriber.ended).status).toBe(0);
    const releases = subscriber.lines.filter(({ type }) => type === 'release');
    expect(releases).toMatchObject([{ index: 0, epoch: 1 }, { index: 1, epoch: 2 }]);

    const read = await run('logs', served.address, 'from-page', serverKey);
    // Four lines: each changed, each left out, and each two neighbours swapped.
    expect(read).toMatchObject([
      { type: 'log', count: 2, digest: releases[1]!['digest'] }, { type: 'parts', count: 3 },
      { type: 'tampered', refused: 4 + 4 + 3 },
      { type: 'ledger', unit: '2^-64', budgets: [{ budget: 'study:from-page', scope: 'study' }] },
      { type: 'error', status: 404, body: { error: { code: 'unknown-study' } } },
    ]);

    await served.command.interrupt();
    const keyOf = (lines: readonly JsonLine[]): string => String(lines[0]!['key']);
    const [a, d] = [keyOf(sender.lines), keyOf(found)];
    const [first, second] = await journals(stage.path('data'));
    const name = (entry: JournalEntry): string => `${entry.contributor} ${entry.sequence}`;
    const expected = [...accepted(60).map(([sequence]) => `${a} ${sequence}`),
      ...[1, 2, 4, 5, 6].map((sequence) => `${d} ${sequence}`)];
    // What was accepted, once each; nothing of what was withdrawn or rejected.
    expect(first!.map(name).sort()).toEqual(expected.sort());
    expect(second).toHaveLength(2);
    for (const { contributor, sequence, body } of first!) {
      const row = [Number(sequence) % 7 + 0.25, Number(sequence) * 1.5];
      if (contributor === a) expect([...batchRows(decodeBatchBody(body))]).toEqual(row);
    }
  }, 180_000);
});

const accepted = (count: number): [number, string][] =>
  Array.from({ length: count }, (_, i) => [i + 1, 'accepted']);

/** What became of each sequence, by sequence. */
function settled(lines: readonly JsonLine[]): [number, string][] {
  return lines.filter(({ type }) => type === 'settled')
    .map(({ sequence, outcome }): [number, string] => [Number(sequence), String(outcome)])
    .sort(([left], [right]) => left - right);
}

/** Of the first two epochs, read when no server runs. */
async function journals(directory: string): Promise<(readonly JournalEntry[])[]> {
  const store = await openInlineSqliteStore({ directory, clock: systemClock });
  try {
    const [study] = await store.studies();
    return await Promise.all([1n, 2n].map((epoch) =>
      store.journal(study!.studyId, epoch, 0n, 1_000)));
  } finally {
    await store.close();
  }
}
