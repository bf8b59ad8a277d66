/** One release of one number: its value and the standard deviation of its noise. */
export interface Measured {
  readonly epoch: number;
  /** Null where there is no answer, or none with known noise: a gap. */
  readonly value: number | null;
  /** Above 0 where there is a value. */
  readonly deviation: number;
}

/** Where the exact value is likely to be: normal, about `value`, with this standard deviation. */
export interface Level {
  readonly value: number;
  readonly deviation: number;
}

/** Above this step variance, smoothing does nothing unless the number jumps farther still. */
const farStep = 1e4;

/**
 * Step variances that are tried, in units of the variance of the first answer's noise: from 1e-6,
 * where a thousand releases are one flat line, to 1e4 in thirds of a decade. Those above it, up to
 * 1e16, are for numbers that jump by more than a hundred deviations of the noise.
 */
const candidates = Float64Array.from({ length: 43 }, (_, k) => 10 ** (k < 31 ? k / 3 - 6 : k - 26));

/**
 * The weight of a candidate before there is data. It is about that of a uniform gain, up to steps
 * as large as the noise, then flat up to `farStep`. Small steps look alike in a short log, and
 * without these weights they would outvote the others by their number. Beyond `farStep` it falls
 * with the square, so that a short log without far jumps does not count on them.
 */
const priorWeight = (step: number): number =>
  Math.sqrt(step / (1 + step)) * Math.min(1, farStep / step) ** 2;

/**
 * A local-level model of one number over epochs: the exact value moves by independent normal steps
 * of unknown variance, one for each epoch, and each release adds noise of known deviation.
 *
 * For each candidate of the step variance there is a Kalman filter. Its likelihood, times the
 * candidate's weight, is its share of the mixture; the level is the mean of the mixture and the
 * deviation counts that the step variance is not known. Nothing is known before the first answer.
 *
 * Everything here is computed from published numbers, so it costs no privacy.
 * Source: Harvey (1989), Forecasting, structural time series models and the Kalman filter;
 * Rauch, Tung and Striebel (1965) for `smoothedLevels`.
 */
export class LocalLevel {
  readonly #means: Float64Array;
  /** In units of the first noise variance, like the steps. */
  readonly #variances: Float64Array;
  readonly #logLikelihoods: Float64Array;
  /** The probability of each candidate, given the data; null until computed. The sum is 1. */
  #shares: Float64Array | null = null;
  #epoch = 0;
  #origin: Measured & { readonly value: number } | null = null;

  /** @param steps the candidates; one where the step variance is known. */
  constructor(private readonly steps: Float64Array = candidates) {
    this.#means = new Float64Array(steps.length);
    this.#variances = new Float64Array(steps.length);
    this.#logLikelihoods = new Float64Array(steps.length);
  }

  /**
   * Takes the next release. Its epoch is above the one before. Cost: O(1).
   * @returns what was then known of the exact value; null before the first answer.
   */
  take(next: Measured): Level | null {
    return this.advance(next) ? this.level(this.#means, this.#variances) : null;
  }

  /**
   * The same without the level, which takes most of the time.
   * @returns false before the first answer.
   */
  advance({ epoch, value, deviation }: Measured): boolean {
    this.#shares = null;
    if (this.#origin === null) {
      if (value === null) return false;
      this.#origin = { epoch, value, deviation };
      this.#variances.fill(1);
    } else {
      const noise = (deviation / this.#origin.deviation) ** 2;
      const measured = value === null ? null : this.#inUnits(value);
      for (let k = 0; k < this.steps.length; k++) {
        this.#variances[k]! += this.steps[k]! * (epoch - this.#epoch);
        if (measured !== null) this.#update(k, measured, noise);
      }
    }
    this.#epoch = epoch;
    return true;
  }

  #inUnits(value: number): number {
    return (value - this.#origin!.value) / this.#origin!.deviation;
  }

  #update(k: number, measured: number, noise: number): void {
    const [before, miss] = [this.#variances[k]!, measured - this.#means[k]!];
    const sum = before + noise;
    this.#logLikelihoods[k]! -= (Math.log(sum) + miss * miss / sum) / 2;
    this.#means[k]! += before / sum * miss;
    this.#variances[k] = before * (noise / sum);
  }

  /** The mixture of one normal for each candidate, in the number's own units. */
  level(means: Float64Array, variances: Float64Array): Level {
    const shares = this.#sharesNow();
    const mean = dot(shares, means);
    let variance = 0;
    for (let k = 0; k < shares.length; k++) {
      variance += shares[k]! * (variances[k]! + (means[k]! - mean) ** 2);
    }
    const { value, deviation } = this.#origin!;
    return { value: value + mean * deviation, deviation: Math.sqrt(variance) * deviation };
  }

  /** The likely size of a step from one epoch to the next; null before the first answer. */
  get stepDeviation(): number | null {
    return this.#origin === null
      ? null : Math.sqrt(dot(this.#sharesNow(), this.steps)) * this.#origin.deviation;
  }

  #sharesNow(): Float64Array {
    if (this.#shares !== null) return this.#shares;
    const most = this.#logLikelihoods.reduce((left, right) => Math.max(left, right));
    const weights = this.steps.map((step, k) =>
      priorWeight(step) * Math.exp(this.#logLikelihoods[k]! - most));
    const total = weights.reduce((sum, weight) => sum + weight);
    return this.#shares = weights.map((weight) => weight / total);
  }

  /** The filter's state, for `smoothedLevels`. */
  state(): { readonly means: Float64Array; readonly variances: Float64Array } {
    return { means: this.#means.slice(), variances: this.#variances.slice() };
  }
}

/**
 * Estimates the exact value at each release from all of them together: later ones correct earlier
 * ones. Null before the first answer. Cost: O(releases) in time and memory.
 * @param series ascending in epochs.
 */
export function smoothedLevels(
  series: readonly Measured[], steps = candidates,
): readonly (Level | null)[] {
  const filter = new LocalLevel(steps);
  const states = series.map((each) => (filter.advance(each) ? filter.state() : null));
  const levels: (Level | null)[] = series.map(() => null);
  let later = states.at(-1) ?? null;
  for (let i = series.length - 1; i >= 0; i--) {
    const state = states[i]!;
    if (state === null || later === null) break;
    if (i < series.length - 1) {
      stepBack(state, later, steps, series[i + 1]!.epoch - series[i]!.epoch);
    }
    levels[i] = filter.level(state.means, state.variances);
    later = state;
  }
  return levels;
}

type State = ReturnType<LocalLevel['state']>;

/** Makes a filtered state the smoothed one, given the smoothed state after it. */
function stepBack(
  { means, variances }: State, later: State, steps: Float64Array, epochs: number,
): void {
  for (let k = 0; k < steps.length; k++) {
    const predicted = variances[k]! + steps[k]! * epochs;
    const gain = variances[k]! / predicted;
    means[k]! += gain * (later.means[k]! - means[k]!);
    // The same as variance + gain^2 (later - predicted), without taking near numbers apart.
    variances[k] = variances[k]! * (1 - gain) + gain * gain * later.variances[k]!;
  }
}

function dot(left: Float64Array, right: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < left.length; k++) sum += left[k]! * right[k]!;
  return sum;
}
