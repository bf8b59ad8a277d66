import { readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/**
 * How far work that nobody waits for stands back, in steps of the system's niceness. Folding rows stands back less than
 * passes of a release: it keeps the queue of rows short, which clients do feel. Each step is a fifth of the share less: few of
 * them let acks go first, and many would starve releases on a machine that other processes keep busy.
 */
export const niceness = { folding: 2, passes: 5 } as const;

/** Of what the system knows. */
const lowest = 19;

/**
 * Lowers the calling thread's priority, so that threads which answer clients run first wherever cores are scarce. A
 * thread has a priority of its own on Linux alone; elsewhere, and where the system refuses, nothing changes: it is a
 * courtesy, on which no result depends.
 * @param steps - above the thread's niceness so far; 19 is the most there is.
 * @returns whether the priority was lowered.
 */
export function standBack(steps: number): boolean {
  try {
    // The link is resolved for the thread that reads it: <process>/task/<thread>.
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    if (!Number.isInteger(thread) || thread <= 0) return false;
    setPriority(thread, Math.min(lowest, getPriority(thread) + steps));
    return true;
  } catch {
    return false;
  }
}
