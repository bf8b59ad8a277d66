import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `condition` holds; the test's own timeout bounds it. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!await condition()) await sleep(2);
}
