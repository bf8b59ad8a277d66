import { signing } from '#signing';
import type { EpochSetup } from '../../epochs/contract.js';
import type { EpochRecord, OpenEpoch, OpenEpochResult, Store } from '../../store/contract.js';
import type { StudyDefinition } from '../definition.js';
import type { EpochTimes } from './schedule.js';

/** An epoch of this process that is open, or closed and not yet released. */
export interface HeldEpoch extends Omit<EpochRecord,
  'studyId' | 'rowsMax' | 'state' | 'recoveries'> {
  /** Number of complete contributions. An epoch that closes on a count closes by it. */
  complete: number;
  /**
   * A contributor took rows back, or tried to. The summaries are then rebuilt from the journal
   * before the release.
   */
  withdrawn: boolean;
}

/** A new epoch. Its assignment key is new and secret, so no contributor can choose its group. */
export function freshEpoch(
  definition: StudyDefinition, epoch: bigint, times: EpochTimes,
): HeldEpoch {
  return {
    epoch, ...times, ...definition.charge, assignmentKey: signing.randomBytes(32),
    workSeed: signing.randomBytes(32), complete: 0, withdrawn: false,
  };
}

export function heldEpochOf(record: EpochRecord): HeldEpoch {
  const { epoch, opensAtMs, closesAtMs, rho, delta, pure, assignmentKey, workSeed } = record;
  return {
    epoch, opensAtMs, closesAtMs, rho, delta, pure, assignmentKey, workSeed, complete: 0,
    withdrawn: false,
  };
}

export function setupOf(studyId: string, definition: StudyDefinition, held: HeldEpoch): EpochSetup {
  const { document, target } = definition;
  return {
    studyId, epoch: held.epoch, document, target, assignmentKey: held.assignmentKey,
    workSeed: held.workSeed,
  };
}

/**
 * Closes `old` and opens `next` in the store, in one transaction where there are both.
 * @returns undefined when nothing was to be opened.
 */
export async function turnEpochs(
  store: Store, studyId: string, definition: StudyDefinition, old: HeldEpoch | null,
  next: HeldEpoch | null,
): Promise<OpenEpochResult | undefined> {
  const opening = next === null ? null : openingOf(studyId, definition, next);
  if (old === null) return opening === null ? undefined : store.openEpoch(opening);
  if (opening !== null) return store.turnEpoch(studyId, old.epoch, opening);
  await store.beginClose(studyId, old.epoch);
  return undefined;
}

function openingOf(
  studyId: string, definition: StudyDefinition, held: HeldEpoch,
): OpenEpoch {
  const { epoch, opensAtMs, closesAtMs, rho, delta, pure, assignmentKey, workSeed } = held;
  const { contribution, late } = definition.document;
  return {
    studyId, epoch, opensAtMs, closesAtMs, rho, delta, pure, assignmentKey, workSeed,
    rowsMax: contribution.rowsMax, late,
  };
}
