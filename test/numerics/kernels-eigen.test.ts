import { EigenvalueDecomposition, Matrix } from 'ml-matrix';
import { describe, expect, it } from 'vitest';
import { createKernels } from '../../src/numerics/kernels/index.js';
import { seededRandom } from '../../src/random/work.js';

const kernels = createKernels();
const work = seededRandom(new Uint8Array(32).fill(9));

function symmetric(d: number, entry: (i: number, j: number) => number): Float64Array {
  const matrix = new Float64Array(d * d);
  for (let i = 0; i < d; i++) {
    for (let j = 0; j <= i; j++) matrix[i * d + j] = matrix[j * d + i] = entry(i, j);
  }
  return matrix;
}

const random = (d: number): Float64Array => symmetric(d, () => 2 * work.uniform() - 1);

/** The matrix with these eigenvalues in a random basis. */
function withValues(values: readonly number[]): Float64Array {
  const d = values.length;
  const { vectors } = kernels.eigenSymmetric(random(d), d);
  return symmetric(d, (i, j) =>
    values.reduce((sum, value, k) => sum + value * vectors[k * d + i]! * vectors[k * d + j]!, 0));
}

/** Largest of: residual over norm, and distance from orthonormal; checks that values ascend. */
function flaw(matrix: Float64Array, d: number): number {
  const { values, vectors } = kernels.eigenSymmetric(matrix, d);
  const norm = Math.max(Math.abs(values[0]!), Math.abs(values[d - 1]!)) || 1;
  const images = kernels.product(vectors, matrix.map((entry) => entry / norm), d, d, d);
  const gram = new Float64Array(d * d);
  const transposed =
    Float64Array.from({ length: d * d }, (_, i) => vectors[(i % d) * d + Math.floor(i / d)]!);
  kernels.gram(transposed, d, d, {}, gram);
  let worst = 0;
  for (let i = 0; i < d; i++) {
    if (i > 0) expect(values[i]).toBeGreaterThanOrEqual(values[i - 1]!);
    for (let j = 0; j < d; j++) {
      worst = Math.max(
        worst,
        Math.abs(images[i * d + j]! - (values[i]! / norm) * vectors[i * d + j]!),
        Math.abs(gram[i * d + j]! - (i === j ? 1 : 0)),
      );
    }
  }
  return worst;
}

describe('eigenSymmetric', () => {
  it.each([
    1, 2, 3, 5, 7, 8, 33, 100, 211,
  ])('decomposes random matrices of dimension %i, as ml-matrix does', (d) => {
    const matrix = random(d);
    expect(flaw(matrix, d)).toBeLessThan(1e-14 * (d + 10));
    const rows = Array.from({ length: d }, (_, i) => [...matrix.subarray(i * d, (i + 1) * d)]);
    const oracle =
      new EigenvalueDecomposition(new Matrix(rows), { assumeSymmetric: true }).realEigenvalues;
    const { values } = kernels.eigenSymmetric(matrix, d);
    oracle.sort((a, b) => a - b)
      .forEach((value, i) => expect(Math.abs(value - values[i]!)).toBeLessThan(1e-12 * d));
  });

  it('holds for repeated, zero, huge, tiny and graded values', () => {
    const d = 40;
    const cases = [
      new Float64Array(d * d),
      symmetric(d, (i, j) => (i === j ? 1 : 0)),
      symmetric(d, () => 1),
      symmetric(d, (i, j) => (i === j ? 2 : i - j === 1 ? -1 : 0)),
      withValues(Array.from({ length: d }, (_, i) => (i < 20 ? 3 : -1))),
      withValues(Array.from({ length: d }, (_, i) => 10 ** (-i))),
      symmetric(d, (i, j) => 10 ** -(i + j)),
      symmetric(d, (i, j) => 10 ** -(2 * d - i - j)),
      symmetric(d, (i, j) => (i === j ? i : 1e-170)),
      symmetric(d, (i, j) => (i < 2 && j < 2 ? 1 : 1e-200)),
    ];
    for (const matrix of cases) {
      for (const scale of [1, 1e-300, 1e300, 2 ** -1060]) {
        const scaled = matrix.map((entry) => entry * scale);
        if (scale < 1e-305) {
          expect(kernels.eigenSymmetric(scaled, d).values.every(Number.isFinite)).toBe(true);
        } else expect(flaw(scaled, d)).toBeLessThan(3e-14);
      }
    }
  });

  it('finds known values', () => {
    const { values } = kernels.eigenSymmetric(withValues([5, 2, 2, 2, 0, 0, -7]), 7);
    [-7, 0, 0, 2, 2, 2, 5].forEach((value, i) =>
      expect(Math.abs(values[i]! - value)).toBeLessThan(1e-13));
    expect([...kernels.eigenSymmetric(Float64Array.of(-3), 1).values]).toEqual([-3]);
    expect(kernels.eigenSymmetric(new Float64Array(0), 0).values.length).toBe(0);
  });

  it('answers NaN for a matrix that is not finite', () => {
    const { values, vectors } = kernels.eigenSymmetric(Float64Array.of(1, Number.NaN, 0, 1), 2);
    expect([...values, ...vectors].every(Number.isNaN)).toBe(true);
  });
});

describe('exponentialSymmetric', () => {
  it('has the exponentials of the values, and the trace one without overflow', () => {
    const values = [-2, 0, 0.5, 1, 3];
    const matrix = withValues(values);
    const exponential = kernels.exponentialSymmetric(matrix, 5);
    const found = kernels.eigenSymmetric(exponential, 5).values;
    values.forEach((value, i) =>
      expect(Math.abs(found[i]! / Math.exp(value) - 1)).toBeLessThan(1e-12));
    const trace = values.reduce((sum, value) => sum + Math.exp(value), 0);
    const density = kernels.exponentialSymmetric(matrix, 5, 'unitTrace');
    density.forEach((entry, i) =>
      expect(Math.abs(entry * trace - exponential[i]!)).toBeLessThan(1e-12 * trace));
    const large = kernels.exponentialSymmetric(matrix.map((entry) => entry * 1e4), 5, 'unitTrace');
    expect(Math.abs([0, 6, 12, 18, 24].reduce((sum, at) => sum + large[at]!, 0) - 1))
      .toBeLessThan(1e-12);
  });
});
