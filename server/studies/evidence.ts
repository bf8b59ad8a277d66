import { toHex } from '../../src/base/bytes.js';
import type { StudyView } from '../hub.js';
import type { Store } from '../store/contract.js';
import type { ContributorEvidence, EpochEvidence } from './evidence-contract.js';
import { journalPages } from './journal-pages.js';
import { newestPoint, OwnRows, scaleOf } from './own-rows.js';

/** Epochs looked at, newest first; journal entries looked through in all. */
const epochsMax = 8;
const entriesMax = 200_000;

/**
 * Reads the contributor's rows out of the journal and measures them against the newest answer. Distances are Euclidean
 * over columns, and one number per epoch: rows themselves stay where they are. Cost: one pass over what the journal holds
 * of the epochs, in pages, so that batches are admitted in between.
 * @param entriesMost journal entries, anybody's, after which to give up.
 */
export async function gatherEvidence(
  store: Store, view: StudyView, contributor: Uint8Array, entriesMost = entriesMax,
): Promise<ContributorEvidence> {
  const { studyId, document } = view;
  const key = toHex(contributor);
  const answer = await newestPoint(store, view, view.releaseCount);
  const scale = scaleOf(document);
  const kept = (await store.unpurgedEpochs(studyId)).map(({ epoch }) => ({ epoch, released: true }));
  const wanted = [...kept, ...(view.epoch === 0n ? [] : [{ epoch: view.epoch, released: false }])].slice(-epochsMax);
  let left = entriesMost;
  const epochs: EpochEvidence[] = [];
  // The open epoch first: it is what an operator asks about.
  for (const { epoch, released } of wanted.toReversed()) {
    const own = new OwnRows(document.columns.length, answer?.point ?? null, scale);
    for await (const page of journalPages(store, studyId, epoch, left)) {
      left -= page.length;
      for (const entry of page) if (entry.contributor === key) own.add(entry.body, entry.complete);
    }
    if (own.rows > 0) epochs.unshift({ epoch, released, ...own.measured() });
  }
  return {
    study: view.name, contributor: key, answer: answer === null ? null : { index: answer.index, epoch: answer.epoch },
    unit: scale === null ? 'columns' : 'scale', epochs, truncated: left <= 0,
    excludedFrom: (await store.quarantineOf?.(studyId, key))?.fromEpoch ?? null,
  };
}
