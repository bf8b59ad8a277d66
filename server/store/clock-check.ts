import { KeelsonError } from '../../src/base/errors.js';
import { earliestTimeMs } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Store } from './contract.js';

const hourMs = 3_600_000;
/** How far the clock may be behind the newest time stamp. More than a correction by NTP; less than a wrong time zone. */
const behindMostMs = hourMs;
/**
 * How far the clock may be ahead of the newest time stamp: a server may stand still for months. Clocks that are wrong
 * are wrong by decades: an empty battery, a counter that wrapped, a mistyped year.
 */
const aheadMostMs = 366 * 24 * hourMs;

/**
 * Refuses to start by a clock that cannot be right, before anything is stamped with it, and repairs the time stamps
 * that one has left behind.
 *
 * A clock that is behind would hold budgets and retention back. One that is ahead gives renewing budgets back early and
 * deletes rows early. A folder that saw a clock ahead cannot be told from a clock that is behind now, so the operator
 * says what time it is: that moves nothing when the clock is wrong, and does no harm when it is said again.
 * @param confirmedTimeMs what time it is by the operator's own watch; undefined when it was not said.
 * @throws KeelsonError('clock-implausible') for a clock before 2020, or one that is not within an hour of
 *   `confirmedTimeMs`; without it for one that is more than an hour behind the newest time stamp of the folder, or
 *   more than 366 days ahead of it.
 */
export async function checkClock(
  store: Pick<Store, 'newestTime' | 'repairTimes'>, nowMs: number, logger: Logger, confirmedTimeMs?: number,
): Promise<void> {
  const refuse = (text: string, details: object = {}): never => {
    throw new KeelsonError('clock-implausible', text, { details: { now: textOf(nowMs), ...details } });
  };
  if (nowMs < earliestTimeMs) {
    refuse(`the clock says ${textOf(nowMs)}, and no server ran before ${textOf(earliestTimeMs)}; set the clock`);
  }
  const isConfirmed = confirmedTimeMs !== undefined;
  if (isConfirmed && Math.abs(nowMs - confirmedTimeMs) > hourMs) {
    refuse(`the clock says ${textOf(nowMs)}, which is more than an hour from ${textOf(confirmedTimeMs)}; set the clock, `
      + 'or confirm the right time', { confirmed: textOf(confirmedTimeMs) });
  }
  const newestMs = await store.newestTime?.() ?? null;
  if (newestMs !== null && !isConfirmed && !(newestMs - behindMostMs <= nowMs && nowMs <= newestMs + aheadMostMs)) {
    const [side, most] = nowMs < newestMs ? ['behind', 'an hour'] : ['ahead of', '366 days'];
    refuse(`the clock says ${textOf(nowMs)}, more than ${most} ${side} the newest time stamp of the data folder, `
      + `${textOf(newestMs)}; set the clock, or if it is right, start once with --confirm-clock ${textOf(nowMs)}`,
    { newest: textOf(newestMs) });
  }
  const changed = await store.repairTimes?.(nowMs, isConfirmed) ?? 0;
  if (changed > 0) logger.warn({ changed, now: textOf(nowMs) }, 'time stamps of a wrong clock were set to the present');
}

/** As `--confirm-clock` takes it. */
function textOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
