import { readFileSync } from 'node:fs';
import type { ListenerLimits } from '../network/options.js';

/**
 * Reserved for the process itself: the store's files, and threads that load code while clients
 * connect.
 */
const ownDescriptors = 512;

/**
 * The number of descriptors that this process may have open, sockets and files together. Node
 * raises its soft limit to the hard limit when it starts, so the hard limit counts.
 * @param limitsFile the system's table, of which one line is read.
 * @returns undefined when the system has no such table.
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
 * Lowers the limits to what the descriptors allow. Connections must not take the descriptors that
 * files need, because then the store, the threads and the whole server would fail. One address gets
 * at most three quarters of the rest.
 */
export function withinDescriptors(
  limits: ListenerLimits, descriptors: number | undefined,
): ListenerLimits {
  if (descriptors === undefined) return limits;
  const free = Math.max(1, descriptors - ownDescriptors, Math.floor(descriptors / 4));
  const httpConnections = Math.min(limits.httpConnections, Math.ceil(free / 4));
  const sockets = Math.min(limits.sockets, Math.max(1, free - httpConnections));
  const socketsPerAddress = Math.min(limits.socketsPerAddress, Math.ceil((sockets * 3) / 4));
  return { ...limits, httpConnections, sockets, socketsPerAddress };
}
