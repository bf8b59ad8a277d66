import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/**
 * Where tests keep folders that are synced often: in memory where the system has such a folder. A
 * sync is then free. What is written there outlives a killed process, as it does on a disk.
 */
export const memoryFolder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
