import { readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/**
 * Nice increments for background threads. Folding rows has the smaller one: it keeps the queue of
 * rows short, and clients notice a long queue. Each step lowers a thread's share by a fifth. A few
 * steps are enough to let acks go first. Many steps would starve releases on a machine that other
 * processes keep busy.
 */
export const niceness = { folding: 2, passes: 5 } as const;

/** The largest nice value of the system. */
const lowest = 19;

/**
 * Lowers the calling thread's priority, so that threads which answer clients run first when cores
 * are scarce. Only Linux has a priority for each thread. Elsewhere, and when the system refuses,
 * nothing changes. No result depends on it.
 * @param steps - added to the thread's nice value, whose maximum is 19.
 * @returns whether the priority was lowered.
 */
export function standBack(steps: number): boolean {
  try {
    // The system resolves the link for the reading thread: <process>/task/<thread>.
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    if (!Number.isInteger(thread) || thread <= 0) return false;
    setPriority(thread, Math.min(lowest, getPriority(thread) + steps));
    return true;
  } catch {
    return false;
  }
}
