import type { StudyView } from './contract.js';
import type { Quarantine } from '../store/contract.js';
import type { HubContext } from './context.js';
import { journalPages } from './journal-pages.js';
import { newestPoint, OwnRows, rounded, scaleOf } from './own-rows.js';

type Study = Pick<StudyView, 'studyId' | 'document'>;

/**
 * Leaves out of later epochs, where the study's facts say `automatic`, every key whose rows of a released epoch have a mean
 * farther than `beyond` from the newest answer up to that release. Called before anything deletes these rows.
 *
 * Claim, neighbours and proof are those of quarantineIfFar, and here nobody chooses whom to measure: all keys of the
 * epoch are, each by its own sums. It remains that also *when* an entry takes effect is no function of anybody's rows.
 * Entries of an epoch are written in one transaction, and the study opens no further epoch before that
 * (LiveStudy lets none wait behind a release here), so all take effect at the same epoch: the one after
 * those that were open or closed at this release, a function of the schedule. After a crash in between the same decisions
 * are made again from the same rows and the same release.
 *
 * Nothing of it is logged or counted in metrics: how many were excluded is for the operator's page and `keelson ledger`.
 * Cost: a pass over the epoch's journal per release; memory of one row per contributor of the epoch.
 * @param index of the epoch's release in the study's log.
 * @throws StorageError when the store fails.
 */
export async function excludeFar(
  { store, clock, stopped }: HubContext, study: Study, epoch: bigint, index: number,
): Promise<void> {
  const { studyId, document } = study;
  const { quarantine: rule } = document;
  if (rule?.automatic !== true || store.quarantine === undefined) return;
  const answer = await newestPoint(store, study, index + 1);
  if (answer === null) return;
  const scale = scaleOf(document);
  const everybody = new Map<string, OwnRows>();
  for await (const page of journalPages(store, studyId, epoch)) {
    for (const { contributor, body, complete } of page) {
      const own = everybody.get(contributor) ?? new OwnRows(document.columns.length, answer.point, scale);
      everybody.set(contributor, own);
      own.add(body, complete);
    }
    if (stopped()) return;
  }
  const entries: Omit<Quarantine, 'fromEpoch'>[] = [];
  for (const [contributor, own] of everybody) {
    const distance = own.distance();
    if (distance > rule.beyond) {
      entries.push({
        studyId, contributor, distance: rounded(distance), beyond: rule.beyond, releaseIndex: answer.index, atMs: clock.nowMs(),
      });
    }
  }
  if (entries.length > 0) await store.quarantine(entries);
}

/**
 * What a crash between a release and its exclusions left to do: those of the newest release whose rows are still there.
 * Older ones were done before it, since releases of a study follow one another.
 */
export async function excludeAfterRestart(context: HubContext, study: Study, releaseCount: number): Promise<void> {
  const { store } = context;
  if (study.document.quarantine?.automatic !== true || releaseCount === 0) return;
  const newest = (await store.unpurgedEpochs(study.studyId)).at(-1);
  if (newest === undefined) return;
  const [release] = await store.releases(study.studyId, releaseCount - 1, 1);
  if (release?.epoch === newest.epoch) await excludeFar(context, study, newest.epoch, release.index);
}
