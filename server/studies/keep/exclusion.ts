import type { StudyView } from '../contract.js';
import type { Quarantine } from '../../store/records.js';
import type { HubContext } from '../context.js';
import { journalPages } from './journal-pages.js';
import { newestPoint, OwnRows, rounded } from './own-rows.js';

type Study = Pick<StudyView, 'studyId' | 'document'>;

/**
 * For studies whose facts say `automatic`: leaves a key out of later epochs when the mean of its
 * rows in a released epoch is farther than `beyond` from the newest answer up to that release.
 * Called before these rows are deleted.
 *
 *
 * Claim, neighbours and proof are those of quarantineIfFar. Here nobody chooses which keys are
 * measured: all keys of the epoch are, each by its own sums. It remains to show that *when* an
 * entry takes effect depends on nobody's rows. All entries of an epoch are written in one
 * transaction, and the study opens no further epoch before it (LiveStudy lets no epoch wait behind
 * a release here). So all take effect at the same epoch: the one after those that were open or
 * closed at this release, which the schedule determines. After a crash in between, the same rows
 * and the same release lead to the same decisions.
 *
 *
 * Nothing about it is logged or counted in metrics: only the operator's page and `keelson ledger`
 * show how many keys were excluded. Cost: a pass over the epoch's journal per release; memory of
 * one row per contributor of the epoch.
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
  const everybody = new Map<string, OwnRows>();
  for await (const page of journalPages(store, studyId, epoch)) {
    for (const { contributor, body, complete } of page) {
      const own = everybody.get(contributor)
        ?? new OwnRows(document, answer);
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
        studyId, contributor, distance: rounded(distance), beyond: rule.beyond,
        releaseIndex: answer.index, atMs: clock.nowMs(),
      });
    }
  }
  if (entries.length > 0) await store.quarantine(entries);
}

/**
 * Makes up for exclusions that a crash after a release prevented: those of the newest release whose
 * rows are still there. Those of older releases are complete, since the releases of a study follow
 * one another.
 */
export async function excludeAfterRestart(
  context: HubContext, study: Study, releaseCount: number,
): Promise<void> {
  const { store } = context;
  if (study.document.quarantine?.automatic !== true || releaseCount === 0) return;
  const newest = (await store.unpurgedEpochs(study.studyId)).at(-1);
  if (newest === undefined) return;
  const [release] = await store.releases(study.studyId, releaseCount - 1, 1);
  if (release?.epoch === newest.epoch) {
    await excludeFar(context, study, newest.epoch, release.index);
  }
}
