import { assert } from './assert.js';
import type { RunningRelease } from './outcome.js';
import { factorStep, rootColumn, runningColumn } from './root-factor.js';

/** A total over positions, and the standard deviation of its noise. */
export interface RunningTotal {
  readonly value: number;
  /** In units of the deviation of one release's noise. */
  readonly deviation: number;
}

/**
 * Reads the totals of one number from the releases of a running series: they are L C^-1 y, where
 * src/privacy/running/running-factor defines C and y. They are computed from published numbers, so
 * they cost no privacy. Noise of different totals is not independent; the deviations count that.
 */
export class RunningTotals {
  readonly #column: Float64Array;
  /** Each position's own value with its noise: C^-1 y. */
  readonly #values: number[] = [];

  /** @param band of the series: a value is in so many releases. */
  constructor(band: number) {
    this.#column = rootColumn(band);
  }

  /** Number of releases that it has read. */
  get positions(): number {
    return this.#values.length;
  }

  /** Takes the next release of the series, from position 0 on. Cost: O(band). */
  take(released: number): void {
    let rest = released / factorStep;
    const values = this.#values;
    for (let k = 1; k < this.#column.length && k <= values.length; k++) {
      rest -= this.#column[k]! * values[values.length - k]!;
    }
    values.push(rest / this.#column[0]!);
  }

  /**
   * The total of positions `from` up to and without `to`. Cost: O(to * band).
   * @param from 0 or more, and below `to`.
   * @param to at most `positions`.
   */
  between(from: number, to: number): RunningTotal {
    assert(from >= 0 && from < to && to <= this.positions, 'a total is over positions that exist');
    const value = this.#values.slice(from, to).reduce((sum, each) => sum + each, 0);
    // The noise of release j reaches the total up to `to` less the total up to `from`.
    const reach = runningColumn(this.#column, to);
    const variance = reach.reduce((sum, entry, k) => {
      const before = k < to - from ? 0 : reach[k - (to - from)]!;
      return sum + (entry - before) ** 2;
    }, 0);
    return { value, deviation: Math.sqrt(variance) };
  }

  /** The total over all positions. */
  get total(): RunningTotal {
    return this.between(0, this.positions);
  }
}

/**
 * The standard deviation of the noise in a total since the start of a series, in deviations of one
 * release's noise. Cost: O(positions * band).
 * @param band of the series. @param positions releases in the total, at least 1.
 */
export function runningDeviation(band: number, positions: number): number {
  return Math.hypot(...runningColumn(rootColumn(band), positions));
}

/**
 * Says in a sentence which epochs and people the estimate of a running total is about.
 * @param running - of a value.
 * @example
 * import { runningText } from 'keelson/client/words';
 * console.log(runningText({ position: 29, released: [12] }));
 */
export function runningText({ position }: RunningRelease): string {
  return position === 0 ? 'A total that begins with this epoch: no earlier one is in it.'
    : `The total of ${position + 1} epochs, up to this one.`;
}

/** The state that the releases of one question leave to the next one, encrypted. */
export interface EncryptedSeries {
  readonly question: string;
  readonly sealed: Uint8Array;
}

/** The state for reading the next release of a series. It follows from published numbers. */
export interface SeriesState {
  /** Releases of the series so far. */
  readonly position: number;
  /** The newest releases' numbers for their own epochs, newest first; at most separation - 1. */
  readonly recent: readonly Float64Array[];
  /** The totals over all epochs of the series. */
  readonly total: Float64Array;
}

/** The totals after a release, and the standard deviation of the noise of each of them. */
export interface SeriesTotals {
  readonly totals: Float64Array;
  /** In units of the deviation of one release's noise. */
  readonly deviation: number;
}

/**
 * Reads the totals of a series from its releases, as `RunningTotals` does for one number. The
 * aggregator and the verifier of a log compute the same totals from the same releases, to the last
 * bit: only sums, products, quotients and square roots are used, in one order.
 */
export class SeriesReader {
  readonly #column: Float64Array;
  #state: SeriesState;
  /** L C^-1: the part of each position's noise that is in the total. */
  readonly #reach: number[] = [];
  #variance = 0;

  /**
   * @param band of the series: a value is in so many releases.
   * @param entries numbers in an answer.
   * @param state of the series so far, as `state` returned it. Default: it begins.
   *   Cost: O(position * band).
   */
  constructor(band: number, entries: number, state?: SeriesState) {
    this.#column = rootColumn(band);
    this.#state = state ?? { position: 0, recent: [], total: new Float64Array(entries) };
    for (let i = 0; i < this.#state.position; i++) this.#extend();
  }

  get state(): SeriesState {
    return this.#state;
  }

  /** Takes the next release of the series. Cost: O(band * entries). */
  take(released: ArrayLike<number>): SeriesTotals {
    const column = this.#column;
    const { position, recent, total } = this.#state;
    assert(released.length === total.length, 'the releases of a series have one length');
    const own = Float64Array.from(released, (entry, i) => {
      let rest = entry / factorStep;
      recent.forEach((earlier, k) => { rest -= column[k + 1]! * earlier[i]!; });
      return rest / column[0]!;
    });
    const totals = total.map((sum, i) => sum + own[i]!);
    this.#state = {
      position: position + 1, recent: [own, ...recent].slice(0, column.length - 1), total: totals,
    };
    this.#extend();
    return { totals, deviation: Math.sqrt(this.#variance) };
  }

  /** One more entry of the first column of L C^-1; see runningColumn. */
  #extend(): void {
    const column = this.#column;
    const reach = this.#reach;
    let rest = 1 / factorStep;
    for (let k = 1; k < column.length && k <= reach.length; k++) {
      rest -= column[k]! * reach[reach.length - k]!;
    }
    const next = rest / column[0]!;
    reach.push(next);
    this.#variance += next ** 2;
  }
}
