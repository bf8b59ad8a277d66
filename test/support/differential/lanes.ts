import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../server/base/clock.js';
import type { Store } from '../../../server/store/contract.js';
import { openInlineSqliteStore } from '../../../server/store/sqlite/open-inline.js';
import { HandClock } from '../../listener/hand-clock.js';
import { memoryFolder } from '../memory-folder.js';
import { Comparison, type Difference, type Pair } from './compare.js';

/** Opens the second store: on the same data each time that it is called. */
export type OpenOther = (clock: Clock) => Promise<Store>;

/** After so many sequences both stores are new, since some calls read all that is stored. */
const sequencesEach = 100;

/**
 * Runs sequences on an SQLite store and on others.
 * @param seeds of the sequences, in order.
 * @param other gives the second store; called again where both stores shall be new.
 * @param isShortened whether to look for fewer calls that differ, which takes longer than to find
 *   the first.
 * @returns the first difference; null when there is none.
 */
export async function firstDifference(
  seeds: readonly number[], other: () => Promise<OpenOther>, isShortened = true,
): Promise<Difference | null> {
  for (let from = 0; from < seeds.length; from += sequencesEach) {
    const next = seeds.slice(from, from + sequencesEach);
    const found = await onNewStores(next, await other(), isShortened);
    if (found !== null) return found;
  }
  return null;
}

/** The seeds from 1 to `count`, dealt to `lanes` lists. */
export function dealtSeeds(count: number, lanes: number): number[][] {
  const all = Array.from({ length: count }, (_, i) => i + 1);
  return Array.from({ length: lanes }, (_, lane) => all.filter((seed) => seed % lanes === lane));
}

async function onNewStores(
  seeds: readonly number[], openOther: OpenOther, isShortened: boolean,
): Promise<Difference | null> {
  const clock = new HandClock();
  clock.advance(1_760_000_000_000);
  const directory = mkdtempSync(join(memoryFolder, 'keelson-differential-'));
  const open = async (): Promise<[Store, Store]> => [
    await openInlineSqliteStore({ directory, clock }), await openOther(clock),
  ];
  const pair: Pair & { stores: [Store, Store] } = {
    clock, stores: await open(),
    async reopen() {
      for (const store of pair.stores) await store.close();
      pair.stores = await open();
    },
  };
  try {
    const comparison = new Comparison(pair);
    for (const seed of seeds) {
      const found = await comparison.compare(seed);
      if (found !== null) return isShortened ? await comparison.shortened(found) : found;
    }
    return null;
  } finally {
    for (const store of pair.stores) await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
