import { tile, wideTile } from './tile';

/**
 * X^T X of a block of rows with `d` columns. `p` is d rounded up to a multiple of 4. Panels are
 * wide here: panel k holds columns 8k .. 8k+7 of every row. If p is not a multiple of 8, the last
 * panel holds the four remaining columns. Pointers count bytes.
 */

/**
 * Writes columns as wide panels of `size` rows: the `count` rows from `first` on, with zeros past
 * d. Multiplies each row by its weight, if any. Adds each column's sum over the (weighted) rows, in
 * their order, to `sums`. A pointer of 0 means that the part is absent.
 */
export function packWide(
  rows: usize, count: i32, d: i32, weights: usize, to: usize, first: i32, size: i32, sums: usize,
): void {
  const p = (d + 3) & ~3;
  for (let j = 0; j < p; j += 8) {
    const step: usize = j + 8 <= p ? 64 : 32, at = <usize>j << 3;
    const into = to + <usize>first * step;
    const sum: usize = sums == 0 ? 0 : sums + at;
    if (j + 8 <= d && weights == 0) packPlain(rows + at, count, <usize>d << 3, into, sum);
    else {
      for (let c: usize = 0; c < step; c += 16) {
        const left = d - j - <i32>(c >> 3), from = rows + at + c, own: usize = sum == 0
          ? 0 : sum + c;
        if (left >= 2) packPair(from, count, <usize>d << 3, weights, into + c, step, own);
        else packLast(left == 1 ? from : 0, count, <usize>d << 3, weights, into + c, step, own);
      }
    }
    to += <usize>size * step;
  }
}

/** Eight columns. */
function packPlain(from: usize, count: i32, size: usize, into: usize, sums: usize): void {
  let s0 = f64x2.splat(0), s1 = s0, s2 = s0, s3 = s0;
  if (sums != 0) {
    s0 = v128.load(sums);
    s1 = v128.load(sums, 16);
    s2 = v128.load(sums, 32);
    s3 = v128.load(sums, 48);
  }
  for (let i = 0; i < count; i++, from += size, into += 64) {
    const x0 = v128.load(from),
      x1 = v128.load(from, 16), x2 = v128.load(from, 32), x3 = v128.load(from, 48);
    v128.store(into, x0);
    v128.store(into, x1, 16);
    v128.store(into, x2, 32);
    v128.store(into, x3, 48);
    s0 = f64x2.add(s0, x0);
    s1 = f64x2.add(s1, x1);
    s2 = f64x2.add(s2, x2);
    s3 = f64x2.add(s3, x3);
  }
  if (sums == 0) return;
  v128.store(sums, s0);
  v128.store(sums, s1, 16);
  v128.store(sums, s2, 32);
  v128.store(sums, s3, 48);
}

/** Two columns. */
function packPair(
  from: usize, count: i32, size: usize, weights: usize, into: usize, step: usize, sums: usize,
): void {
  let sum = sums == 0 ? f64x2.splat(0) : v128.load(sums);
  for (let i = 0; i < count; i++, from += size, into += step) {
    let both = v128.load(from);
    if (weights != 0) both = f64x2.mul(v128.load64_splat(weights + (<usize>i << 3)), both);
    v128.store(into, both);
    sum = f64x2.add(sum, both);
  }
  if (sums != 0) v128.store(sums, sum);
}

/** The last column with zeros beside it; only zeros if there is no such column. */
function packLast(
  from: usize, count: i32, size: usize, weights: usize, into: usize, step: usize, sums: usize,
): void {
  let sum = from == 0 || sums == 0 ? 0 : load<f64>(sums);
  for (let i = 0; i < count; i++, into += step) {
    let entry = 0.0;
    if (from != 0) {
      entry = load<f64>(from + <usize>i * size);
      if (weights != 0) entry = load<f64>(weights + (<usize>i << 3)) * entry;
    }
    store<f64>(into, entry);
    store<f64>(into, 0, 8);
    sum += entry;
  }
  if (from != 0 && sums != 0) store<f64>(sums, sum);
}

/**
 * Adds left^T right to the p x p matrix `out`. Both are wide panels of `count` rows. It computes
 * every entry on or above the diagonal, and some below. A panel of `right` stays in the nearest
 * cache while the panels of `left` are read.
 */
export function addGram(left: usize, right: usize, count: i32, p: i32, out: usize): void {
  const stride = <usize>p << 3, wide = <usize>count << 6;
  for (let j = 0; j < p; j += 8) {
    const b = right + <usize>(j >> 3) * wide, column = out + (<usize>j << 3);
    if (j + 8 <= p) {
      for (let i = 0; i < j + 4; i += 2) {
        wideTile(left + <usize>(i >> 3) * wide
          + (<usize>(i & 7) << 3), b, count, column + <usize>i * stride, stride);
      }
      // A quarter of each square on the diagonal is below the diagonal.
      const i = <usize>(j + 4);
      tile(
        left + <usize>(j >> 3) * wide + 32, 64, b + 32, 64, count, column + i * stride + 32, stride,
      );
      continue;
    }
    for (let i = 0; i < p; i += 4) {
      const a = left + <usize>(i >> 3) * wide + (<usize>(i & 7) << 3);
      tile(a, i < j ? 64 : 32, b, 32, count, column + <usize>i * stride, stride);
    }
  }
}
