import { createHash } from 'node:crypto';
import { KeelsonError, StorageError } from '../../../src/base/errors.js';
import { eventsToJson } from '../../../src/privacy/accounting/event-codec.js';
import { addsUp } from '../../../src/questions/run.js';
import type { Store } from '../../store/contract.js';
import { isShared, type ClaimedSlice } from '../../store/shared.js';
import type { HubContext, Slicing } from '../context.js';
import type { StudyDefinition } from '../definition.js';
import { heldEpochOf, setupOf, type HeldEpoch } from './held-epoch.js';
import { journalPages } from '../keep/journal-pages.js';
import { addJournal, summarise } from './recovery.js';

/** 8 slices for each million contributors. */
const slicePeopleUsual = 125_000;
/** For each slice the database passes over all rows of the epoch, so many slices cost too much. */
const slicesMost = 16;

/** The options of a hub that concern slices. */
export interface SliceOptions {
  readonly store: Store;
  /**
   * True if this server also reads slices of epochs that others lead, on a shared store. Default
   * true.
   */
  readonly worksForOthers?: boolean;
  /** @internal For tests: contributors of a slice. Default: see `slicesFor`. */
  readonly slicePeople?: number;
}

export const slicingOf = (
  { store, slicePeople: people = slicePeopleUsual, worksForOthers: forOthers = true }:
  SliceOptions,
): Pick<HubContext, 'slicing'> => {
  if (!isShared(store) || store.slices === undefined) return {};
  const onNews: Slicing['onNews'] = (heard) => store.onNews(heard);
  return { slicing: { slices: store.slices, people, forOthers, onNews } };
};

/** The number of slices of an epoch, by the number of its contributors: 1 to 16. */
export const slicesFor = (people: number, slicePeople: number): number =>
  Math.min(slicesMost, Math.max(1, Math.ceil(people / slicePeople)));

/** True if the contributors of a study may be summarised on several nodes. */
export const mayBeSliced = ({ questions }: StudyDefinition): boolean => addsUp(questions);

/** Two nodes with the same digest draw the same noise about the same numbers. */
export const planDigest = ({ events }: StudyDefinition): string =>
  createHash('sha256').update(eventsToJson(events)).digest('hex');

/**
 * Summarises a charged epoch from its journal, with the other nodes of a shared store.
 *
 * The contributors of an epoch are cut into slices. Each node summarises slices that it claims
 * (slice-worker.ts), this one among them, and the summaries are merged here. An epoch with one
 * slice is read here, and nothing travels. So is every epoch of a study whose summaries do not add
 * up exactly: one with pools of rows, with groups, or with keys that it finds.
 *
 * Claim: the summaries are bit for bit those of one pass over the journal. All entries of a
 * contributor are in one slice, in the order of the journal, so each contribution is reduced to the
 * same rows. Each contributor is in one slice, and each slice has one summary. The journal of a
 * closed epoch does not change. So the same rows are added, and in these summaries they add up to
 * the same bits in any order (`QuestionsRun.merge`).
 *
 * All this comes after the charge, as reading by one node does. How long it takes depends on rows,
 * and the planned time of the release hides it.
 * @throws StorageError lease-lost when another node leads the study meanwhile. KeelsonError when a
 *   slice has failed three times: the epoch cannot be summarised.
 */
export async function summariseTogether(
  context: HubContext, definition: StudyDefinition, studyId: string, held: HeldEpoch,
): Promise<void> {
  const { store, runner, slicing } = context;
  const { epoch } = held;
  if (slicing === undefined || !mayBeSliced(definition)) {
    return summarise(context, definition, studyId, held);
  }
  const { slices, people } = slicing;
  const count = slicesFor(await store.contributorCount(studyId, epoch), people);
  if (count === 1) return summarise(context, definition, studyId, held);
  await slices.split(studyId, epoch, count, planDigest(definition));
  await allSummarised(slicing, studyId, epoch, context.stopped);
  await runner.open(setupOf(studyId, definition, held));
  for (let slice = 0; slice < count; slice++) {
    await runner.merge(studyId, epoch, await slices.summary(studyId, epoch, slice));
  }
}

/** Waits until every slice has a summary. */
async function allSummarised(
  { slices, onNews }: Slicing, studyId: string, epoch: bigint, isOver: () => boolean,
): Promise<void> {
  let wake = (): void => {};
  const stop = onNews(() => wake());
  try {
    for (;;) {
      // News that come during the question are not missed.
      const news = new Promise<void>((resolve) => { wake = resolve; });
      const { count, hasFailed } = await slices.left(studyId, epoch);
      if (count === 0) return;
      if (hasFailed) throw new KeelsonError('internal', 'a slice of the epoch was claimed three '
        + 'times and never summarised');
      await news;
      if (isOver()) throw new StorageError('another server leads this study now', 'lease-lost');
    }
  } finally {
    stop();
  }
}

/**
 * Summarises a slice that this node has claimed.
 * @throws StorageError lease-lost when another node has claimed it meanwhile.
 */
export async function summariseSlice(
  context: HubContext, { slices }: Slicing, definition: StudyDefinition, claimed: ClaimedSlice,
): Promise<void> {
  const { store, runner } = context;
  const { studyId, epoch, slice, token } = claimed;
  const record = await store.epoch(studyId, epoch);
  if (record === null) return;
  // The runner may have the whole epoch already, if this node is late.
  const name = `${studyId}/${slice}/${token}`;
  const journal = { journal: (_study: string, _epoch: bigint, ...page: [bigint, number, number?]) =>
    slices.journal(claimed, ...page) };
  try {
    await addJournal(runner, { ...setupOf(name, definition, heldEpochOf(record)), isSlice: true },
      journalPages(journal, studyId, epoch));
    await slices.finish(claimed, await runner.encode(name, epoch));
  } finally {
    runner.drop(name, epoch);
  }
}
