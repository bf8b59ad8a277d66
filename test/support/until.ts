import { setTimeout as sleep } from 'node:timers/promises';

/** Between two requests to a server, which answers 50 a second. */
export const requestPauseMs = 50;

/**
 * Waits until `condition` holds; the test's own timeout bounds it.
 * @param pauseMs - between two questions.
 */
export async function until(
  condition: () => boolean | Promise<boolean>, pauseMs = 2,
): Promise<void> {
  while (!await condition()) await sleep(pauseMs);
}

/** Wakes whoever waits for the next change of something. */
export class Changes {
  #wakers: (() => void)[] = [];

  tell(): void {
    for (const wake of this.#wakers.splice(0)) wake();
  }

  next(): Promise<void> {
    return new Promise((resolve) => this.#wakers.push(resolve));
  }
}
