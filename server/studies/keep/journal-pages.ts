import type { JournalEntry, Store, StudyId } from '../../store/contract.js';

/**
 * Most entries of a page, and the bytes of bodies at which it ends. Batches are admitted between
 * two pages. Contributors choose the sizes of bodies, so only a bound in bytes keeps the memory of
 * a page small.
 */
const pageEntries = 1_024;
const pageBytes = 8 * 1024 * 1024;

/**
 * The journal of an epoch, in order, in pages that are never empty. A page is read when the caller
 * asks for it. So memory does not grow with the epoch, and a caller that stops causes no further
 * reads.
 * @param entriesMost number of entries after which it stops, at least 0.
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
