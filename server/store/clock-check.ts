import { KeelsonError } from '../../src/base/errors.js';
import { earliestTimeMs } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Store } from './contract.js';

const hourMs = 3_600_000;
/**
 * Most that the clock may be behind the newest time stamp: more than NTP corrects, less than a
 * wrong time zone.
 */
const behindMostMs = hourMs;
/**
 * Most that the clock may be ahead of the newest time stamp. A server may be off for months. Wrong
 * clocks are usually off by decades: an empty battery, a counter that wrapped, a mistyped year.
 */
const aheadMostMs = 366 * 24 * hourMs;

/**
 * Refuses to start with a clock that cannot be right, before anything gets a time stamp from it.
 * Also repairs the time stamps that an earlier wrong clock has left.
 *
 * A clock that is behind would keep budgets from renewing and rows from being deleted. A clock that
 * is ahead renews budgets too early and deletes rows too early. The folder alone cannot show
 * whether an earlier clock was ahead or this one is behind. So the operator states the time. A
 * statement changes nothing when the clock is wrong, and can be repeated without harm.
 * @param confirmedTimeMs the time that the operator stated; undefined when none was stated.
 * @throws KeelsonError('clock-implausible') when the clock is before 2020. With `confirmedTimeMs`:
 *   when the clock is more than an hour away from it. Without it: when the clock is more than an
 *   hour behind the newest time stamp of the folder, or more than 366 days ahead of it.
 */
export async function checkClock(
  store: Pick<Store, 'newestTime' | 'repairTimes'>, nowMs: number, logger: Logger,
  confirmedTimeMs?: number,
): Promise<void> {
  const refuse = (text: string, details: object = {}): never => {
    throw new KeelsonError(
      'clock-implausible', text, { details: { now: textOf(nowMs), ...details } },
    );
  };
  if (nowMs < earliestTimeMs) {
    refuse(`the clock says ${textOf(nowMs)}, and no server ran before ${textOf(earliestTimeMs)}; `
      + 'set the clock');
  }
  const isConfirmed = confirmedTimeMs !== undefined;
  if (isConfirmed && Math.abs(nowMs - confirmedTimeMs) > hourMs) {
    refuse(`the clock says ${textOf(nowMs)}, which is more than an hour from `
      + `${textOf(confirmedTimeMs)}; set the clock, or confirm the right `
      + 'time', { confirmed: textOf(confirmedTimeMs) });
  }
  const newestMs = await store.newestTime?.() ?? null;
  if (newestMs !== null && !isConfirmed
      && !(newestMs - behindMostMs <= nowMs && nowMs <= newestMs + aheadMostMs)) {
    const [side, most] = nowMs < newestMs ? ['behind', 'an hour'] : ['ahead of', '366 days'];
    refuse(`the clock says ${textOf(nowMs)}, more than ${most} ${side} the newest time stamp of `
      + `the data folder, ${textOf(newestMs)}; set the clock, or if it is right, start once with `
      + `--confirm-clock ${textOf(nowMs)}`,
    { newest: textOf(newestMs) });
  }
  const changed = await store.repairTimes?.(nowMs, isConfirmed) ?? 0;
  if (changed > 0) logger.warn(
    { changed, now: textOf(nowMs) }, 'time stamps of a wrong clock were set to the present',
  );
}

/** The format of `--confirm-clock`. */
function textOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
