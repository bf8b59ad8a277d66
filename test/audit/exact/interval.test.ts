import { describe, expect, it } from 'vitest';
import {
  add, divide, expOf, fraction, logOf, multiply, ofDouble, overlap, subtract, surelyAbove,
  widthOf, type Interval,
} from '../../../src/audit/exact/interval.js';
import { decimal, exactVectors, fractionOf } from '../../support/exact-vectors.js';

const { exponentials, logarithms } = exactVectors();

describe('intervals', () => {
  it.each(exponentials)('have the exponential of %j', (ratio, text) => {
    const found = expOf(fractionOf(ratio));
    expect(overlap(found, decimal(text))).toBe(true);
    expect(widthOf(found)).toBeLessThan(2 ** -110);
  });

  it.each(logarithms)('have the logarithm of %j', (ratio, text) => {
    const found = logOf(fractionOf(ratio));
    expect(overlap(found, decimal(text))).toBe(true);
    expect(widthOf(found)).toBeLessThan(2 ** -110);
  });

  it('contain x after exp and log of every argument, also where rounding is worst', () => {
    for (let i = 1n; i <= 60n; i++) {
      for (const x of [fraction(i, 7n), fraction(-i, 11n), fraction(i, 10n ** 20n)]) {
        const back = logOf(expOf(x));
        expect(back.low <= x.low && back.high >= x.high).toBe(true);
        expect(widthOf(back)).toBeLessThan(2 ** -110);
      }
    }
  });

  it('round outwards, for every sign', () => {
    const third = fraction(1n, 3n);
    expect(third.high - third.low).toBe(1n);
    const signs = [fraction(-1n, 3n), third, { low: -third.high, high: third.high }];
    const contains = (outer: Interval, numerator: bigint, denominator: bigint): boolean => {
      const { low, high } = fraction(numerator, denominator);
      return outer.low <= low && outer.high >= high;
    };
    for (const left of signs) {
      for (const right of signs) {
        const product = multiply(left, right);
        for (const corner of [left.low * right.low, left.high * right.high,
          left.low * right.high, left.high * right.low]) {
          expect(contains(product, corner, 1n << 896n)).toBe(true);
        }
      }
      const quotient = divide(left, fraction(-2n, 7n));
      expect(contains(quotient, -7n * left.low, 2n << 448n)).toBe(true);
      expect(contains(quotient, -7n * left.high, 2n << 448n)).toBe(true);
    }
    expect(contains(add(third, third), 2n, 3n)).toBe(true);
    expect(contains(subtract(third, fraction(1n)), -2n, 3n)).toBe(true);
  });

  it('hold doubles exactly', () => {
    expect(ofDouble(-0.1)).toEqual(fraction(-3602879701896397n, 1n << 55n));
    expect(surelyAbove(ofDouble(0.1), fraction(1n, 10n))).toBe(true);
  });
});
