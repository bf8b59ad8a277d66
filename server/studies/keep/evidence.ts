import { toHex } from '../../../src/base/bytes.js';
import type { StudyView } from '../contract.js';
import type { Store } from '../../store/contract.js';
import type { ContributorEvidence, EpochEvidence } from '../evidence-contract.js';
import { journalPages } from './journal-pages.js';
import { newestPoint, OwnRows, spreadOf } from './own-rows.js';

/** Most epochs that are read, newest first, and most journal entries in all. */
const epochsMax = 8;
const entriesMax = 200_000;

/** The evidence shown about a contributor's rows, and the number that a study's rule compares. */
export interface Measured {
  readonly evidence: ContributorEvidence;
  /** The largest distance of the mean of an epoch, not rounded; null without an answer or rows. */
  readonly distance: number | null;
}

/**
 * Reads the contributor's rows from the journal and measures them against the newest answer.
 * Distances are Euclidean over columns. The result has distances for each epoch, never rows. Cost:
 * one pass over the journal of the epochs, in pages, so that batches are admitted between pages.
 * @param until set when a rule decides by the result. Then there is no bound on entries, and only
 *   epochs are read that, by the schedule, stay complete and in the journal until this Unix time.
 *   With a bound, or with rows deleted during the pass, the rows of others would influence the
 *   decision.
 */
export async function gatherEvidence(
  store: Store, view: StudyView, contributor: Uint8Array, until?: number,
): Promise<Measured> {
  const { studyId, document } = view;
  const key = toHex(contributor);
  const answer = await newestPoint(store, view, view.releaseCount);
  const spread = spreadOf(document);
  const { retention } = document;
  const keepMs = retention.kind === 'release' ? 0 : retention.keepMs;
  const stays = (endMs: number): boolean => until === undefined || endMs > until;
  const kept = (await store.unpurgedEpochs(studyId)).filter(({ releasedAtMs }) =>
    stays(releasedAtMs + keepMs))
    .map(({ epoch }) => ({ epoch, released: true }));
  const open = view.epoch === 0n || !stays(view.closesAtMs)
    ? [] : [{ epoch: view.epoch, released: false }];
  const wanted = [...kept, ...open].slice(-epochsMax);
  let left = until === undefined ? entriesMax : Infinity;
  const epochs: EpochEvidence[] = [];
  let distance: number | null = null;
  // The open epoch comes first: operators ask mostly about it.
  for (const { epoch, released } of wanted.toReversed()) {
    const own = new OwnRows(document, answer);
    for await (const page of journalPages(store, studyId, epoch, left)) {
      left -= page.length;
      for (const entry of page) if (entry.contributor === key) own.add(entry.body, entry.complete);
    }
    if (own.rows === 0) continue;
    epochs.unshift({ epoch, released, ...own.measured() });
    if (answer !== null) distance = Math.max(distance ?? 0, own.distance());
  }
  const evidence = {
    study: view.name, contributor: key,
    answer: answer === null ? null : { index: answer.index, epoch: answer.epoch },
    unit: spread === null ? 'columns' as const : 'spread' as const, epochs, truncated: left <= 0,
    excludedFrom: (await store.quarantineOf?.(studyId, key))?.fromEpoch ?? null,
  };
  return { evidence, distance };
}
