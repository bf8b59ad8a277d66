import { uniformBits } from '../../random/samplers/choice.js';
import type { Coins } from '../../random/samplers/coins.js';
import { gaussianSampler } from '../../random/samplers/discrete-gaussian.js';
import { discreteLaplace, type Steps } from '../../random/samplers/discrete-laplace.js';
import type { MechanismEvent } from '../accounting/events.js';
import type { KeysEvent } from './bounds.js';
import type { Draw } from './draw.js';
import { ratioInSteps, squareInSteps } from '../accounting/grid.js';

/**
 * Noise is drawn ahead for this many occupied bins per coordinate, and for this many keys for each
 * key that a contributor may have. A histogram draws the rest at the release.
 */
const binsAhead = 128;
const aheadMaximum = 2 ** 20;

/**
 * The noise of one event. Values are drawn ahead, or at the moment they are used.
 *
 * Claim: whatever is drawn ahead, `next` returns independent draws of the sampler, each of them
 * once. A value drawn ahead comes from the same call of the sampler, only earlier. It is wiped once
 * it is returned.
 *
 * Why ahead: the time of an exact draw depends a little on its size (random/samplers). An onlooker
 * who times a release could learn something about its noise. With values drawn ahead, a release
 * only adds numbers that exist already.
 */
export class NoiseSupply {
  readonly #waiting: Steps[] = [];
  #made = 0;
  #used = 0;

  /** @param ahead - how many values are worth drawing before they are used. */
  constructor(
    private readonly coins: Coins,
    private readonly sample: (coins: Coins) => Steps,
    private readonly ahead: number,
  ) {}

  /** Draws at most `limit` of the missing values. Returns how many it drew. */
  prepare(limit: number): number {
    const wanted = Math.max(0, Math.min(limit, this.ahead - this.#made));
    for (let i = 0; i < wanted; i++) this.#waiting.push(this.sample(this.coins));
    this.#made += wanted;
    return wanted;
  }

  readonly next: Draw = () => {
    if (this.#used === this.#waiting.length) return this.sample(this.coins);
    const value = this.#waiting[this.#used]!;
    this.#waiting[this.#used] = 0;
    this.#used += 1;
    return value;
  };
}

/** How many values are drawn ahead for an event that shows keys, for each of its supplies. */
export function keyDrawsAhead(event: KeysEvent): readonly number[] {
  const counts = binsAhead * event.groupsMax;
  return (event.kind === 'group-sums' ? [counts, counts * event.values] : [counts])
    .map((values) => Math.min(values, aheadMaximum));
}

/**
 * The supplies of an event. A symmetric matrix has two: the second is for entries off the diagonal.
 * Counts and sums of keys have two: the second is for the sums. A choice has uniform numbers, one
 * for each call: the next one is used, too, in the rare case that one does not decide. A mask has
 * none, because a normal number always takes the same time. Every other event has one.
 */
export function suppliesOf(coins: Coins, event: MechanismEvent): readonly NoiseSupply[] {
  const supply = (sample: (coins: Coins) => Steps, ahead: number): NoiseSupply =>
    new NoiseSupply(coins, sample, Math.min(ahead, aheadMaximum));
  switch (event.kind) {
    case 'gaussian':
      return [supply(gaussianSampler(squareInSteps(event.sigma, event.grid)), event.dimension)];
    case 'symmetric-gaussian': {
      const { sigma, grid, dimension } = event;
      // sigma^2 / 2 is rational, so draws off the diagonal are exact. sigma / sqrt 2 need not be a
      // double.
      return [
        supply(gaussianSampler(squareInSteps(sigma, grid)), dimension),
        supply(gaussianSampler(squareInSteps(sigma, grid, 2n)), (dimension * (dimension - 1)) / 2),
      ];
    }
    case 'laplace': {
      const scale = ratioInSteps(event.scale, event.grid);
      return [supply((source) => discreteLaplace(source, scale), event.dimension)];
    }
    case 'gaussian-threshold':
      return [supply(gaussianSampler(squareInSteps(event.sigma, event.grid)), 1)];
    case 'gaussian-histogram':
      return [supply(
        gaussianSampler(squareInSteps(event.sigma, event.grid)), binsAhead * event.coordinates,
      )];
    case 'group-histogram':
    case 'group-weights':
      return [supply(
        gaussianSampler(squareInSteps(event.sigma, event.grid)), keyDrawsAhead(event)[0]!,
      )];
    case 'group-sums': {
      const { sigma, grid, sumsSigma, sumsGrid } = event;
      const [counts, sums] = keyDrawsAhead(event);
      return [
        supply(gaussianSampler(squareInSteps(sigma, grid)), counts!),
        supply(gaussianSampler(squareInSteps(sumsSigma, sumsGrid)), sums!),
      ];
    }
    case 'exponential':
      return [supply((source) => source.belowBig(1n << BigInt(uniformBits)), event.times)];
    case 'wishart-mask':
    case 'affine-mask':
      return [];
  }
}
