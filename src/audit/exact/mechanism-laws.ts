import { assert } from '../../base/assert.js';
import type { MechanismEvent } from '../../privacy/accounting/events.js';
import { ratioInSteps, squareInSteps } from '../../privacy/accounting/grid.js';
import type { FoundKeys } from '../../privacy/mechanisms/contract.js';
import { drawExponential } from '../../privacy/mechanisms/exponential.js';
import { drawGaussian } from '../../privacy/mechanisms/gaussian.js';
import { drawHistogram } from '../../privacy/mechanisms/histogram.js';
import { drawKeyHistogram } from '../../privacy/mechanisms/key-histogram.js';
import { drawKeySums } from '../../privacy/mechanisms/key-sums.js';
import { drawKeyWeights } from '../../privacy/mechanisms/key-weights.js';
import { drawLaplace } from '../../privacy/mechanisms/laplace.js';
import { drawMode } from '../../privacy/mechanisms/mode.js';
import { drawSymmetricGaussian } from '../../privacy/mechanisms/symmetric-gaussian.js';
import { drawThreshold } from '../../privacy/mechanisms/threshold.js';
import type { Draw } from '../../privacy/mechanisms/draw.js';
import type { Steps } from '../../random/samplers/discrete-laplace.js';
import type { Interval } from './interval.js';
import type { Law } from './law.js';
import { gaussianNoise, laplaceNoise } from './noise.js';
import { walk } from './walk.js';

/** The content that a mechanism is given. */
export type Content =
  | Float64Array
  | number
  | readonly string[]
  | readonly ReadonlyMap<number, number>[]
  | {
    readonly counts: readonly number[]; readonly keys: FoundKeys;
    /** For `key-sums`: the sums of each place. */
    readonly sums?: readonly (readonly number[])[];
  };

/**
 * The laws of the noise that an event draws, one for each supply of mechanisms/supply. Empty for an
 * event whose draws depend on its content.
 */
export function noiseOf(event: MechanismEvent): readonly Law<Steps>[] {
  switch (event.kind) {
    case 'laplace':
      return [laplaceNoise(ratioInSteps(event.scale, event.grid))];
    case 'symmetric-gaussian':
      return [1n, 2n].map((divisor) =>
        gaussianNoise(squareInSteps(event.sigma, event.grid, divisor)));
    case 'gaussian':
    case 'gaussian-threshold':
    case 'gaussian-histogram':
    case 'key-histogram':
    case 'key-weights':
      return [gaussianNoise(squareInSteps(event.sigma, event.grid))];
    case 'key-sums':
      return [
        gaussianNoise(squareInSteps(event.sigma, event.grid)),
        gaussianNoise(squareInSteps(event.sumsSigma, event.sumsGrid)),
      ];
    case 'exponential':
    case 'wishart-mask':
    case 'affine-mask':
      return [];
  }
}

/**
 * The law of what a mechanism releases, given its content.
 *
 * The outputs are those of the shipped draw function: it runs once for each combination of noise
 * values. Noise has the law that the samplers were shown to have (test/audit/exact/walk.test.ts).
 * An exponential mechanism takes its coins from the walk itself.
 * @param noise - from `noiseOf`, so that many contents share it.
 * @param pathMinimum - combinations of noise that are less likely are cut.
 * Cost: one call of the draw function for each combination.
 * @throws for masks: their law is not discrete.
 */
export function lawOfCall(
  event: MechanismEvent, content: Content, noise: readonly Law<Steps>[], pathMinimum?: Interval,
): Law {
  return walk((coins): unknown => {
    const draw = (place: number): Draw => () => coins.outcomeOf(noise[place]!);
    switch (event.kind) {
      case 'gaussian':
        return drawGaussian(draw(0), event, content as Float64Array);
      case 'symmetric-gaussian':
        return drawSymmetricGaussian(draw(0), draw(1), event, content as Float64Array);
      case 'laplace':
        return drawLaplace(draw(0), event, content as Float64Array);
      case 'gaussian-threshold':
        return typeof content === 'number' ? drawThreshold(draw(0), event, content)
          : drawMode(draw(0), event, content as readonly string[]);
      case 'gaussian-histogram':
        return drawHistogram(draw(0), event, content as readonly ReadonlyMap<number, number>[]);
      case 'key-histogram': {
        const { counts, keys } = content as Extract<Content, { readonly keys: FoundKeys }>;
        return drawKeyHistogram(draw(0), event, counts, { found: keys, known: [] });
      }
      case 'key-weights': {
        const { counts, keys } = content as Extract<Content, { readonly keys: FoundKeys }>;
        return drawKeyWeights(draw(0), event, counts, { found: keys, known: [] });
      }
      case 'key-sums': {
        const { counts, keys, sums } = content as Extract<Content, { readonly keys: FoundKeys }>;
        const table = { counts, sumsOf: (at: number) => Float64Array.from(sums![at]!) };
        return drawKeySums([draw(0), draw(1)], event, table, { found: keys, known: [] })
          .map((kept) => ({ ...kept, noisySums: Array.from(kept.noisySums) }));
      }
      case 'exponential':
        return drawExponential(coins, event, content as Float64Array);
      case 'wishart-mask':
      case 'affine-mask':
        return assert(false, 'the law of a mask is not discrete');
    }
  }, textOf, pathMinimum);
}

/** A text that distinguishes released values. */
export function textOf(released: unknown): string {
  return JSON.stringify(released instanceof Float64Array ? Array.from(released) : released);
}
