import { createKernels } from '../../src/numerics/kernels/index.js';
import { clipBall, clipToBall } from '../../src/privacy/stages/clip.js';

/**
 * What the kernels and the plain clip make of fixed rows, as the hexadecimal bits of every number:
 * a function that runs alike in Node and in a page, so that both can be compared to the last bit.
 */
export function kernelDigest(dimension: number, count: number): Readonly<Record<string, string>> {
  const kernels = createKernels();
  const values = new Float64Array(count * dimension);
  let state = 12345 + dimension;
  for (let i = 0; i < values.length; i++) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    // Near rows, far ones, huge ones and one that is not finite.
    values[i] = (state / 2 ** 31 - 1) * [1, 30, 1e200][Math.floor(i / dimension) % 3]!;
  }
  values[5 * dimension] = Infinity;
  const ball = clipBall(Math.sqrt(dimension) + 3, { products: true, rowsMax: count });
  const centre = new Float64Array(dimension).fill(0.1);
  const steps = new Float64Array(values.length);
  kernels.clipRows(values, dimension, count, { grid: ball.grid, steps: ball.steps, centre }, steps);
  const plain = new Float64Array(values.length);
  for (let row = 0; row < count; row++) {
    const at = row * dimension;
    clipToBall(values, at, centre, ball, plain.subarray(at, at + dimension));
  }
  const gram = new Float64Array(dimension ** 2);
  const sums = new Float64Array(dimension);
  kernels.gram(steps, dimension, count, {}, gram, sums);
  const mask = Uint8Array.from({ length: count }, (_, row) => (row % 3 === 0 ? 0 : 1));
  const masked = new Float64Array(dimension ** 2);
  kernels.gram(steps, dimension, count, { mask, centre }, masked);
  const single = new Float64Array(dimension ** 2);
  kernels.gram(Float32Array.from(steps), dimension, count, {}, single);
  const means = kernels.means(steps, dimension, count, { mask });
  const shape = gram.map((entry) => (entry * ball.grid ** 2) / count);
  const weights = kernels.exponentialSymmetric(shape, dimension, 'unitTrace');
  const scores = new Float64Array(count);
  kernels.quadraticForms(steps, dimension, count, centre, weights, scores);
  const eigen = kernels.eigenSymmetric(shape, dimension);
  const square = kernels.product(shape, shape, dimension, dimension, dimension);
  return {
    steps: bitsOf(steps), plain: bitsOf(plain), gram: bitsOf(gram), masked: bitsOf(masked),
    single: bitsOf(single), means: bitsOf(means), square: bitsOf(square), sums: bitsOf(sums),
    weights: bitsOf(weights), scores: bitsOf(scores), values: bitsOf(eigen.values),
    vectors: bitsOf(eigen.vectors),
  };
}

function bitsOf(numbers: Float64Array): string {
  const words = new BigUint64Array(numbers.slice().buffer);
  return Array.from(words, (word) => word.toString(16)).join(' ');
}
