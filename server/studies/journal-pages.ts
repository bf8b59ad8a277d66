import type { JournalEntry, Store, StudyId } from '../store/contract.js';

/**
 * Entries of a page at most, and bytes of bodies with which it ends: batches are admitted between two pages. Sizes of
 * bodies are the contributors' choice, so only a bound in bytes keeps the memory of a page small.
 */
const pageEntries = 1_024;
const pageBytes = 8 * 1024 * 1024;

/**
 * The journal of an epoch in its order, in pages, none of them empty. The next page is read when it is asked for, so memory
 * does not grow with the epoch, and nothing more is read when the caller stops.
 * @param entriesMost after which to stop, 0 and up.
 * @throws StorageError when the journal cannot be read.
 */
export async function* journalPages(
  store: Pick<Store, 'journal'>, studyId: StudyId, epoch: bigint, entriesMost = Infinity,
): AsyncGenerator<readonly JournalEntry[], void, undefined> {
  let after = 0n;
  for (let left = entriesMost; left > 0;) {
    const page = await store.journal(studyId, epoch, after, Math.min(pageEntries, left), pageBytes);
    if (page.length === 0) return;
    yield page;
    left -= page.length;
    after = page.at(-1)!.position;
  }
}
