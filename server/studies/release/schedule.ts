import type { QuestionsPlan } from '../../../src/questions/plan.js';
import { workMs } from '../../../src/questions/release-time.js';
import type { StudyDocument } from '../../../src/wire/study-document.js';
import type { Clock } from '../../base/clock.js';

/*
 * The public times of a study: when epochs open and close, and when releases and their consequences
 * show. They depend on the study's facts, on the server's settings and on when the operator starts
 * it, as long as the work of a release fits its planned time (`Deadline`). If it does not fit, the
 * times reveal how often the planned time doubled.
 */

export interface EpochTimes {
  readonly opensAtMs: number;
  /** 0: the epoch closes on a count. */
  readonly closesAtMs: number;
}

/**
 * A timer may fire this much before its time by the wall clock, which is corrected all the time.
 */
export const earlyMs = 20;

/**
 * The times at which the next epoch opens and closes. It opens at the first planned time that is
 * now or less than an epoch ago, whenever the timer fired. So a late timer does not shift later
 * epochs, and nothing published reveals how late it was. After a gap (a restart, a clock that
 * jumped, releases that take longer than epochs) the epoch opens at the last tick.
 * @param plannedMs the scheduled close of the epoch before, the time at which a budget renews, or
 *   the start of the server; 0 where there was none.
 * @param tickMs period of the release ticks; 0 for none.
 */
export function nextTimes(
  epoch: StudyDocument['epoch'], nowMs: number, plannedMs: readonly number[], tickMs: number,
): EpochTimes {
  if (!('everyMs' in epoch)) return { opensAtMs: Math.round(nowMs), closesAtMs: 0 };
  const { everyMs } = epoch;
  const slackMs = Math.min(earlyMs, everyMs / 2);
  const planned = plannedMs.find((ms) => ms > 0 && ms <= nowMs + slackMs && nowMs < ms + everyMs);
  // With a tick longer than the epoch, the epoch would begin in the past.
  const opensAtMs = planned ?? lastTick(nowMs, Math.min(tickMs, everyMs));
  return { opensAtMs, closesAtMs: opensAtMs + everyMs };
}

/**
 * The close that a release states: the scheduled one. It is `fromMs` when the epoch closes on a
 * count, or when a clock before 1970 scheduled the close: a release cannot hold such a time.
 */
export function closeTime(closesAtMs: number, fromMs: number): number {
  return closesAtMs > 0 ? closesAtMs : fromMs;
}

/**
 * The time from which a release is planned and its charge counts: the scheduled close. It is
 * `fromMs` when the server came to the epoch later, or when a clock that was ahead had scheduled
 * the close: a charge from the future would keep a budget from renewing.
 */
export function dueTime(closedAtMs: number, fromMs: number, nowMs: number, tickMs: number): number {
  const isAhead = closedAtMs > nowMs + Math.max(tickMs, earlyMs);
  return isAhead ? fromMs : Math.max(fromMs, closedAtMs);
}

/**
 * The time until an epoch closes: at most its length. So an epoch that was open before a restart
 * does not stay open longer when the system's clock was set back.
 */
export function delayUntilClose(
  epoch: StudyDocument['epoch'], nowMs: number, closesAtMs: number,
): number {
  const lengthMs = 'everyMs' in epoch ? epoch.everyMs : 0;
  return Math.min(Math.max(closesAtMs - nowMs, 0), lengthMs);
}

/** The last multiple of `tickMs` up to now. Without a tick: the last whole millisecond. */
export function lastTick(nowMs: number, tickMs: number): number {
  return tickMs > 0 ? Math.floor(nowMs / tickMs) * tickMs : Math.round(nowMs);
}

/**
 * The planned duration of a release, a multiple of the tick: one tick, or the time for the bounds
 * on its work that the plan states. They fit half an epoch, or the study has no plan (see
 * lackOfTime). It depends on public numbers only.
 */
export function plannedDuration(work: QuestionsPlan['work'], tickMs: number): number {
  return tickMs === 0 ? 0 : tickMs * Math.max(1, Math.ceil(workMs(work) / tickMs));
}

/**
 * The time at which the result of some work shows. The work begins at a public time and has a
 * planned duration of one tick or more. If it fits, its result shows at the first tick after the
 * planned duration. If the work takes longer, the result shows after twice, four times, eight times
 * the planned duration, and so on. So the time of the result reveals only how often the planned
 * duration doubled, and nothing while the work fits.
 */
export class Deadline {
  readonly #beganAtMs: number;
  /** The beginning on the monotonic clock. It does not move when the wall clock jumps. */
  readonly #beganMs: number;

  /**
   * @param fromMs Unix time of the beginning, a public number.
   * @param tickMs a whole number of milliseconds; 0: results show when they are ready.
   * @param plannedMs a multiple of the tick; default: one.
   */
  constructor(
    private readonly clock: Clock, fromMs: number, private readonly tickMs: number,
    private readonly plannedMs = tickMs,
  ) {
    const nowMs = clock.nowMs();
    // A beginning later than the next tick: the wall clock was set back in between.
    const isAhead = fromMs > nowMs + Math.max(tickMs, earlyMs);
    this.#beganAtMs = isAhead ? lastTick(nowMs, tickMs) : fromMs;
    this.#beganMs = clock.monotonicMs() - (nowMs - this.#beganAtMs);
  }

  /** Call when the work is done: resolves when its result may show. */
  async reached(): Promise<Reached> {
    const tookMs = this.clock.monotonicMs() - this.#beganMs;
    if (this.tickMs === 0) return { atMs: Math.round(this.#beganAtMs + tookMs), fits: true };
    const toTickMs = Math.ceil(this.#beganAtMs / this.tickMs) * this.tickMs - this.#beganAtMs;
    let { plannedMs } = this;
    while (toTickMs + plannedMs < tookMs) plannedMs *= 2;
    const dueMs = toTickMs + plannedMs;
    await new Promise<void>((resolve) => { this.clock.after(dueMs - tookMs, resolve); });
    return { atMs: this.#beganAtMs + dueMs, fits: plannedMs === this.plannedMs };
  }
}

export interface Reached {
  /** Unix time, a multiple of the tick if there is one. */
  readonly atMs: number;
  /** True if the work fitted its planned time. */
  readonly fits: boolean;
}

/**
 * Closed epochs that may wait for their release. At this number, the open epoch is extended instead
 * of closed.
 */
const waitingMax = 2;
/** The same limit for studies in which each release decides which keys later epochs leave out. */
const waitingMaxExcluding = 1;

export function waitingMost({ quarantine }: Pick<StudyDocument, 'quarantine'>): number {
  return quarantine?.automatic === true ? waitingMaxExcluding : waitingMax;
}
