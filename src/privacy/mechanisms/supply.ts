import type { RandomBits } from '../../random/bits.js';
import { gaussianSampler } from '../../random/samplers/discrete-gaussian.js';
import { discreteLaplace, type Steps } from '../../random/samplers/discrete-laplace.js';
import type { MechanismEvent } from '../accounting/events.js';
import { histogramTruncation } from './bounds.js';
import type { Draw } from './draw.js';
import { ratioInSteps, squareInSteps } from '../accounting/grid.js';
import { truncatedLaplaceSampler } from './truncated-laplace.js';

/** Occupied bins per coordinate for which noise is drawn ahead; a histogram with more draws the rest when asked. */
const binsAhead = 128;
const aheadMaximum = 2 ** 20;

/**
 * Noise of one event, drawn when it is asked for or ahead of that.
 *
 * Claim: whatever is drawn ahead, the values that `next` returns are independent draws of the sampler, each returned
 * once. They are made by the same calls of the sampler, earlier; a value that was handed out is wiped.
 *
 * Why ahead: the time of an exact draw depends a little on its size (random/samplers), so an onlooker who times a
 * release could learn something about its noise. Drawn ahead, the release adds numbers that are there already.
 */
export class NoiseSupply {
  readonly #waiting: Steps[] = [];
  #made = 0;
  #used = 0;

  /** @param ahead - values that are worth drawing before they are asked for. */
  constructor(
    private readonly bits: RandomBits,
    private readonly sample: (bits: RandomBits) => Steps,
    private readonly ahead: number,
  ) {}

  /** Draws at most `limit` of the values that should be there and are not; returns how many. */
  prepare(limit: number): number {
    const wanted = Math.max(0, Math.min(limit, this.ahead - this.#made));
    for (let i = 0; i < wanted; i++) this.#waiting.push(this.sample(this.bits));
    this.#made += wanted;
    return wanted;
  }

  readonly next: Draw = () => {
    if (this.#used === this.#waiting.length) return this.sample(this.bits);
    const value = this.#waiting[this.#used]!;
    this.#waiting[this.#used] = 0;
    this.#used += 1;
    return value;
  };
}

/**
 * The supplies of an event: one, but for a symmetric matrix, where the second is for entries off the diagonal; none
 * for a choice, whose coins depend on the scores, and for masks, whose normals take the same time whatever they are.
 */
export function suppliesOf(bits: RandomBits, event: MechanismEvent): readonly NoiseSupply[] {
  const supply = (sample: (bits: RandomBits) => Steps, ahead: number): NoiseSupply =>
    new NoiseSupply(bits, sample, Math.min(ahead, aheadMaximum));
  switch (event.kind) {
    case 'gaussian':
      return [supply(gaussianSampler(squareInSteps(event.sigma, event.grid)), event.dimension)];
    case 'symmetric-gaussian': {
      const { sigma, grid, dimension } = event;
      // sigma^2 / 2 is rational, so draws off the diagonal are exact although sigma / sqrt 2 is not a double.
      return [
        supply(gaussianSampler(squareInSteps(sigma, grid)), dimension),
        supply(gaussianSampler(squareInSteps(sigma, grid, 2n)), (dimension * (dimension - 1)) / 2),
      ];
    }
    case 'laplace': {
      const scale = ratioInSteps(event.scale, event.grid);
      return [supply((source) => discreteLaplace(source, scale), event.dimension)];
    }
    case 'truncated-laplace':
      return [supply(truncatedLaplaceSampler(event), event.dimension)];
    case 'laplace-threshold':
      return [supply(truncatedLaplaceSampler(event), 1)];
    case 'gaussian-threshold':
      return [supply(gaussianSampler(squareInSteps(event.sigma, event.grid)), 1)];
    case 'gaussian-histogram':
      return [supply(gaussianSampler(squareInSteps(event.sigma, event.grid)), binsAhead * event.coordinates)];
    case 'laplace-histogram':
      return [supply(truncatedLaplaceSampler(histogramTruncation(event)), binsAhead)];
    case 'exponential':
    case 'wishart-mask':
    case 'affine-mask':
      return [];
  }
}
