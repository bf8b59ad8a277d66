import type { WorkRandom } from '../src/random/source.js';
import type { ClientRuntime } from '../client/base/runtime.js';

/** How often work is handed out. */
const tickMs = 20;

/**
 * Spreads one action per contributor over a window of time, in a fresh random order for each epoch. An action that
 * says "not now" is tried again at each tick, until the next epoch begins.
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
    /** False: not now. */
    private readonly act: (index: number) => boolean,
  ) {}

  /** Contributors whose turn has not come, or who could not take it. */
  get left(): number {
    return this.order.length - this.cursor + this.later.length;
  }

  /** Begins anew with `count` contributors. @returns how many of the round before were left over. */
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

  /** The round is over. @returns how many were left over. */
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

/** 0 to count - 1 in random order. */
function shuffled(count: number, random: WorkRandom): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random.uniform() * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}
