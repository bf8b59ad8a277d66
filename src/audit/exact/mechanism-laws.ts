import { assert } from '../../base/assert.js';
import type { ExponentialEvent, MechanismEvent } from '../../privacy/accounting/events.js';
import { ratioInSteps, squareInSteps } from '../../privacy/accounting/grid.js';
import type { FoundKeys, Scores } from '../../privacy/mechanisms/contract.js';
import { drawExponential, runsOf } from '../../privacy/mechanisms/exponential.js';
import { drawGaussian } from '../../privacy/mechanisms/gaussian.js';
import { drawHistogram } from '../../privacy/mechanisms/histogram.js';
import { drawGroupHistogram } from '../../privacy/mechanisms/group-histogram.js';
import { drawGroupSums } from '../../privacy/mechanisms/group-sums.js';
import { drawGroupWeights } from '../../privacy/mechanisms/group-weights.js';
import { drawLaplace } from '../../privacy/mechanisms/laplace.js';
import { drawMode } from '../../privacy/mechanisms/mode.js';
import { drawSymmetricGaussian } from '../../privacy/mechanisms/symmetric-gaussian.js';
import { drawThreshold } from '../../privacy/mechanisms/threshold.js';
import type { Draw } from '../../privacy/mechanisms/draw.js';
import { uniformBits } from '../../random/samplers/choice.js';
import type { Steps } from '../../random/samplers/discrete-laplace.js';
import {
  add, divide, expOf, fraction, multiply, ofDouble, subtract, surelyAtMost, toNumber, zero,
  type Interval,
} from './interval.js';
import type { Law, Outcome } from './law.js';
import { gaussianNoise, laplaceNoise } from './noise.js';
import { walk } from './walk.js';

/** The content that a mechanism is given. */
export type Content =
  | Scores
  | number
  | readonly string[]
  | readonly ReadonlyMap<number, number>[]
  | {
    readonly counts: readonly number[]; readonly keys: FoundKeys;
    /** For `group-sums`: the sums of each place. */
    readonly sums?: readonly (readonly number[])[];
  };

/**
 * The laws of the noise that an event draws, one for each supply of mechanisms/supply. Empty for an
 * event whose law is found otherwise: see `lawOfCall`.
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
    case 'group-histogram':
    case 'group-weights':
      return [gaussianNoise(squareInSteps(event.sigma, event.grid))];
    case 'group-sums':
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
 * An exponential mechanism has one uniform number of 128 bits: `lawOfChoice`.
 * @param noise - from `noiseOf`, so that many contents share it.
 * @param pathMinimum - combinations of noise that are less likely are cut.
 * Cost: one call of the draw function for each combination.
 * @throws for masks: their law is not discrete.
 */
export function lawOfCall(
  event: MechanismEvent, content: Content, noise: readonly Law<Steps>[], pathMinimum?: Interval,
): Law {
  if (event.kind === 'exponential') return lawOfChoice(event, content as Scores);
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
      case 'group-histogram': {
        const { counts, keys } = content as Extract<Content, { readonly keys: FoundKeys }>;
        return drawGroupHistogram(draw(0), event, counts, { found: keys, known: [] });
      }
      case 'group-weights': {
        const { counts, keys } = content as Extract<Content, { readonly keys: FoundKeys }>;
        return drawGroupWeights(draw(0), event, counts, { found: keys, known: [] });
      }
      case 'group-sums': {
        const { counts, keys, sums } = content as Extract<Content, { readonly keys: FoundKeys }>;
        const table = { counts, sumsOf: (at: number) => Float64Array.from(sums![at]!) };
        return drawGroupSums([draw(0), draw(1)], event, table, { found: keys, known: [] })
          .map((kept) => ({ ...kept, noisySums: Array.from(kept.noisySums) }));
      }
      case 'wishart-mask':
      case 'affine-mask':
        return assert(false, 'the law of a mask is not discrete');
    }
  }, textOf, pathMinimum);
}

/**
 * The law of a choice, by the edges of the shipped draw. The chosen index grows with the uniform
 * number, so the numbers that give an index lie between two edges, which bisection finds to one
 * unit of 2^-128. Where the number does not decide, the draw asks for the bits that follow, and
 * gets a pattern that is no edge. So what is measured is the number of first bits that lead to an
 * index: its probability up to two units.
 * Cost: 128 draws for each candidate.
 */
export function lawOfChoice(event: ExponentialEvent, scores: Scores): Law<number> {
  const whole = 1n << BigInt(uniformBits);
  const edges = edgesOfChoice(event, scores);
  const outcomes = new Map<string, Outcome<number>>();
  for (let index = 0; index < event.candidates; index++) {
    const steps = edges[index + 1]! - edges[index]!;
    const low = fraction(steps > 2n ? steps - 2n : 0n, whole).low;
    outcomes.set(textOf(index), {
      value: index, probability: { low, high: fraction(steps + 2n, whole).high },
    });
  }
  return { outcomes, cut: zero };
}

/**
 * Compares the edges of a choice with the cumulative law, whose weights are enclosed apart, by
 * src/audit/exact/interval.
 * @returns the edges that are off by more than 2^-120, in words.
 */
export function faultsOfChoice(event: ExponentialEvent, scores: Scores): readonly string[] {
  const { lengths, scores: each } = runsOf(scores);
  const rate = divide(ofDouble(event.epsilon), multiply(fraction(2n), ofDouble(event.sensitivity)));
  const weights = Array.from(each, (score, i) =>
    Array.from({ length: lengths[i]! }, () => expOf(multiply(rate, ofDouble(score))))).flat();
  const total = weights.reduce(add);
  const allowed = fraction(1n, 1n << 120n);
  let sum = zero;
  return edgesOfChoice(event, scores).flatMap((edge, index) => {
    const found = fraction(edge, 1n << BigInt(uniformBits));
    const expected = divide(sum, total);
    sum = add(sum, weights[index] ?? zero);
    const isNear = surelyAtMost(subtract(found, expected), allowed)
      && surelyAtMost(subtract(expected, found), allowed);
    return isNear ? [] : [`index ${index} begins at ${toNumber(found)} of the uniform number, and `
      + `its law at ${toNumber(expected)}`];
  });
}

/** The least uniform number, in units of 2^-128, that leads to each index or a later one. */
export function edgesOfChoice(
  event: ExponentialEvent, scores: Scores,
): readonly bigint[] {
  const whole = 1n << BigInt(uniformBits);
  const later = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834n;
  const indexAt = (uniform: bigint): number => {
    let isFirst = true;
    return drawExponential(() => {
      const bits = isFirst ? uniform : later;
      isFirst = false;
      return bits;
    }, event, scores);
  };
  const edges = [0n];
  for (let index = 1; index < event.candidates; index++) {
    let [below, from] = [edges.at(-1)! - 1n, whole];
    while (from - below > 1n) {
      const middle = (below + from) / 2n;
      if (indexAt(middle) >= index) from = middle;
      else below = middle;
    }
    edges.push(from);
  }
  return [...edges, whole];
}

/** A text that distinguishes released values. */
export function textOf(released: unknown): string {
  return JSON.stringify(released instanceof Float64Array ? Array.from(released) : released);
}
