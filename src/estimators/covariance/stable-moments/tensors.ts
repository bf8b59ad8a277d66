import { pow } from '../../../base/elementary.js';
import { sharedDoubles } from '../../../numerics/kernels/shards.js';
import type { LeftRows } from '../../pooled/thresholds.js';

/**
 * Symmetric tensors as vectors of the same norm. The entry of indices i1 <= i2 <= ... stands for
 * all its permutations, so it is weighted by the root of their number: noise that is alike in every
 * coordinate of the vector is then alike in every direction of the tensor, and sensitivities are
 * the tensors' own norms. Noise on the entries themselves, each as loud, would be too quiet by up
 * to the root of that number.
 */
export interface TensorSpace {
  readonly dimension: number;
  readonly order: number;
  /** Tensor indices of each coordinate, ascending. */
  readonly indices: readonly (readonly number[])[];
  /** Root of the number of permutations, of each coordinate. */
  readonly weights: Float64Array;
}

/** The space of symmetric tensors of an order, d (d + 1) ... (d + k - 1) / k! coordinates. */
export function tensorSpace(dimension: number, order: number): TensorSpace {
  const indices: number[][] = [];
  const extend = (prefix: readonly number[]): void => {
    if (prefix.length === order) {
      indices.push([...prefix]);
      return;
    }
    for (let j = prefix.at(-1) ?? 0; j < dimension; j++) extend([...prefix, j]);
  };
  extend([]);
  return {
    dimension, order, indices,
    weights: Float64Array.from(indices, (index) => Math.sqrt(permutations(index))),
  };
}

function permutations(index: readonly number[]): number {
  let ways = 1;
  index.forEach((_, i) => { ways *= i + 1; });
  for (const value of new Set(index)) {
    for (let k = index.filter((other) => other === value).length; k > 1; k--) ways /= k;
  }
  return ways;
}

/** The vectors of z x z x ... x z, z the rows that are left; zeros for others. n x p. */
export function powerFeatures(
  { count, dimension, steps, alive }: LeftRows, space: TensorSpace,
): Float64Array {
  const { indices, weights, order } = space;
  const size = indices.length;
  const columns = Uint16Array.from(indices.flat());
  const features = sharedDoubles(count * size);
  for (let i = 0; i < count; i++) {
    if (alive[i] === 0) continue;
    const [row, first] = [i * dimension, i * size];
    for (let at = 0, next = 0; at < size; at++) {
      let product = weights[at]!;
      for (const end = next + order; next < end; next++) product *= steps[row + columns[next]!]!;
      features[first + at] = product;
    }
  }
  return features;
}

/** All d^k entries, row-major, of the tensor with this vector. */
export function tensorOf(
  vector: Float64Array, { dimension, order, indices, weights }: TensorSpace,
): Float64Array {
  const place = new Map(indices.map((index, at) => [index.join(), at]));
  return Float64Array.from({ length: pow(dimension, order) }, (_, flat) => {
    const at = place.get([...indexOf(flat, dimension, order)].sort((a, b) => a - b).join())!;
    return vector[at]! / weights[at]!;
  });
}

function indexOf(flat: number, dimension: number, order: number): readonly number[] {
  return Array.from({ length: order }, (_, k) =>
    Math.floor(flat / pow(dimension, order - 1 - k)) % dimension);
}

/**
 * The tensor after a linear map of every index: entries sum over B_ia B_jb ... T_ab.... B is rows x
 * d.
 */
export function mappedTensor(
  tensor: Float64Array, order: number, map: Float64Array, rows: number, dimension: number,
): Float64Array {
  let current = tensor;
  // One index at a time: the first is contracted and its image appended, so that after all of them
  // the order is back.
  for (let k = 0; k < order; k++) {
    const rest = current.length / dimension;
    const next = new Float64Array(rest * rows);
    for (let a = 0; a < dimension; a++) {
      for (let other = 0; other < rest; other++) {
        const entry = current[a * rest + other]!;
        for (let i = 0; i < rows; i++) next[other * rows + i]! += map[i * dimension + a]! * entry;
      }
    }
    current = next;
  }
  return current;
}

/**
 * Central moments of orders 2, 3 and 4 from means of z, z x z, ...: symmetric tensors of all
 * entries.
 */
export function centralMoments(
  mean: Float64Array, second: Float64Array, third: Float64Array, fourth: Float64Array | null,
): { readonly second: Float64Array; readonly third: Float64Array; readonly fourth: Float64Array
  | null } {
  const dimension = mean.length;
  const at = (flat: number, order: number): readonly number[] => indexOf(flat, dimension, order);
  const two = (i: number, j: number): number => second[i * dimension + j]!;
  const three = (i: number, j: number, k: number): number =>
    third[(i * dimension + j) * dimension + k]!;
  const m = (i: number): number => mean[i]!;
  return {
    second: second.map((entry, flat) => {
      const [i, j] = at(flat, 2) as [number, number];
      return entry - m(i) * m(j);
    }),
    third: third.map((entry, flat) => {
      const [i, j, k] = at(flat, 3) as [number, number, number];
      return entry - m(i) * two(j, k) - m(j) * two(i, k) - m(k) * two(i, j)
        + 2 * m(i) * m(j) * m(k);
    }),
    fourth: fourth === null ? null : fourth.map((entry, flat) => {
      const [i, j, k, l] = at(flat, 4) as [number, number, number, number];
      return entry
        - m(i) * three(j, k, l) - m(j) * three(i, k, l) - m(k) * three(i, j, l)
        - m(l) * three(i, j, k)
        + m(i) * m(j) * two(k, l) + m(i) * m(k) * two(j, l) + m(i) * m(l) * two(j, k)
        + m(j) * m(k) * two(i, l) + m(j) * m(l) * two(i, k) + m(k) * m(l) * two(i, j)
        - 3 * m(i) * m(j) * m(k) * m(l);
    }),
  };
}
