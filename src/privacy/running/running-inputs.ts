import { assert } from '../../base/assert.js';
import { Sensitive } from '../../base/brands.js';
import { factorStep } from '../../base/root-factor.js';
import { bandFor, runningFactor, type RunningFactor } from './running-factor.js';

/**
 * The series of values behind a running total: what each release adds noise to.
 *
 * A series is a run of successive epochs that all have a release. An epoch that ends without one
 * ends the series: the next release begins a new one, which knows nothing of earlier values.
 *
 * Claim. The releases of all series together cost a contributor rho zCDP for each epoch that it is
 * in, where rho = |c|^2 D^2 / (2 sigma^2), if it is in at most one of any `separation` successive
 * epochs.
 * Proof. Within one series `bandFor` and `runningFactor` hold. An epoch's value belongs to one
 * series, since a new one begins without any. The noise of series is independent, so their costs
 * add up.
 *
 * The noise is not kept: it is drawn, used once and forgotten. Drawing again with the same noise
 * for another value would publish the difference of the values.
 */
export class RunningInputs {
  readonly factor: RunningFactor;
  #recent: Sensitive<readonly Float64Array[]>;

  /**
   * @param separation a contributor is in at most one of so many successive epochs; 2 or more.
   * @param entries numbers in the value of an epoch.
   * @param recent the values of the series' last epochs, newest first, as `recent` returned them;
   *   at most separation - 1. Default: none, a series begins.
   * @throws InvalidParameterError when the separation is out of range.
   */
  constructor(
    separation: number, private readonly entries: number,
    recent: Sensitive<readonly Float64Array[]> = Sensitive.of([]),
  ) {
    this.factor = runningFactor(bandFor(separation));
    this.#recent = recent;
  }

  /** The exact values that later releases still need, newest first. */
  get recent(): Sensitive<readonly Float64Array[]> {
    return this.#recent;
  }

  /**
   * The input of the next release, before noise: a multiple of 2^-20 in each entry.
   * Cost: O(separation * entries).
   * @param value of the epoch: whole numbers. One beyond `factor.valueMax` counts as that. This
   *   moves no two values farther apart, and does not throw, so it reveals nothing.
   */
  next(value: Sensitive<Float64Array>): Sensitive<Float64Array> {
    return joined(this.#recent, value, (recent, exact) => {
      const mixed = new Float64Array(this.entries);
      [this.#bounded(exact), ...recent].forEach((each, k) => {
        for (let i = 0; i < mixed.length; i++) mixed[i]! += this.factor.column[k]! * each[i]!;
      });
      return mixed.map((steps) => steps * factorStep);
    });
  }

  /** The release of this value is made: it is the newest of the series. */
  released(value: Sensitive<Float64Array>): void {
    this.#recent = joined(this.#recent, value, (recent, exact) =>
      [this.#bounded(exact), ...recent].slice(0, this.factor.band - 1));
  }

  #bounded(exact: Float64Array): Float64Array {
    assert(exact.length === this.entries, 'the value of an epoch has the entries of its series');
    assert(exact.every(Number.isInteger), 'the value of an epoch has whole numbers');
    const { valueMax } = this.factor;
    return exact.map((entry) => Math.max(-valueMax, Math.min(valueMax, entry)));
  }
}

function joined<A, B, C>(
  left: Sensitive<A>, right: Sensitive<B>, join: (left: A, right: B) => C,
): Sensitive<C> {
  return Sensitive.all<readonly [A, B]>([left, right]).map(([one, two]) => join(one, two));
}

/** A new series; parameters and errors are those of `RunningInputs`. */
export function runningInputs(separation: number, entries: number): RunningInputs {
  return new RunningInputs(separation, entries);
}
