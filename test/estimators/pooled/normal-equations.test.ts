import { expect, it } from 'vitest';
import { NormalEquations, varianceAlong } from '../../../src/estimators/pooled/normal-equations.js';

it('fits a line by weighted least squares, and says how sure it is', () => {
  const equations = new NormalEquations(2);
  // y = 3 - 2 x at x = 0, 1, 2, each of variance 4.
  for (const x of [0, 1, 2]) equations.add([1, x], 3 - 2 * x, 1 / 4);
  const { step, covariance } = equations.solve()!;
  expect(step[0]).toBeCloseTo(3, 12);
  expect(step[1]).toBeCloseTo(-2, 12);
  // Of the slope: 4 / sum (x - 1)^2. Of the value at x = 1: 4 / 3.
  expect(varianceAlong(covariance, Float64Array.of(0, 1))).toBeCloseTo(2, 12);
  expect(varianceAlong(covariance, Float64Array.of(1, 1))).toBeCloseTo(4 / 3, 12);
});

it('has no solution where two parameters do the same, unless it is damped', () => {
  const equations = new NormalEquations(2);
  equations.add([1e5, 2e-5], 1, 1);
  equations.add([2e5, 4e-5], 2, 1);
  expect(equations.solve()).toBeNull();
  expect(equations.solve(0.1)).not.toBeNull();
  expect(new NormalEquations(1).solve()).toBeNull();
});
