import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../server/base/clock.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { epochOf, idOf, registration } from '../support/store-fixtures.js';
import { root } from '../support/sources.js';

/**
 * Runs the writer from `first` until it has printed `enough` acknowledgements, then kills it at
 * work.
 */
async function writeUntilKilled(
  directory: string, first: number, enough: number,
): Promise<string[]> {
  const child =
    spawn(process.execPath, ['test/support/children/store-writer.js', directory, String(first)],
      { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
    if (printed.split('\n').length > enough) child.kill('SIGKILL');
  });
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
  return printed.split('\n').slice(0, -1);
}

it('keeps every acknowledged batch, once, when it is killed during commits', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-crash-'));
  try {
    const setUp = await openInlineSqliteStore({ directory, clock: systemClock });
    await setUp.registerStudy(registration());
    await setUp.openEpoch(epochOf(1, { rowsMax: 1_000_000 }));
    await setUp.close();
    const acknowledged = new Map<number, string>();
    let first = 0;
    for (let round = 0; round < 4; round++) {
      for (const line of await writeUntilKilled(directory, first, 60 + 37 * round)) {
        const [number, verdict] = line.split(' ');
        acknowledged.set(Number(number), verdict!);
      }
      const store = await openInlineSqliteStore({ directory, clock: systemClock });
      const journal = await store.journal(idOf('s'), 1n, 0n, 1_000_000);
      const counted = journal.map((entry) => (Number(entry.sequence) - 1) * 16
        + Number.parseInt(entry.contributor.slice(-1), 16));
      for (const [i, number] of counted.entries()) {
        expect(Buffer.from(journal[i]!.body).equals(Buffer.alloc(2_000, `batch ${number};`)))
          .toBe(true);
      }
      expect(new Set(counted).size).toBe(counted.length);
      const durable = new Set(counted);
      expect([...acknowledged.keys()].filter((number) => !durable.has(number))).toEqual([]);
      expect([...acknowledged.values()].every((verdict) =>
        verdict === 'accepted' || verdict === 'duplicate'))
        .toBe(true);
      await store.close();
      // The next round sends some again: what the killed process did not acknowledge, and what it
      // did.
      first = counted.length - 40;
    }
    expect(acknowledged.size).toBeGreaterThan(200);
    expect([...acknowledged.values()]).toContain('duplicate');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
