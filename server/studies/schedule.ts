import type { StudyDocument } from '../../src/wire/study-document.js';

export interface EpochTimes {
  readonly opensAtMs: number;
  /** 0: the epoch closes on a count. */
  readonly closesAtMs: number;
}

/**
 * When the next epoch opens and closes. Epochs are contiguous, and their closes stay on the grid of the first one, so
 * that a timer that is late once does not shift all that follow. After a gap (a restart, a clock that jumped) a new
 * grid begins now. Nothing here depends on data.
 * @param previousCloseMs scheduled close of the epoch before; 0 when there was none.
 */
export function nextTimes(epoch: StudyDocument['epoch'], nowMs: number, previousCloseMs: number): EpochTimes {
  const opensAtMs = Math.round(nowMs);
  if (!('everyMs' in epoch)) return { opensAtMs, closesAtMs: 0 };
  const onGrid = previousCloseMs + epoch.everyMs;
  const continues = previousCloseMs > 0 && onGrid > opensAtMs && onGrid <= opensAtMs + epoch.everyMs;
  return { opensAtMs, closesAtMs: continues ? onGrid : opensAtMs + epoch.everyMs };
}

/**
 * The close that a release states. Scheduled; `nowMs` where the epoch closes on a count, or where a clock before 1970,
 * which has no place in a release, scheduled it.
 */
export function closeTime(closesAtMs: number, nowMs: number): number {
  return closesAtMs > 0 ? closesAtMs : nowMs;
}

/**
 * How long until an epoch closes. Never longer than its length: when the system's clock was set back, an epoch that was
 * open before the restart does not stay open for the difference.
 */
export function delayUntilClose(epoch: StudyDocument['epoch'], nowMs: number, closesAtMs: number): number {
  const lengthMs = 'everyMs' in epoch ? epoch.everyMs : 0;
  return Math.min(Math.max(closesAtMs - nowMs, 0), lengthMs);
}
