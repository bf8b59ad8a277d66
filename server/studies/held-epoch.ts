import { signing } from '#signing';
import type { EpochSetup } from '../epochs/contract.js';
import type { EpochRecord, OpenEpoch } from '../store/contract.js';
import type { StudyDefinition } from './definition.js';
import type { EpochTimes } from './schedule.js';

/** An epoch of this process that is open, or closed and not yet released. */
export interface HeldEpoch extends Omit<OpenEpoch, 'studyId' | 'rowsMax' | 'late'> {
  /** Number of complete contributions. An epoch that closes on a count closes by it. */
  complete: number;
  /**
   * A contributor took rows back, or tried to. The summaries are then rebuilt from the journal
   * before the release.
   */
  withdrawn: boolean;
  /** What the discovered keys of its batches may take in a table, in bytes: see KeyRoom. */
  keyBytes: number;
}

/** A new epoch. Its assignment key is new and secret, so no contributor can choose its group. */
export function freshEpoch(
  definition: StudyDefinition, epoch: bigint, times: EpochTimes,
): HeldEpoch {
  const { rho, delta } = definition.charge;
  return {
    epoch, ...times, rho, delta, assignmentKey: signing.randomBytes(32),
    workSeed: signing.randomBytes(32), complete: 0, withdrawn: false,
    keyBytes: 0,
  };
}

export function heldEpochOf(record: EpochRecord): HeldEpoch {
  const { epoch, opensAtMs, closesAtMs, rho, delta, assignmentKey, workSeed } = record;
  return {
    epoch, opensAtMs, closesAtMs, rho, delta, assignmentKey, workSeed, complete: 0,
    withdrawn: false, keyBytes: 0,
  };
}

export function setupOf(studyId: string, definition: StudyDefinition, held: HeldEpoch): EpochSetup {
  const { document, target } = definition;
  return {
    studyId, epoch: held.epoch, document, target, assignmentKey: held.assignmentKey,
    workSeed: held.workSeed,
  };
}

export function openingOf(
  studyId: string, definition: StudyDefinition, held: HeldEpoch,
): OpenEpoch {
  const { epoch, opensAtMs, closesAtMs, rho, delta, assignmentKey, workSeed } = held;
  const { contribution, late } = definition.document;
  return {
    studyId, epoch, opensAtMs, closesAtMs, rho, delta, assignmentKey, workSeed,
    rowsMax: contribution.rowsMax, late,
  };
}
