import type { PassOptions, Rows } from '../../src/numerics/kernels/index.js';

/** What the kernels compute, by the shortest loops: the oracle of their tests. */
export function plainGram(
  rows: Rows, d: number, count: number, options: PassOptions,
): Float64Array {
  const sum = new Float64Array(d * d);
  for (let r = 0; r < count; r++) {
    if (options.mask?.[r] === 0) continue;
    for (let i = 0; i < d; i++) {
      for (let j = 0; j < d; j++) {
        sum[i * d + j]! += (options.weights?.[r]
          ?? 1) * entry(rows, d, r, i, options) * entry(rows, d, r, j, options);
      }
    }
  }
  return sum;
}

export function plainSums(
  rows: Rows, d: number, count: number, options: PassOptions,
): Float64Array {
  const sum = new Float64Array(d);
  for (let r = 0; r < count; r++) {
    if (options.mask?.[r] === 0) continue;
    for (let j = 0;
        j < d; j++) sum[j]! += (options.weights?.[r] ?? 1) * entry(rows, d, r, j, options);
  }
  return sum;
}

export function plainForms(
  rows: Rows, d: number, count: number, centre: Float64Array, matrix: Float64Array,
): Float64Array {
  return Float64Array.from({ length: count }, (_, r) => {
    let sum = 0;
    for (let i = 0; i < d; i++) {
      for (let j = 0; j < d; j++) sum +=
        entry(rows, d, r, i, { centre }) * matrix[i * d + j]! * entry(rows, d, r, j, { centre });
    }
    return sum;
  });
}

export function plainProduct(
  a: Float64Array, b: Float64Array, n: number, k: number, m: number,
): Float64Array {
  const result = new Float64Array(n * m);
  for (let i = 0; i < n; i++) {
    for (let j = 0;
        j < m; j++) for (let l = 0; l < k; l++) result[i * m + j]! += a[i * k + l]! * b[l * m + j]!;
  }
  return result;
}

function entry(
  rows: Rows, d: number, row: number, column: number, { centre }: PassOptions,
): number {
  return rows[row * d + column]! - (centre?.[column] ?? 0);
}
