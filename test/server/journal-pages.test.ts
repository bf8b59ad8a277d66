import { describe, expect, it } from 'vitest';
import { journalPages } from '../../server/studies/keep/journal-pages.js';
import type { JournalEntry, Store } from '../../server/store/contract.js';

/**
 * A journal of bodies of these sizes, at every third position, and the entries of each page that
 * was asked for.
 */
function journalOf(sizes: readonly number[]): { store: Pick<Store, 'journal'>; asked: number[] } {
  const asked: number[] = [];
  const entries = sizes.map((size, i): JournalEntry => ({
    position: BigInt(3 * i + 1), contributor: 'aa', sequence: 1n, complete: true,
    body: new Uint8Array(size), signature: new Uint8Array(64),
  }));
  const store: Pick<Store, 'journal'> = {
    journal: async (_study, _epoch, after, limit, bytesMost = Infinity) => {
      const page: JournalEntry[] = [];
      let bytes = 0;
      for (const entry of entries) {
        if (entry.position <= after) continue;
        if (page.length === limit || bytes >= bytesMost) break;
        page.push(entry);
        bytes += entry.body.length;
      }
      asked.push(page.length);
      return page;
    },
  };
  return { store, asked };
}

async function positionsOf(store: Pick<Store, 'journal'>, entriesMost?: number): Promise<number[]> {
  const positions: number[] = [];
  for await (const page of journalPages(store, 'study', 1n, entriesMost)) {
    expect(page.length).toBeGreaterThan(0);
    positions.push(...page.map((entry) => Number(entry.position)));
  }
  return positions;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => 3 * i + 1);

describe('the pages of a journal', () => {
  it.each([0, 1, 1_023, 1_024, 1_025, 5_000])(
    'hold each of %i entries once, in order', async (count) => {
      const { store, asked } = journalOf(Array.from({ length: count }, () => 10));
      expect(await positionsOf(store)).toEqual(upTo(count));
      expect(Math.max(...asked)).toBeLessThanOrEqual(1_024);
    },
  );

  it('end where bodies are large, also after small ones', async () => {
    const megabyte = 1024 * 1024;
    const sizes = [
      ...Array.from({ length: 1_024 }, () => 10), ...Array.from({ length: 40 }, () => megabyte),
    ];
    const { store, asked } = journalOf(sizes);
    expect(await positionsOf(store)).toEqual(upTo(1_064));
    expect(asked).toEqual([1_024, 8, 8, 8, 8, 8, 0]);
  });

  it.each([0, 1, 1_500, 2_048])('stop after %i entries', async (entriesMost) => {
    const { store, asked } = journalOf(Array.from({ length: 3_000 }, () => 10));
    expect(await positionsOf(store, entriesMost)).toEqual(upTo(entriesMost));
    expect(asked.reduce((sum, count) => sum + count, 0)).toBe(entriesMost);
  });

  it('are not read on once the caller stops', async () => {
    const { store, asked } = journalOf(Array.from({ length: 3_000 }, () => 10));
    for await (const page of journalPages(store, 'study', 1n)) if (page.length > 0) break;
    expect(asked).toEqual([1_024]);
  });

  it('pass on that the journal cannot be read', async () => {
    const store = { journal: () => Promise.reject(new Error('no disk')) };
    await expect(positionsOf(store)).rejects.toThrow('no disk');
  });
});
