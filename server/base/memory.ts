import { totalmem } from 'node:os';
import process from 'node:process';
import { getHeapStatistics } from 'node:v8';

/** The part of the memory that discovered groups may use. */
export const keyShare = 1 / 2;

/** Memory that this process may use, in bytes: the machine's, or that of its container. */
export function machineBytes(): number {
  const [most, all] = [process.constrainedMemory(), totalmem()];
  return most > 0 && most < all ? most : all;
}

/** The heap that a thread needs that may hold all contributions of all studies, in MiB. */
export function epochHeapMebibytes(): number {
  return Math.ceil(Math.max(getHeapStatistics().heap_size_limit, keyShare * machineBytes())
    / 2 ** 20);
}
