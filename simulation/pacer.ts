import type { WorkRandom } from '../src/random/source.js';
import type { ClientRuntime } from '../client/base/runtime.js';

/** Time between two steps of the work. */
const tickMs = 20;

/**
 * Spreads one action per contributor over a window of time, in a new random order for each epoch.
 * An action that returns false is tried again at each tick, until the next epoch begins.
 */
export class Pacer {
  private order: Uint32Array = new Uint32Array(0);
  private cursor = 0;
  private later: number[] = [];
  private startedMs = 0;
  private windowMs = 0;
  private cancel: (() => void) | null = null;

  constructor(
    private readonly runtime: ClientRuntime,
    /** Returns false when the contributor cannot act now. */
    private readonly act: (index: number) => boolean,
  ) {}

  /** Number of contributors that have not acted yet. */
  get left(): number {
    return this.order.length - this.cursor + this.later.length;
  }

  /**
   * Starts a round with `count` contributors. @returns how many did not act in the round before.
   */
  start(count: number, windowMs: number, random: WorkRandom): number {
    const leftOver = this.left;
    this.order = shuffled(count, random);
    this.cursor = 0;
    this.later = [];
    this.startedMs = this.runtime.nowMs();
    this.windowMs = windowMs;
    this.cancel?.();
    this.tick();
    return leftOver;
  }

  /** Ends the round. @returns how many did not act. */
  stop(): number {
    const leftOver = this.left;
    this.cancel?.();
    this.cancel = null;
    this.order = new Uint32Array(0);
    this.cursor = 0;
    this.later = [];
    return leftOver;
  }

  private tick(): void {
    const share = this.windowMs > 0 ? (this.runtime.nowMs() - this.startedMs) / this.windowMs : 1;
    const due = Math.min(this.order.length, Math.ceil(share * this.order.length));
    const again = this.later;
    this.later = [];
    for (const index of again) this.attempt(index);
    for (; this.cursor < due; this.cursor++) this.attempt(this.order[this.cursor]!);
    this.cancel = this.left > 0 ? this.runtime.after(tickMs, () => this.tick()) : null;
  }

  private attempt(index: number): void {
    if (!this.act(index)) this.later.push(index);
  }
}

/** The numbers 0 to count - 1 in random order. */
function shuffled(count: number, random: WorkRandom): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random.uniform() * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}
