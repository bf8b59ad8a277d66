import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/brands.js';
import { InvalidParameterError, InvariantError } from '../../src/base/errors.js';
import type { MechanismEvent } from '../../src/privacy/accounting/events.js';
import {
  nearestSteps, powerOfTwoBelow, stepsAbove, stepsBelow, valueOfSteps,
} from '../../src/privacy/accounting/grid.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../src/random/insecure.js';
import { secureNoise } from '../../src/random/secure.js';

const place = { cohort: 'all', grid: 2 ** -4 };
const events = {
  gaussian: {
    ...place, kind: 'gaussian', name: 'gaussian', dimension: 3, sensitivity: 1, sigma: 2,
  },
  symmetric: {
    ...place, kind: 'symmetric-gaussian', name: 'symmetric', dimension: 2, sensitivity: 1, sigma: 2,
  },
  laplace: { ...place, kind: 'laplace', name: 'laplace', dimension: 1, sensitivity: 1, scale: 2 },
  threshold: {
    ...place, kind: 'gaussian-threshold', name: 'threshold', sensitivity: 1, sigma: 1, delta: 0.01,
    floor: 10,
  },
  bins: {
    ...place, kind: 'gaussian-histogram', name: 'bins', coordinates: 2, sigma: 2, delta: 0.01,
  },
  cells: {
    ...place, kind: 'gaussian-histogram', name: 'cells', coordinates: 1, sigma: 0.0625,
    delta: 1e-12,
  },
  choice: {
    kind: 'exponential', name: 'choice', cohort: 'all', candidates: 3, sensitivity: 1, epsilon: 1,
    times: 2,
  },
} as const satisfies Record<string, MechanismEvent>;

const all: readonly MechanismEvent[] = Object.values(events);
const make = (seed = 's'): ReturnType<typeof createMechanisms> =>
  createMechanisms(all, seededNoise(seed));
const vector = (...entries: readonly number[]): Sensitive<Float64Array> =>
  Sensitive.of(Float64Array.from(entries));
type Bins = readonly (readonly [number, number])[];
const counts = (...bins: readonly Bins[]): Sensitive<readonly ReadonlyMap<number, number>[]> =>
  Sensitive.of(bins.map((pairs) => new Map(pairs)));

describe('only what was charged is drawn', () => {
  it('refuses unknown events, other kinds and repetitions, before it draws', () => {
    const mechanisms = make();
    expect(() => mechanisms.gaussian('nothing', vector(1, 2, 3))).toThrow(InvariantError);
    expect(() => mechanisms.gaussian('laplace', vector(1))).toThrow(/charged as laplace/);
    expect(() => mechanisms.threshold('gaussian', Sensitive.of(1))).toThrow(InvariantError);
    mechanisms.gaussian('gaussian', vector(1, 2, 3));
    expect(() => mechanisms.gaussian('gaussian', vector(1, 2, 3)))
      .toThrow(/as often as it was charged/);
    mechanisms.exponential('choice', vector(1, 2, 3));
    mechanisms.exponential('choice', vector(1, 2, 3));
    expect(() => mechanisms.exponential('choice', vector(1, 2, 3))).toThrow(InvariantError);
  });

  it('refuses other lengths and values that are not finite, without showing them', () => {
    const attempts: (() => unknown)[] = [
      () => make().gaussian('gaussian', vector(1, 2)),
      () => make().symmetricGaussian('symmetric', vector(1, 2, 3)),
      () => make().exponential('choice', vector(1, 2, 3, 4)),
      () => make().histogram('bins', counts([[1, 1]])),
      () => make().histogram('cells', counts([[1, 1]], [[1, 1]])),
      () => make().histogram('cells', counts([[Infinity, 1]])),
      () => make().histogram('cells', counts([[1, 0.5]])),
      () => make().gaussian('gaussian', vector(1, NaN, 3)),
      () => make().gaussian('gaussian', vector(1, 123456.75, Infinity)),
      () => make().threshold('threshold', Sensitive.of(NaN)),
      () => make().exponential('choice', vector(1, -Infinity, 3)),
    ];
    for (const attempt of attempts) expect(attempt).toThrow(InvariantError);
    expect(attempts[8]).not.toThrow(/123456/);
  });

  it('counts an attempt that failed as a call', () => {
    const mechanisms = make();
    expect(() => mechanisms.gaussian('gaussian', vector(NaN, 0, 0))).toThrow(InvariantError);
    expect(() => mechanisms.gaussian('gaussian', vector(0, 0, 0))).toThrow(/as often/);
  });

  it('keeps what was charged when the plan is changed afterwards', () => {
    const event = { ...events.gaussian, sigma: 1e6 };
    const mechanisms = createMechanisms([event], seededNoise('s'));
    event.sigma = 2;
    const noisy = mechanisms.gaussian('gaussian', vector(0, 0, 0)).value;
    expect(Math.max(...noisy.map(Math.abs))).toBeGreaterThan(1000);
  });

  it('refuses malformed events', () => {
    expect(() => createMechanisms([{ ...events.gaussian, sigma: 0 }], secureNoise()))
      .toThrow(InvalidParameterError);
    expect(() => createMechanisms([events.gaussian, events.gaussian], secureNoise()))
      .toThrow(InvalidParameterError);
  });
});

describe('draws', () => {
  it('lie on the grid, differ between coordinates, and repeat for one seed', () => {
    const value = vector(0.03, 1e6, -7);
    const noisy = make().gaussian('gaussian', value).value;
    expect(noisy.every((entry) => Number.isInteger(entry / place.grid))).toBe(true);
    expect(new Set([noisy[0]!, noisy[1]! - 1e6, noisy[2]! + 7]).size).toBe(3);
    expect(make().gaussian('gaussian', value).value).toEqual(noisy);
    expect(make('other').gaussian('gaussian', value).value).not.toEqual(noisy);
  });

  it('move with the value by whole steps: the same noise for a shifted value', () => {
    const near = make().gaussian('gaussian', vector(0, 0, 0)).value;
    const far = make().gaussian('gaussian', vector(2 ** 40, -(2 ** 40), 0.25)).value;
    expect([...far].map((entry, i) => entry - near[i]!)).toEqual([2 ** 40, -(2 ** 40), 0.25]);
  });

  it('survive values of any size', () => {
    const far = make().gaussian('gaussian', vector(1e308, -1e300, 2 ** 60)).value;
    expect([...far]).toEqual([1e308, -1e300, 2 ** 60]);
    const fine = { ...events.gaussian, grid: 2 ** -300, sigma: 2 ** -280 };
    const mechanisms = createMechanisms([fine], seededNoise('s'));
    expect([...mechanisms.gaussian(
      'gaussian', vector(1e308, -1e308, 5e-324),
    ).value.subarray(0, 2)]).toEqual([1e308, -1e308]);
  });

  it('keep a matrix symmetric and read its upper half only', () => {
    const noisy = make().symmetricGaussian('symmetric', vector(1, 2, 99, 4)).value;
    expect(noisy[1]).toBe(noisy[2]);
    expect(make().symmetricGaussian('symmetric', vector(1, 2, -1, 4)).value).toEqual(noisy);
  });

  it('pass a test that is far above the floor, and surely fail one below it', () => {
    for (let seed = 0; seed < 100; seed++) {
      expect(make(`${seed}`).threshold('threshold', Sensitive.of(40)).value).toBe(true);
      expect(make(`${seed}`).threshold('threshold', Sensitive.of(0)).value).toBe(false);
    }
  });

  it('keep large bins first, whatever the order of arrival, and forget small and empty '
    + 'ones', () => {
    const forwards = make()
      .histogram('bins', counts([[7, 500], [-3, 900], [1, 1], [2, 0]], [[0, 50]])).value;
    expect(forwards.map((bins) => bins.map(({ bin }) => bin))).toEqual([[-3, 7], [0]]);
    expect(make().histogram('bins', counts([[2, 0], [1, 1], [-3, 900], [7, 500]], [[0, 50]])).value)
      .toEqual(forwards);
    // An empty bin takes no noise: it cannot shift the others'.
    expect(make().histogram('bins', counts([[7, 500], [-3, 900], [1, 1]], [[0, 50]])).value)
      .toEqual(forwards);
    expect(make().histogram('cells', counts([[5, 1], [6, 1]])).value).toEqual([[]]);
  });

  it('never choose scores that are far off, and compare scores of any size exactly', () => {
    for (let seed = 0; seed < 50; seed++) {
      expect(make(`${seed}`).exponential('choice', vector(-1e300, 0, -1e9)).value).toBe(1);
      expect(make(`${seed}`).exponential('choice', vector(1e308, -1e308, 1e308 - 1e293)).value)
        .toBe(0);
    }
  });
});

describe('steps', () => {
  it('round as requested', () => {
    expect([
      nearestSteps(0.5, 1), nearestSteps(-0.5, 1), nearestSteps(0.49999999999999994, 1),
      nearestSteps(2.6, 0.25),
    ]).toEqual([1, -0, 0, 10]);
    expect([stepsBelow(-0.1, 1), stepsAbove(-0.1, 1), stepsBelow(3, 0.5)]).toEqual([-1, -0, 6]);
    expect(nearestSteps(2 ** 60, 1)).toBe(2n ** 60n);
    expect(nearestSteps(1e308, 2 ** -300)).toBe(BigInt(1e308) << 300n);
    expect(valueOfSteps(-3n, 0.5)).toBe(-1.5);
    for (const [value, power] of [
      [1, 1], [1.99, 1], [2, 2], [0.3, 0.25], [2 ** 49 - 0.1, 2 ** 48],
    ] as const) expect(powerOfTwoBelow(value)).toBe(power);
  });
});
