import { ln } from '../../../base/elementary.js';
import { assert } from '../../../base/assert.js';
import { complexPower, transform, transformError } from './fft.js';
import type { Loss } from './loss.js';

/** A loss, and how many independent copies of it add up. */
export interface RepeatedLoss {
  readonly loss: Loss;
  readonly times: number;
}

const cellsMax = 2 ** 20;
/** Covers the relative rounding errors of all exponentials, logarithms and sums below. */
const upwards = 1 + 2 ** -30;

/**
 * The sum of many losses.
 *
 * Claim: `delta` and `epsilon` are never below those of the composed pair of the losses given.
 *
 * How: the masses are weighted by e^(tilt loss) and normalised (Esscher's transform), convolved
 * through the Fourier transform, and weighted back. The tilt moves the mean of the sum close to the
 * epsilon of interest. So the part of the distribution that decides delta is its bulk, and rounding
 * is small relative to delta itself. Everything that could make the answer too small is added to
 * it:
 * - Mass whose loss is above the window: at most e^(-t high) E[e^(t loss)] for every t >= 0
 *   (Chernoff's bound). Mass below the window reappears at its upper end, which only adds.
 * - Rounding: let g be the error bound of one transform (fft.ts) and x_i the spectra. At one
 *   frequency, the error of the product is at most the product of (|x_i| + g)^n_i times the sum of
 *   n_i (g / (|x_i| + g) + 2^-49). The Euclidean norm of these errors over the frequencies bounds
 *   the sum of the absolute errors of all cells (Cauchy and Schwarz). The inverse transform adds g
 *   times the sum of |product|. An error at loss l has weight e^(-tilt l) (1 - e^(epsilon - l)) in
 *   delta, at most e^(-tilt epsilon) / (1 + tilt).
 */
export class ComposedLoss {
  readonly #parts: readonly RepeatedLoss[];
  readonly #step: number;
  /** Probability that some part reveals everything. */
  readonly infinity: number;
  readonly #mean: number;
  readonly #most: number;
  readonly #deviation: number;

  /** @param parts - on one grid; `times` is an integer of at least 1. */
  constructor(parts: readonly RepeatedLoss[]) {
    assert(parts.length > 0, 'a composition has a part');
    this.#parts = parts;
    this.#step = parts[0]!.loss.step;
    let [kept, mean, variance, most] = [0, 0, 0, 0];
    for (const { loss, times } of parts) {
      assert(loss.step === this.#step && times >= 1, 'composed losses share a grid');
      kept += times * Math.log1p(-loss.infinity);
      const own = tilted(loss, 0);
      mean += times * own.mean;
      variance += times * own.variance;
      most += times * (loss.low + loss.masses.length) * loss.step;
    }
    this.infinity = -Math.expm1(kept) * upwards;
    this.#mean = mean;
    this.#most = most;
    this.#deviation = Math.sqrt(variance);
  }

  /** An upper bound on delta at `epsilon` >= 0; between 0 and 1. */
  delta(epsilon: number): number {
    if (epsilon >= this.#most) return Math.min(1, this.infinity);
    const tilt = epsilon <= this.#mean
      ? 0 : this.#tiltWith((at) => this.#cumulant(at).mean >= epsilon);
    return Math.min(1, this.#windowAt(tilt).delta(epsilon) + this.infinity);
  }

  /**
   * The smallest epsilon >= 0 whose `delta` is at most this, rounded up; Infinity if there is none.
   */
  epsilon(delta: number): number {
    const left = delta - this.infinity;
    if (!(left > 0)) return Infinity;
    // If Chernoff's bound on the tail is smallest at some tilt, the mean under it is close to the
    // wanted epsilon.
    const wanted = -ln(left);
    const tilt = this.#tiltWith((at) => {
      const { mean, logarithm } = this.#cumulant(at);
      return at * mean - logarithm >= wanted;
    });
    const window = this.#windowAt(tilt);
    const enough = (epsilon: number): boolean => window.delta(epsilon) <= left;
    let low = Math.max(0, window.low);
    let high = Math.max(low, this.#most);
    if (enough(low)) return low;
    if (!enough(high)) return Infinity;
    for (let round = 0; round < 60 && high - low > 1e-9 * high; round++) {
      const middle = (low + high) / 2;
      if (enough(middle)) high = middle;
      else low = middle;
    }
    return high;
  }

  /**
   * Roughly the smallest tilt that passes; the largest one tried if none does. Every tilt gives a
   * valid bound.
   */
  #tiltWith(passes: (tilt: number) => boolean): number {
    let [low, high] = [0, 1 / this.#deviation];
    for (let doubling = 0; doubling < 40 && !passes(high) && high * this.#step < 16;
        doubling++) [low, high] = [high, 2 * high];
    for (let round = 0; round < 30; round++) {
      const middle = (low + high) / 2;
      if (passes(middle)) high = middle;
      else low = middle;
    }
    return high;
  }

  /**
   * log E[e^(tilt loss)] of the finite part of the sum, and its mean and variance under the tilt.
   */
  #cumulant(tilt: number): {
    readonly logarithm: number; readonly mean: number; readonly variance: number;
  } {
    let [logarithm, mean, variance] = [0, 0, 0];
    for (const { loss, times } of this.#parts) {
      const own = tilted(loss, tilt);
      logarithm += times * own.logarithm;
      mean += times * own.mean;
      variance += times * own.variance;
    }
    return { logarithm, mean, variance };
  }

  #windowAt(tilt: number): Window {
    const { logarithm, mean, variance } = this.#cumulant(tilt);
    const width = 28 * Math.max(Math.sqrt(variance), 2 * this.#step);
    let size = 64;
    while (size * this.#step < width && size < cellsMax) size *= 2;
    const first = Math.round(mean / this.#step) - size / 2;
    const high = (first + size - 1) * this.#step;
    let above = Infinity;
    for (const factor of [1.05, 1.2, 1.5, 2, 3, 5]) {
      const steeper = Math.max(tilt * factor, tilt + (10 * (factor - 1)) / this.#deviation);
      above =
        Math.min(above, Math.exp(this.#cumulant(steeper).logarithm - steeper * high) * upwards);
    }
    return new Window(
      this.#step, first, convolved(this.#parts, tilt, size), { tilt, logarithm, above },
    );
  }
}

interface Tilt {
  readonly tilt: number;
  readonly logarithm: number;
  /** Bound on the mass above the window, without the tilt. */
  readonly above: number;
}

/** The tilted masses of the sum in a window of losses. */
class Window {
  readonly low: number;
  readonly #masses: Float64Array;
  readonly #error: number;

  constructor(
    private readonly step: number,
    private readonly first: number,
    { masses, error }: Convolved,
    private readonly tilt: Tilt,
  ) {
    const size = masses.length;
    this.low = first * step;
    // The convolution is circular: cell k holds the loss of the window that equals k modulo its
    // size.
    const offset = ((first % size) + size) % size;
    this.#masses =
      Float64Array.from({ length: size }, (_, k) => Math.max(0, masses[(k + offset) % size]!));
    this.#error = error;
  }

  delta(epsilon: number): number {
    const { tilt, logarithm, above } = this.tilt;
    let sum = 0;
    for (let k = Math.max(0, Math.floor(epsilon / this.step) - this.first);
        k < this.#masses.length; k++) {
      const loss = (this.first + k) * this.step;
      const mass = this.#masses[k]!;
      if (loss > epsilon && mass > 0) {
        sum -= mass * Math.exp(logarithm - tilt * loss) * Math.expm1(epsilon - loss);
      }
    }
    const rounding = (Math.exp(logarithm - tilt * epsilon) * this.#error) / (1 + tilt);
    return (sum + rounding + above) * upwards;
  }
}

/**
 * log of the tilted finite mass, and the mean and variance of the loss under the tilt. O(cells).
 */
function tilted({ low, masses, step }: Loss, tilt: number): {
  readonly logarithm: number; readonly mean: number; readonly variance: number;
  readonly top: number;
} {
  let top = -Infinity;
  for (let i = 0; i < masses.length; i++) {
    if (masses[i]! > 0) top = Math.max(top, ln(masses[i]!) + tilt * (low + i) * step);
  }
  let [sum, first, second] = [0, 0, 0];
  for (let i = 0; i < masses.length; i++) {
    if (masses[i] === 0) continue;
    const loss = (low + i) * step;
    const weight = masses[i]! * Math.exp(tilt * loss - top);
    sum += weight;
    first += weight * loss;
    second += weight * loss * loss;
  }
  const mean = first / sum;
  return {
    logarithm: ln(sum) + top, mean, variance: Math.max(0, second / sum - mean * mean), top,
  };
}

interface Convolved {
  readonly masses: Float64Array;
  /** Bound on the sum of the absolute errors of all cells. */
  readonly error: number;
}

/**
 * The circular convolution of all copies of the tilted, normalised masses. O(parts size log size).
 */
function convolved(parts: readonly RepeatedLoss[], tilt: number, size: number): Convolved {
  const product = { real: new Float64Array(size).fill(1), imaginary: new Float64Array(size) };
  /** Per frequency: log of the product of |x| + g, and the sum of relative errors. */
  const logarithms = new Float64Array(size);
  const errors = new Float64Array(size);
  const g = transformError(size);
  for (const { loss, times } of parts) {
    const spectrum = spectrumOf(loss, tilt, size);
    for (let k = 0; k < size; k++) {
      const [a, b] = complexPower(spectrum.real[k]!, spectrum.imaginary[k]!, times);
      const [x, y] = [product.real[k]!, product.imaginary[k]!];
      product.real[k] = x * a - y * b;
      product.imaginary[k] = x * b + y * a;
      const size = Math.hypot(spectrum.real[k]!, spectrum.imaginary[k]!) + g;
      logarithms[k]! += times * ln(size);
      errors[k]! += times * (g / size + 2 ** -49);
    }
  }
  let [squares, flow] = [0, 0];
  for (let k = 0; k < size; k++) {
    squares += (Math.exp(logarithms[k]!) * errors[k]!) ** 2;
    flow += Math.hypot(product.real[k]!, product.imaginary[k]!);
  }
  transform(product, true);
  const masses = product.real.map((entry) => entry / size);
  return { masses, error: (Math.sqrt(squares) + g * flow) * upwards };
}

function spectrumOf(
  loss: Loss, tilt: number, size: number,
): { readonly real: Float64Array; readonly imaginary: Float64Array } {
  const real = new Float64Array(size);
  const { logarithm } = tilted(loss, tilt);
  const start = ((loss.low % size) + size) % size;
  for (let i = 0; i < loss.masses.length; i++) {
    const mass = loss.masses[i]!;
    if (mass > 0) {
      real[(start + i) % size]! += mass * Math.exp(tilt * (loss.low + i) * loss.step - logarithm);
    }
  }
  const spectrum = { real, imaginary: new Float64Array(size) };
  transform(spectrum);
  return spectrum;
}
