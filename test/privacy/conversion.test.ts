import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidParameterError } from '../../src/base/errors.js';
import {
  analyticGaussianDelta, analyticGaussianSigma,
} from '../../src/privacy/accounting/analytic-gaussian.js';
import {
  deltaOfZcdp, epsilonOfApproximateZcdp, epsilonOfZcdp, exponentialForRho, pureForRho,
  rhoForApproximateZcdp, rhoForZcdp,
  rhoOfPure,
} from '../../src/privacy/accounting/conversion.js';

describe('zCDP to (epsilon, delta)', () => {
  it.each([
    [0.005, 0.429941], [0.05, 1.471595], [0.5, 5.221534],
  ])('rho %d at delta 1e-6 is epsilon %d', (rho, epsilon) => {
    expect(epsilonOfZcdp(rho, 1e-6)).toBeCloseTo(epsilon, 5);
    // 40-digit value at rho = 1/2, never undercut.
    if (rho === 0.5) expect(epsilonOfZcdp(rho, 1e-6) - 5.22153444453017).toBeLessThan(1e-10);
    expect(epsilonOfZcdp(0.5, 1e-6)).toBeGreaterThanOrEqual(5.221534444530169);
  });

  it.each([[0.25, 0.0018], [0.5, 0.0066], [1, 0.024356], [2, 0.0881], [4, 0.311], [8, 1.05]])(
    'epsilon %d at delta 1e-6 allows rho %d',
    (epsilon, rho) => expect(Math.abs(rhoForZcdp(epsilon, 1e-6) / rho - 1)).toBeLessThan(0.01),
  );

  it('finds the best order: no other one gives less', () => {
    for (const [rho, delta] of [
      [1e-6, 1e-9], [0.02, 5e-7], [2, 1e-12], [300, 0.4], [1e-4, 1e-300],
    ] as const) {
      const found = epsilonOfZcdp(rho, delta);
      for (let exponent = -4; exponent <= 8; exponent += 0.01) {
        const a = 1 + 10 ** exponent;
        const other = a * rho
          + (Math.log(1 / delta) + (a - 1) * Math.log1p(-1 / a) - Math.log(a)) / (a - 1);
        expect(found).toBeLessThanOrEqual(Math.max(0, other) * (1 + 1e-9) + 1e-9);
      }
    }
  });

  it('rounds outwards, and both directions meet', () => {
    const rho = fc.double({ min: 1e-8, max: 50, noNaN: true });
    const delta = fc.double({ min: 1e-12, max: 0.01, noNaN: true });
    fc.assert(fc.property(rho, delta, (r, d) => {
      const epsilon = epsilonOfZcdp(r, d);
      fc.pre(epsilon > 0);
      expect(deltaOfZcdp(r, epsilon)).toBeLessThanOrEqual(d * (1 + 1e-9));
      const allowed = rhoForZcdp(epsilon, d);
      expect(epsilonOfZcdp(allowed, d)).toBeLessThanOrEqual(epsilon);
      expect(allowed).toBeGreaterThan(r * (1 - 1e-6));
      const partly = rhoForApproximateZcdp(epsilon, d / 2, d);
      expect(partly).toBeLessThan(allowed);
      expect(epsilonOfApproximateZcdp(partly, d / 2, d)).toBeLessThanOrEqual(epsilon);
    }), { seed: 1, numRuns: 60 });
  });

  it('is never below the exact curve of one Gaussian release', () => {
    for (const rho of [1e-4, 0.01, 0.5, 4]) {
      for (const delta of [1e-3, 1e-6, 1e-9]) {
        expect(analyticGaussianDelta(epsilonOfZcdp(rho, delta), 1 / Math.sqrt(2 * rho)))
          .toBeLessThan(delta);
      }
    }
  });

  it('has the correct limits', () => {
    expect(epsilonOfZcdp(0, 1e-6)).toBe(0);
    expect(deltaOfZcdp(0, 0)).toBe(0);
    expect(deltaOfZcdp(5, 0)).toBeLessThanOrEqual(1);
    expect(epsilonOfApproximateZcdp(0.02, 0, 1e-6)).toBe(epsilonOfZcdp(0.02, 1e-6));
    for (const delta of [0, 1, -1, NaN]) {
      expect(() => epsilonOfZcdp(1, delta)).toThrow(InvalidParameterError);
    }
    for (const rho of [-1, NaN, Infinity]) {
      expect(() => epsilonOfZcdp(rho, 1e-6)).toThrow(InvalidParameterError);
    }
    expect(() => epsilonOfApproximateZcdp(1, 1e-6, 1e-6)).toThrow(/below the whole delta/);
    expect(() => rhoForZcdp(0, 1e-6)).toThrow(InvalidParameterError);
  });

  it('converts pure and exponential costs outwards', () => {
    expect(rhoOfPure(0.5)).toBeGreaterThanOrEqual(0.125);
    expect(rhoOfPure(pureForRho(0.37))).toBeLessThanOrEqual(0.37);
    expect(exponentialForRho(0.37) ** 2 / 8).toBeLessThanOrEqual(0.37);
  });
});

describe('the analytic Gaussian', () => {
  it.each([[0.1, 1e-6, 36.30469], [1, 1e-5, 3.730632], [1, 1e-6, 4.224679], [3, 1e-6, 1.543861]])(
    'epsilon %d, delta %d takes sigma %d',
    (epsilon, delta, sigma) => expect(analyticGaussianSigma(epsilon, delta)).toBeCloseTo(sigma, 5),
  );

  it('returns a deviation that suffices, scales with sensitivity, and keeps its tails', () => {
    for (const [epsilon, delta] of [
      [0.01, 1e-9], [1, 1e-6], [50, 1e-12], [1, 1e-200], [1, 0.3],
    ] as const) {
      const sigma = analyticGaussianSigma(epsilon, delta);
      expect(analyticGaussianDelta(epsilon, sigma)).toBeLessThanOrEqual(delta);
      expect(analyticGaussianDelta(epsilon, sigma * (1 - 1e-9)))
        .toBeGreaterThan(delta * (1 - 1e-6));
      expect(analyticGaussianSigma(epsilon, delta, 10)).toBeCloseTo(10 * sigma, 6);
    }
    expect(() => analyticGaussianSigma(1, 0)).toThrow(InvalidParameterError);
    expect(() => analyticGaussianDelta(-1, 1)).toThrow(InvalidParameterError);
  });
});
