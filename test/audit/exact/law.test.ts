import { describe, expect, it } from 'vitest';
import {
  fraction, logOf, overlap, subtract, toNumber, widthOf, zero, type Interval,
} from '../../../src/audit/exact/interval.js';
import {
  hockeyStick, mapped, normalised, product, renyi, type Law,
} from '../../../src/audit/exact/law.js';
import { gaussianNoise, laplaceNoise } from '../../../src/audit/exact/noise.js';
import { decimal, exactVectors, fractionOf } from '../../support/exact-vectors.js';
import type { Steps } from '../../../src/random/samplers/discrete-laplace.js';

const shifted = (law: Law<Steps>, by: number): Law<Steps> =>
  mapped(law, (value) => Number(value) + by, String);

/** The laws here leave out tails. They change no divergence below in its first 20 places. */
function expectNear(found: Interval, text: string): void {
  expect(overlap(found, decimal(text.slice(0, -80)))).toBe(true);
  expect(widthOf(found)).toBeLessThan(2 ** -90);
}

describe('divergences', () => {
  it.each(exactVectors().pairs)('of $kind noise of size $size and its shift by $shift', (pair) => {
    const [numerator, denominator] = pair.size.map(BigInt) as [bigint, bigint];
    const noise = pair.kind === 'gaussian' ? gaussianNoise : laplaceNoise;
    const left = noise({ numerator, denominator });
    const right = shifted(left, pair.shift);
    pair.probabilities.forEach((text, y) =>
      expectNear(left.outcomes.get(String(y))!.probability, text));
    for (const [order, text] of pair.divergences) {
      expectNear(renyi(left, right, order[0] / order[1]).divergence, text);
    }
    for (const [epsilon, text] of pair.hockeySticks) {
      expectNear(hockeyStick(left, right, fractionOf(epsilon)), text);
    }
  });

  it('of a Laplace law and its shift: epsilon is the shift over the scale, and no less', () => {
    const left = laplaceNoise({ numerator: 3n, denominator: 2n });
    const right = shifted(left, 1);
    const epsilon = fraction(2n, 3n);
    expect(hockeyStick(left, right, epsilon).low).toBe(0n);
    // P(z <= 0) - e^x P(z <= -1), for x below epsilon: (1 - e^(x - epsilon)) / (1 + e^-epsilon).
    const found = toNumber(hockeyStick(left, right, fraction(1n, 2n)));
    expect(found).toBeCloseTo((1 - Math.exp(-1 / 6)) / (1 + Math.exp(-2 / 3)), 14);
  });

  it('of two coins, as closed forms have them', () => {
    const coin = (heads: bigint): Law<boolean> => normalised(new Map([
      ['heads', { value: true, probability: fraction(heads, 10n) }],
      ['tails', { value: false, probability: fraction(10n - heads, 10n) }],
    ]));
    const [left, right] = [coin(7n), coin(4n)];
    // 7/10 - 4/10, and log(49/40 + 9/60).
    expect(overlap(hockeyStick(left, right, zero), fraction(3n, 10n))).toBe(true);
    expect(overlap(renyi(left, right, 2).divergence, logOf(fraction(11n, 8n))))
      .toBe(true);
    const twice = renyi(product(left, left), product(right, right), 2).divergence;
    expect(overlap(twice, logOf(fraction(121n, 64n)))).toBe(true);
  });

  it('count what was cut, and what only one side has, against the claim', () => {
    const point = (key: string, probability: bigint): Law => ({
      outcomes: new Map([['both', { value: 0, probability: fraction(1n, 2n) }],
        [key, { value: 1, probability: fraction(probability, 8n) }]]),
      cut: subtract(fraction(1n, 2n), fraction(probability, 8n)),
    });
    const [left, right] = [point('left', 3n), point('right', 3n)];
    expect(toNumber(renyi(left, right, 2).tail)).toBe(0.5);
    // 3/8 that the right does not list: less the 1/8 that was cut there, or with the 1/8 cut here.
    const stick = hockeyStick(left, right, zero);
    expect([stick.low, stick.high].map((end) => toNumber({ low: end, high: end })))
      .toEqual([0.25, 0.5]);
  });
});
