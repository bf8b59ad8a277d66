import { readFileSync } from 'node:fs';
import type { ListenerLimits } from '../network/options.js';

/** Left to the process itself: the store's files, and threads that load their code while strangers connect. */
const ownDescriptors = 512;

/**
 * How many descriptors this process may have open, sockets and files together. Node raises its soft limit to the hard
 * one when it starts, so this is what counts.
 * @param limitsFile one line of the system's table is read. @returns undefined where the system has no such table.
 */
export function descriptorLimit(limitsFile = '/proc/self/limits'): number | undefined {
  let table: string;
  try {
    table = readFileSync(limitsFile, 'utf8');
  } catch {
    return undefined;
  }
  const soft = /^Max open files +(\d+) /m.exec(table)?.[1];
  return soft === undefined ? undefined : Number(soft);
}

/**
 * Limits that the process can keep: whoever connects must not take the descriptors that files need, or the store and
 * the threads fail, and with them the server. No single address gets more than three quarters of what is left.
 */
export function withinDescriptors(limits: ListenerLimits, descriptors: number | undefined): ListenerLimits {
  if (descriptors === undefined) return limits;
  const free = Math.max(1, descriptors - ownDescriptors, Math.floor(descriptors / 4));
  const httpConnections = Math.min(limits.httpConnections, Math.ceil(free / 4));
  const sockets = Math.min(limits.sockets, Math.max(1, free - httpConnections));
  const socketsPerAddress = Math.min(limits.socketsPerAddress, Math.ceil((sockets * 3) / 4));
  return { ...limits, httpConnections, sockets, socketsPerAddress };
}
