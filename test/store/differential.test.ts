import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Store } from '../../server/store/contract.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { differenceText } from '../support/differential/compare.js';
import { dealtSeeds, firstDifference, type OpenOther } from '../support/differential/lanes.js';
import { plantedMistakes, withMistake } from '../support/differential/planted.js';
import { memoryFolder } from '../support/memory-folder.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A second SQLite store, changed. */
const changed = (change: (store: Store) => Store) => async (): Promise<OpenOther> => {
  const directory = mkdtempSync(join(memoryFolder, 'keelson-other-'));
  folders.push(directory);
  return async (clock) => change(await openInlineSqliteStore({ directory, clock }));
};

describe('random calls on two stores', { tags: ['long'] }, () => {
  it('have the same answers where the stores are the same', async () => {
    const found = await firstDifference(dealtSeeds(60, 1)[0]!, changed((store) => store));
    expect(found === null ? '' : differenceText(found)).toBe('');
  });

  it.each(Object.keys(plantedMistakes))('find a store that %s', async (name) => {
    const other = changed((store) => withMistake(store, plantedMistakes[name]!));
    expect(await firstDifference(dealtSeeds(200, 1)[0]!, other, false)).not.toBeNull();
  });

  it('tell a difference by few calls', async () => {
    const other = changed((store) => withMistake(store, plantedMistakes['does not purge']!));
    const [found, shortened] = await Promise.all([false, true].map((isShortened) =>
      firstDifference(dealtSeeds(200, 1)[0]!, other, isShortened)));
    expect(shortened!.seed).toBe(found!.seed);
    expect(shortened!.actions.length).toBeLessThan(found!.actions.length);
  });
});
