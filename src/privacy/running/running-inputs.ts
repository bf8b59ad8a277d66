import { assert } from '../../base/assert.js';
import { Sensitive } from '../../base/brands.js';
import { factorStep } from '../../base/root-factor.js';
import { bandFor, runningFactor, type RunningFactor } from './running-factor.js';

/** The exact values that later releases still need. */
interface Kept {
  /** Of the last band - 1 positions at most, newest first. */
  readonly recent: readonly Float64Array[];
  /** Of interrupted epochs since the last release, added up; null if there are none. */
  readonly folded: Float64Array | null;
}

/**
 * The series of values behind a running total: what each release adds noise to.
 *
 * Every epoch ends in `released` or in `interrupted`. An interrupted epoch was charged and has no
 * release; its value is added to the next one, so no total loses anybody. Where two of `separation`
 * successive epochs are interrupted, positions would come nearer than the band, and the series
 * begins again at position 0: earlier values and folded ones are forgotten.
 *
 * Claim. The releases of all series together cost a contributor rho zCDP for each epoch that it is
 * in, where rho = |c|^2 D^2 / (2 sigma^2), if it is in at most one of any `separation` successive
 * epochs.
 * Proof. Within one series `bandFor` and `runningFactor` hold: two interruptions in `separation`
 * successive epochs never belong to one series. An epoch's value belongs to one series at most,
 * since a new one begins without any. The noise of series is independent, so their costs add up.
 *
 * The noise is not kept: it is drawn, used once and forgotten. Drawing again with the same noise
 * for another value would publish the difference of the values.
 */
export class RunningInputs {
  readonly factor: RunningFactor;
  #kept: Sensitive<Kept>;
  #position = 0;
  /** Epochs since the last interrupted one of this series; Infinity if there was none. */
  #sinceInterrupted = Infinity;

  /**
   * @param separation a contributor is in at most one of so many successive epochs; 2 or more.
   * @param entries numbers in the value of an epoch.
   * @throws InvalidParameterError when the separation is out of range.
   */
  constructor(private readonly separation: number, private readonly entries: number) {
    this.factor = runningFactor(bandFor(separation));
    this.#kept = Sensitive.of<Kept>({ recent: [], folded: null });
  }

  /** The place of the next release in its series, from 0. */
  get position(): number {
    return this.#position;
  }

  /**
   * What the next release adds noise to: a multiple of 2^-20 in each entry.
   * Cost: O(band * entries).
   * @param value of the open epoch: whole numbers. One beyond `factor.valueMax` counts as that.
   *   This moves no two values farther apart, and does not throw, so it reveals nothing.
   */
  next(value: Sensitive<Float64Array>): Sensitive<Float64Array> {
    return joined(this.#kept, value, (kept, exact) => {
      const mixed = new Float64Array(this.entries);
      [this.#withFolded(kept.folded, exact), ...kept.recent].forEach((each, k) => {
        for (let i = 0; i < mixed.length; i++) mixed[i]! += this.factor.column[k]! * each[i]!;
      });
      return mixed.map((steps) => steps * factorStep);
    });
  }

  /** The release of this value is durable: it is the newest position. */
  released(value: Sensitive<Float64Array>): void {
    this.#kept = joined(this.#kept, value, (kept, exact) => ({
      recent: [this.#withFolded(kept.folded, exact), ...kept.recent].slice(0, this.factor.band - 1),
      folded: null,
    }));
    this.#position += 1;
    this.#sinceInterrupted += 1;
  }

  /**
   * The epoch was charged and has no release.
   * @returns whether the series begins again.
   */
  interrupted(value: Sensitive<Float64Array>): boolean {
    const restarts = this.#sinceInterrupted + 1 < this.separation;
    if (restarts) {
      this.#kept = Sensitive.of<Kept>({ recent: [], folded: null });
      this.#position = 0;
      this.#sinceInterrupted = Infinity;
      return true;
    }
    this.#kept = joined(this.#kept, value, (kept, exact) =>
      ({ ...kept, folded: this.#withFolded(kept.folded, exact) }));
    this.#sinceInterrupted = 0;
    return false;
  }

  #withFolded(folded: Float64Array | null, exact: Float64Array): Float64Array {
    assert(exact.length === this.entries, 'the value of an epoch has the entries of its series');
    assert(exact.every(Number.isInteger), 'the value of an epoch has whole numbers');
    const { valueMax } = this.factor;
    return exact.map((entry, i) =>
      Math.max(-valueMax, Math.min(valueMax, entry + (folded?.[i] ?? 0))));
  }
}

function joined<A, B, C>(
  left: Sensitive<A>, right: Sensitive<B>, join: (left: A, right: B) => C,
): Sensitive<C> {
  let result: C | undefined;
  left.map((one) => right.map((two) => { result = join(one, two); }));
  return Sensitive.of(result!);
}

/** A new series; parameters and errors are those of `RunningInputs`. */
export function runningInputs(separation: number, entries: number): RunningInputs {
  return new RunningInputs(separation, entries);
}
