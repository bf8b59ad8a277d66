import { describe, expect, it } from 'vitest';
import { InvalidParameterError } from '../../src/base/errors.js';
import { analyticGaussianDelta } from '../../src/privacy/accounting/analytic-gaussian.js';
import {
  exponentialEvent, gaussianEvent, gaussianHistogramEvent, gaussianThresholdEvent, laplaceEvent,
  symmetricGaussianEvent,
} from '../../src/privacy/accounting/calibration.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import { epsilonOfApproximateZcdp } from '../../src/privacy/accounting/conversion.js';
import type { MechanismEvent } from '../../src/privacy/accounting/events.js';
import { ComposedLoss } from '../../src/privacy/accounting/loss-distribution/composition.js';
import {
  complexPower, transform, transformError,
} from '../../src/privacy/accounting/loss-distribution/fft.js';
import {
  lossOfReleases, type ChargedEvents,
} from '../../src/privacy/accounting/loss-distribution/index.js';
import { lossOfPiece } from '../../src/privacy/accounting/loss-distribution/loss.js';
import { pieceOf, type Piece } from '../../src/privacy/accounting/loss-distribution/pieces.js';
import { dataSource } from '../support/data.js';

const composed = (piece: Piece, times: number, step: number): ComposedLoss =>
  new ComposedLoss([{ loss: lossOfPiece(piece, step), times }]);

const lossOf = (releases: readonly ChargedEvents[]) => {
  const loss = lossOfReleases(releases);
  if (loss === null) throw new Error('the events allow no loss distribution');
  return loss;
};

/** What the sums of rho and delta say of the same releases. */
const byZcdp = (events: readonly MechanismEvent[], times: number, delta: number): number => {
  const cost = costOfEvents(events, { disjoint: [] });
  return epsilonOfApproximateZcdp(
    times * amountToNumber(cost.rho), times * amountToNumber(cost.delta), delta,
  );
};

/** sup over sets of P - e^epsilon Q, for finite distributions. */
const excess = (p: readonly number[], q: readonly number[], epsilon: number): number =>
  p.reduce((sum, mass, i) => sum + Math.max(0, mass - Math.exp(epsilon) * q[i]!), 0);

const place = { cohort: 'rows', grid: 2 ** -40 } as const;

describe('transform', () => {
  it('agrees with the sum that defines it within its stated error, and its inverse undoes '
    + 'it', () => {
    const data = dataSource('transform');
    const size = 256;
    const real = Float64Array.from({ length: size }, () => data.normal());
    const imaginary = Float64Array.from({ length: size }, () => data.normal());
    const spectrum = { real: real.slice(), imaginary: imaginary.slice() };
    transform(spectrum);
    const flow = real.reduce((sum, entry, j) => sum + Math.abs(entry) + Math.abs(imaginary[j]!), 0);
    for (let k = 0; k < size; k++) {
      let [a, b] = [0, 0];
      for (let j = 0; j < size; j++) {
        const angle = (-2 * Math.PI * ((j * k) % size)) / size;
        a += real[j]! * Math.cos(angle) - imaginary[j]! * Math.sin(angle);
        b += real[j]! * Math.sin(angle) + imaginary[j]! * Math.cos(angle);
      }
      expect(Math.hypot(a - spectrum.real[k]!, b - spectrum.imaginary[k]!))
        .toBeLessThan(transformError(size) * flow);
    }
    transform(spectrum, true);
    real.forEach((entry, j) => { expect(spectrum.real[j]! / size).toBeCloseTo(entry, 12); });
    imaginary.forEach(
      (entry, j) => { expect(spectrum.imaginary[j]! / size).toBeCloseTo(entry, 12); },
    );
  });

  it('raises complex numbers to whole powers', () => {
    const [a, b] = complexPower(Math.cos(0.1), Math.sin(0.1), 37);
    expect(a).toBeCloseTo(Math.cos(3.7), 13);
    expect(b).toBeCloseTo(Math.sin(3.7), 13);
    expect(complexPower(0.5, -2, 1)).toEqual([0.5, -2]);
  });
});

describe('ComposedLoss', () => {
  it.each([[1, 1], [12, 0.3], [100, 0.1], [2_000, 0.02], [3, 4]])(
    'adds %d Gaussian losses of distance %d to the closed form, from above', { tags: ['long'] },
    (times, mu) => {
      const loss =
        composed({ kind: 'gaussian', square: mu * mu, shift: 0, delta: 0 }, times, mu / 24);
      const truth = (epsilon: number): number =>
        analyticGaussianDelta(epsilon, 1 / (mu * Math.sqrt(times)));
      for (const delta of [1e-3, 1e-6, 1e-9, 1e-14]) {
        const epsilon = loss.epsilon(delta);
        expect(truth(epsilon)).toBeLessThanOrEqual(delta);
        // A thousandth less epsilon is too little.
        expect(truth(0.999 * epsilon)).toBeGreaterThan(delta);
        expect(loss.delta(epsilon)).toBeGreaterThanOrEqual(truth(epsilon));
        expect(loss.delta(epsilon)).toBeLessThan(1.02 * delta);
      }
    },
  );

  it.each([[1, 0.5], [2, 1], [4, 0.7]])(
    'adds %d Laplace losses of %d to brute force, from above', (times, epsilon0) => {
      const loss = composed({ kind: 'laplace', epsilon: epsilon0, shift: 0 }, times, epsilon0 / 48);
      for (const epsilon of [
        0, 0.3 * epsilon0, 0.9 * epsilon0, (times - 0.5) * epsilon0, (times - 0.05) * epsilon0,
      ]) {
        const { low, high } = laplaceByForce(epsilon0, times, epsilon);
        expect(loss.delta(epsilon)).toBeGreaterThanOrEqual(low);
        expect(loss.delta(epsilon)).toBeLessThan(high * 1.01 + 1e-9);
      }
      expect(loss.delta(times * epsilon0 * 1.03)).toBeLessThan(1e-25);
    },
  );

  it('covers every split of a shift over several numbers with Laplace noise', () => {
    // Exact laws on the grid 1, cut where less than 1e-15 of the mass is left.
    for (const [scale, splits] of [
      [1, [[4], [3, 1], [2, 2], [2, 1, 1]]], [2.5, [[3], [2, 1], [1, 1, 1]]],
      [0.5, [[2], [1, 1]]],
    ] as const) {
      const q = Math.exp(-1 / scale);
      const reach = Math.ceil(18 * scale);
      const law = (shift: number): number[] => Array.from({ length: 2 * reach + 1 }, (_, i) =>
        ((1 - q) / (1 + q)) * q ** Math.abs(i - reach - shift));
      const product = (laws: readonly number[][]): number[] => laws.reduce(
        (all, own) => all.flatMap((mass) => own.map((other) => mass * other)), [1],
      );
      const sensitivity = splits[0].reduce((sum: number, each) => sum + each, 0);
      for (const shifts of splits) {
        const { length: dimension } = shifts;
        const loss = lossOf([{ events: [{
          kind: 'laplace', name: 'numbers', cohort: 'rows', dimension, sensitivity, scale, grid: 1,
        }] }]);
        const left = product(shifts.map(() => law(0)));
        const right = product(shifts.map(law));
        for (const epsilon of [0, 0.25, 0.5, 1, 1.7, 2.9, sensitivity / scale - 1e-3]) {
          expect(loss.delta(epsilon), `${shifts.join()} ${epsilon}`)
            .toBeGreaterThanOrEqual(excess(left, right, epsilon) * (1 - 1e-9));
        }
        // One number alone: the discrete pair is met up to its grid.
        if (dimension === 1) {
          expect(loss.delta(0)).toBeLessThan(1.1 * excess(left, right, 0) + 0.05);
        }
      }
    }
  });

  it('charges the losses of many numbers as those of one', () => {
    const numbers = (dimension: number, sensitivity: number): MechanismEvent => ({
      kind: 'laplace', name: 'numbers', cohort: 'rows', dimension, sensitivity, scale: 4, grid: 1,
    });
    expect(pieceOf(numbers(9, 2))).toEqual(pieceOf(numbers(1, 2)));
    expect(pieceOf(numbers(9, 2))).not.toEqual(pieceOf(numbers(9, 1)));
  });

  it('covers every choice of odds that an exponential mechanism allows, and one choice '
    + 'exactly', () => {
    const epsilon0 = 0.8;
    const single = composed({ kind: 'bounded', epsilon: epsilon0 }, 1, epsilon0 / 48);
    const many = composed({ kind: 'bounded', epsilon: epsilon0 }, 6, epsilon0 / 48);
    for (const t of [0.1, 0.4, 0.55, 0.7]) {
      const p = -Math.expm1(t - epsilon0) / -Math.expm1(-epsilon0);
      const q = p * Math.exp(-t);
      const binomial = (of: number): number[] =>
        [1, 6, 15, 20, 15, 6, 1].map((choose, k) => choose * of ** k * (1 - of) ** (6 - k));
      for (const epsilon of [0, 0.1, 0.3, 0.6]) {
        const closed = Math.expm1((epsilon - epsilon0) / 2) ** 2 / -Math.expm1(-epsilon0);
        expect(single.delta(epsilon)).toBeGreaterThanOrEqual(closed * (1 - 1e-9));
        expect(single.delta(epsilon)).toBeLessThan(closed * 1.01);
        expect(closed).toBeGreaterThanOrEqual(excess([p, 1 - p], [q, 1 - q], epsilon) * (1 - 1e-9));
        expect(many.delta(3 * epsilon))
          .toBeGreaterThanOrEqual(excess(binomial(p), binomial(q), 3 * epsilon));
      }
    }
  });
});

/** Bounds by plain convolution on a fine grid: losses rounded down, and up. */
function laplaceByForce(
  epsilon0: number, times: number, epsilon: number,
): { readonly low: number; readonly high: number } {
  const cells = 400;
  const step = (2 * epsilon0) / cells;
  const bound = (up: boolean): number => {
    const single = new Float64Array(cells + 1);
    for (let i = 0; i < cells; i++) {
      const mass = (Math.exp((-cells + i + 1) * step / 2) - Math.exp((-cells + i) * step / 2)) / 2;
      single[up ? i + 1 : i]! += mass;
    }
    single[cells]! += 0.5;
    single[0]! += Math.exp(-epsilon0) / 2;
    let sum = Float64Array.of(1);
    for (let n = 0; n < times; n++) {
      const next = new Float64Array(sum.length + cells);
      sum.forEach((mass, i) => single.forEach((other, j) => { next[i + j]! += mass * other; }));
      sum = next;
    }
    return sum.reduce((total, mass, i) => {
      const loss = i * step - times * epsilon0;
      return loss > epsilon ? total - mass * Math.expm1(epsilon - loss) : total;
    }, 0);
  };
  return { low: bound(false), high: bound(true) };
}

describe('pieces of discrete noise', () => {
  const gaussianMass = (sigma: number, centre: number): number[] => {
    const weights = Array.from({ length: 81 }, (_, i) =>
      Math.exp(-((i - 40 - centre) ** 2) / (2 * sigma * sigma)));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return weights.map((weight) => weight / total);
  };

  it.each([0.5, 0.8, 2, 5])('are no harder to distinguish than Gaussian noise of %d '
    + 'steps', (sigma) => {
    const one = lossOf([{ events: [{ ...gaussianOf(1), sensitivity: 1, sigma, grid: 1 }] }]);
    const two =
      lossOf([{ events: [{ ...gaussianOf(2), sensitivity: Math.SQRT2, sigma, grid: 1 }] }]);
    const [p, q] = [gaussianMass(sigma, 1), gaussianMass(sigma, 0)];
    const product = (mass: readonly number[]): number[] =>
      mass.flatMap((a) => mass.map((b) => a * b));
    for (const epsilon of [0, 0.2, 0.5, 1, 2, 3]) {
      expect(one.delta(epsilon)).toBeGreaterThanOrEqual(excess(p, q, epsilon));
      expect(two.delta(epsilon)).toBeGreaterThanOrEqual(excess(product(p), product(q), epsilon));
    }
  });

  it('are no harder to distinguish than discrete Laplace noise', () => {
    for (const scale of [0.7, 1.5, 4]) {
      const event = {
        ...laplaceEvent({ ...place, name: 'l', dimension: 1, sensitivity: 2, epsilon: 1 }), scale,
        grid: 1,
      };
      const loss = lossOf([{ events: [event] }]);
      const mass = (centre: number): number[] => {
        const weights =
          Array.from({ length: 401 }, (_, i) => Math.exp(-Math.abs(i - 200 - centre) / scale));
        return weights.map((weight) => weight / weights.reduce((sum, entry) => sum + entry, 0));
      };
      for (const epsilon of [0, 0.1, 0.4, 1, 2]) {
        expect(loss.delta(epsilon))
          .toBeGreaterThanOrEqual(excess(mass(2), mass(0), epsilon) * (1 - 1e-12));
      }
    }
  });

  it('have the distance that the cost has: squared, twice rho', () => {
    const events = [
      gaussianOf(3),
      symmetricGaussianEvent({ ...place, name: 's', dimension: 4, sensitivity: 2, rho: 0.3 }),
      gaussianHistogramEvent({ name: 'h', cohort: 'rows', coordinates: 5, rho: 0.2, delta: 1e-9 }),
      gaussianThresholdEvent({
        ...place, name: 't', sensitivity: 3, rho: 0.1, delta: 1e-8, floor: 2,
      }),
    ];
    for (const event of events) {
      const piece = pieceOf(event)?.piece;
      if (piece?.kind !== 'gaussian') throw new Error('not a Gaussian piece');
      const { rho, delta } = costOfEvents([event], { disjoint: [] });
      expect(piece.square / (2 * amountToNumber(rho))).toBeCloseTo(1, 9);
      expect(piece.delta).toBeCloseTo(amountToNumber(delta), 15);
      expect(piece.shift).toBeGreaterThan(0);
    }
  });

  it('have the range of log-odds that an exponential mechanism is charged for, as often as it is '
    + 'drawn', () => {
    const event = exponentialEvent({
      name: 'e', cohort: 'rows', candidates: 9, sensitivity: 1, times: 3, epsilon: 0.4,
    });
    expect(pieceOf(event)).toEqual({ piece: { kind: 'bounded', epsilon: 0.4 }, times: 3 });
  });

  it('do not exist for a grid coarser than two deviations', () => {
    expect(pieceOf({ ...gaussianOf(1), sigma: 1, grid: 4 })).toBeNull();
    expect(lossOfReleases([{ events: [{ ...gaussianOf(1), sigma: 1, grid: 4 }] }])).toBeNull();
  });
});

function gaussianOf(dimension: number) {
  return gaussianEvent({
    name: `g${dimension}`, cohort: 'rows', dimension, sensitivity: 1, rho: 0.02,
  });
}

describe('lossOfReleases', () => {
  const release: readonly MechanismEvent[] = [
    gaussianHistogramEvent({
      name: 'bins', cohort: 'rows', coordinates: 2, rho: 0.002, delta: 1e-9,
    }),
    exponentialEvent({
      name: 'median', cohort: 'rows', candidates: 240, sensitivity: 1, times: 2, rho: 0.002,
    }),
    gaussianOf(2),
  ];

  it('reports less than the sums of rho and delta do, for one release and for many', () => {
    for (const times of [1, 7, 50]) {
      const epsilon = lossOf([{ events: release, times }]).epsilon(1e-6);
      const other = byZcdp(release, times, 1e-6);
      expect(epsilon).toBeLessThan(0.97 * other);
      expect(epsilon).toBeGreaterThan(0.8 * other);
    }
  });

  it('is at most a thousandth above the sums for each kind of event that is Gaussian or '
    + 'pure', () => {
    const kinds: readonly MechanismEvent[] = [
      gaussianOf(1),
      laplaceEvent({ ...place, name: 'l', dimension: 1, sensitivity: 1, epsilon: 0.3 }),
      laplaceEvent({ ...place, name: 'm', dimension: 3, sensitivity: 1, epsilon: 0.3 }),
      gaussianThresholdEvent({
        ...place, name: 't', sensitivity: 3, rho: 0.02, delta: 1e-9, floor: 2,
      }),
      gaussianHistogramEvent({ name: 'h', cohort: 'rows', coordinates: 3, rho: 0.02, delta: 1e-9 }),
    ];
    for (const event of kinds) {
      for (const times of [1, 40]) {
        expect(lossOf([{ events: [event], times }]).epsilon(1e-6))
          .toBeLessThan(1.001 * byZcdp([event], times, 1e-6));
      }
    }
  });

  it('does not depend on how equal releases are listed', () => {
    const many = lossOf(Array.from({ length: 5 }, () => ({ events: release })));
    expect(many.epsilon(1e-6))
      .toBeCloseTo(lossOf([{ events: release, times: 5 }]).epsilon(1e-6), 6);
    expect(many.delta(1)).toBeGreaterThanOrEqual(many.delta(1.1));
  });

  it('takes the worst of cohorts that share nobody, and adds those that do', () => {
    const left =
      gaussianEvent({ name: 'a', cohort: 'left', dimension: 1, sensitivity: 1, rho: 0.05 });
    const right =
      gaussianEvent({ name: 'b', cohort: 'right', dimension: 1, sensitivity: 1, rho: 0.02 });
    const median =
      exponentialEvent({ name: 'c', cohort: 'right', candidates: 9, sensitivity: 1, rho: 0.01 });
    const alone = lossOf([{ events: [left] }]).epsilon(1e-6);
    const apart = lossOf([{ events: [left, right], disjoint: ['left', 'right'] }]).epsilon(1e-6);
    expect(apart).toBeCloseTo(alone, 9);
    expect(lossOf([{ events: [left, right] }]).epsilon(1e-6)).toBeGreaterThan(1.1 * alone);
    const mixed = lossOf([{ events: [left, right, median], disjoint: ['left', 'right'] }])
      .epsilon(1e-6);
    expect(mixed).toBeGreaterThan(alone);
    expect(mixed).toBeGreaterThan(lossOf([{ events: [right, median] }]).epsilon(1e-6));
  });

  it('is nothing for no releases, and infinite where delta is spent already', () => {
    expect(lossOf([]).epsilon(1e-6)).toBe(0);
    expect(lossOf([{ events: release, times: 2_000 }]).epsilon(1e-6)).toBe(Infinity);
  });

  it('refuses releases that are not counted in whole numbers', () => {
    for (const times of [0, -1, 1.5, NaN]) {
      expect(() => lossOfReleases([{ events: release, times }])).toThrow(InvalidParameterError);
    }
  });
});
