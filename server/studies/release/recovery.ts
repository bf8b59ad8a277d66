import { fromHex } from '../../../src/base/bytes.js';
import { decodeBatchBody } from '../../../src/wire/index.js';
import type { AcceptedBatch, EpochRunner, EpochSetup } from '../../epochs/contract.js';
import type { EpochRecord, JournalEntry } from '../../store/contract.js';
import type { HubContext } from '../context.js';
import type { StudyDefinition } from '../definition.js';
import { heldEpochOf, setupOf, type HeldEpoch } from './held-epoch.js';
import { journalPages } from '../keep/journal-pages.js';
import { journalledRows } from '../keep/journal-rows.js';

/**
 * Most attempts to rebuild an epoch. Without a limit, an epoch that stops the server each time
 * would do so again and again.
 */
export const recoveriesMax = 2;

/**
 * Rebuilds an epoch's summaries from the journal, unless they are read at the release. Assignment
 * key, work seed and order are the same as the first time, so the summaries are too. It reads in
 * pages and waits for the runner after each, so memory does not grow with the epoch.
 * @throws StorageError when the journal cannot be read. Any other error means that this epoch
 *   cannot be rebuilt.
 */
export async function rebuildEpoch(
  context: HubContext,
  definition: StudyDefinition,
  studyId: string,
  record: EpochRecord,
): Promise<HeldEpoch> {
  const held = heldEpochOf(record);
  if (!context.readsJournal) await summarise(context, definition, studyId, held);
  return held;
}

/**
 * Opens the epoch in the runner and adds the journal to it, in pages.
 * @throws as rebuildEpoch.
 */
export async function summarise(
  context: HubContext, definition: StudyDefinition, studyId: string, held: HeldEpoch,
): Promise<void> {
  const { store, runner } = context;
  const pages = journalPages(store, studyId, held.epoch);
  held.complete = await addJournal(runner, setupOf(studyId, definition, held), pages);
}

/**
 * Opens an epoch in the runner and adds pages of its journal.
 * @returns the number of complete contributions.
 */
export async function addJournal(
  runner: EpochRunner, setup: EpochSetup, pages: AsyncIterable<readonly JournalEntry[]>,
): Promise<number> {
  const { studyId, epoch } = setup;
  await runner.open(setup);
  let complete = 0;
  for await (const page of pages) {
    runner.add(studyId, epoch, page.map((entry) => batchOfEntry(setup, entry)));
    complete += page.filter((entry) => entry.complete).length;
    await runner.progress(studyId, epoch);
  }
  return complete;
}

function batchOfEntry({ document }: EpochSetup, entry: JournalEntry): AcceptedBatch {
  const body = decodeBatchBody(entry.body);
  return {
    contributor: fromHex(entry.contributor),
    sequence: entry.sequence,
    ...journalledRows(body, document.types),
    rows: body.rows,
    complete: entry.complete,
  };
}
