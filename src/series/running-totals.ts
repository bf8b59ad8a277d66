import { assert } from '../base/assert.js';
import { factorStep, rootColumn, runningColumn } from '../base/root-factor.js';

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

  /** Over all positions. */
  get total(): RunningTotal {
    return this.between(0, this.positions);
  }
}
