import { normalDensity } from '../../../numerics/normal.js';
import type { Piece } from './pieces.js';

/**
 * The distribution of a privacy loss under P on the grid step * Z, and the mass at which Q has
 * none. Discretisation here moves mass only in ways that make (P, Q) easier to distinguish.
 */
export interface Loss {
  readonly step: number;
  /** masses[i] is the mass of the loss (low + i) step. */
  readonly low: number;
  readonly masses: Float64Array;
  readonly infinity: number;
}

/**
 * Covers rounding and the error of the quadrature: below 1e-11 of the mass, even 11 standard
 * deviations out.
 */
const upwards = 1 + 2 ** -36;
/**
 * A split atom moves this extra share to its upper neighbour: more than the rounding error of the
 * share.
 */
const splitAllowance = 2 ** -30;
/**
 * Range of Gaussian losses, in standard deviations. Mass above it counts as revealing everything,
 * mass below it as being at the bound.
 */
const reach = 11;
const beyondReach = 2e-28;

const nodes = [
  0, 0.5384693101056831, -0.5384693101056831, 0.906179845938664, -0.906179845938664,
] as const;
const weights = [
  128 / 225, 0.47862867049936647, 0.47862867049936647, 0.23692688505618908, 0.23692688505618908,
] as const;

/**
 * Collects atoms and densities on a grid. An atom between two grid points is split between them, so
 * that its mass under P and its mass under Q = e^-loss P are both kept. The old pair is then a
 * randomised function of the new pair ("connect the dots": Doroshenko, Ghazi, Kamath, Kumar,
 * Manurangsi 2022). Rounding up would instead cost half a step each time.
 */
class LossBuilder {
  readonly #low: number;
  readonly #masses: Float64Array;
  #infinity = 0;

  constructor(private readonly step: number, from: number, to: number) {
    this.#low = Math.floor(from / step) - 1;
    this.#masses = new Float64Array(Math.ceil(to / step) - this.#low + 3);
  }

  atom(loss: number, mass: number): void {
    const cell = Math.floor(loss / this.step);
    const share = Math.expm1(cell * this.step - loss) / Math.expm1(-this.step) + splitAllowance;
    const upper = mass * upwards * Math.min(1, Math.max(0, share));
    this.#masses[cell - this.#low]! += mass * upwards - upper;
    this.#masses[cell - this.#low + 1]! += upper;
  }

  /**
   * Adds mass with a density on [from, to] that is smooth at the scale `fine`, by five-point Gauss
   * rules between grid points.
   */
  density(at: (loss: number) => number, from: number, to: number, fine: number): void {
    for (let cell = Math.floor(from / this.step); cell * this.step < to; cell++) {
      const start = Math.max(from, cell * this.step);
      const end = Math.min(to, (cell + 1) * this.step);
      if (!(end > start)) continue;
      const parts = Math.ceil((end - start) / fine);
      const half = (end - start) / parts / 2;
      for (let part = 0; part < parts; part++) {
        const middle = start + (2 * part + 1) * half;
        nodes.forEach((node, k) => {
          const loss = middle + node * half;
          this.atom(loss, at(loss) * weights[k]! * half);
        });
      }
    }
  }

  infinite(mass: number): void {
    this.#infinity += mass * upwards;
  }

  finish(): Loss {
    return { step: this.step, low: this.#low, masses: this.#masses, infinity: this.#infinity };
  }
}

/** The loss of a piece on a grid. O(22 standard deviations / step) for Gaussian pieces. */
export function lossOfPiece(piece: Piece, step: number): Loss {
  switch (piece.kind) {
    case 'gaussian': return gaussianLoss(piece, step);
    case 'laplace': return laplaceLoss(piece, step);
    case 'bounded': {
      const { epsilon } = piece;
      const builder = new LossBuilder(step, -epsilon, epsilon);
      const over = -2 * Math.expm1(-epsilon);
      builder.density((loss) => Math.exp((loss - epsilon) / 2) / over, -epsilon, epsilon, 0.25);
      return builder.finish();
    }
  }
}

function gaussianLoss(
  { square, shift, delta }: Extract<Piece, { kind: 'gaussian' }>, step: number,
): Loss {
  const deviation = Math.sqrt(square);
  const middle = square / 2 + shift;
  const [from, to] = [middle - reach * deviation, middle + reach * deviation];
  const builder = new LossBuilder(step, from, to);
  const kept = 1 - delta;
  builder.density((loss) =>
    (kept * normalDensity((loss - middle) / deviation)) / deviation, from, to, deviation / 8);
  builder.atom(from, beyondReach);
  builder.infinite(delta + beyondReach);
  return builder.finish();
}

/**
 * Loss of Lap(0, 1) against Lap(epsilon, 1): epsilon with mass 1/2, -epsilon with mass e^-epsilon /
 * 2, and a smooth density between.
 */
function laplaceLoss({ epsilon, shift }: Extract<Piece, { kind: 'laplace' }>, step: number): Loss {
  const [from, to] = [shift - epsilon, shift + epsilon];
  const builder = new LossBuilder(step, from, to);
  builder.atom(to, 0.5);
  builder.atom(from, Math.exp(-epsilon) / 2);
  builder.density((loss) => Math.exp((loss - shift - epsilon) / 2) / 4, from, to, 0.25);
  return builder.finish();
}
