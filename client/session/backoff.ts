import type { ClientRuntime } from '../base/runtime.js';

/**
 * Waits that double up to a maximum. Jitter shortens them by up to half, so that many clients do
 * not return together.
 */
export class Backoff {
  private attempts = 0;

  constructor(
    private readonly runtime: Pick<ClientRuntime, 'fraction'>,
    private readonly initialMs: number,
    private readonly maxMs: number,
  ) {}

  /** Number of attempts since the last reset. */
  get attempt(): number {
    return this.attempts;
  }

  nextMs(): number {
    // 2^30 times any initial wait exceeds every maximum.
    const full = Math.min(this.maxMs, this.initialMs * 2 ** Math.min(this.attempts, 30));
    this.attempts += 1;
    return full * (1 - this.runtime.fraction() / 2);
  }

  reset(): void {
    this.attempts = 0;
  }
}
