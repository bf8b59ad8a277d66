/**
 * Symmetric eigenproblems: Householder reduction to a tridiagonal matrix, then implicit QL with
 * Wilkinson's shifts.
 */

// @ts-ignore: decorator
@inline
function at(base: usize, index: i32): usize {
  return base + (<usize>index << 3);
}

/** Scalar product of n numbers; four partial sums, added pairwise at the end. */
function dot(a: usize, b: usize, n: i32): f64 {
  let s0 = f64x2.splat(0), s1 = s0, i = 0;
  for (; i + 4 <= n; i += 4, a += 32, b += 32) {
    s0 = f64x2.add(s0, f64x2.mul(v128.load(a), v128.load(b)));
    s1 = f64x2.add(s1, f64x2.mul(v128.load(a, 16), v128.load(b, 16)));
  }
  s0 = f64x2.add(s0, s1);
  let sum = f64x2.extract_lane(s0, 0) + f64x2.extract_lane(s0, 1);
  for (; i < n; i++, a += 8, b += 8) sum += load<f64>(a) * load<f64>(b);
  return sum;
}

/** y += s x. */
function axpy(s: f64, x: usize, y: usize, n: i32): void {
  const factor = f64x2.splat(s);
  let i = 0;
  for (; i + 4 <= n; i += 4, x += 32, y += 32) {
    v128.store(y, f64x2.add(v128.load(y), f64x2.mul(factor, v128.load(x))));
    v128.store(y, f64x2.add(v128.load(y, 16), f64x2.mul(factor, v128.load(x, 16))), 16);
  }
  for (; i < n; i++, x += 8, y += 8) store<f64>(y, load<f64>(y) + s * load<f64>(x));
}

/**
 * For one row of a symmetric product: returns row . v and adds s row to p, in one pass over the
 * row.
 */
function dotAndAdd(row: usize, v: usize, s: f64, p: usize, n: i32): f64 {
  const factor = f64x2.splat(s);
  let s0 = f64x2.splat(0), s1 = s0, i = 0;
  for (; i + 4 <= n; i += 4, row += 32, v += 32, p += 32) {
    const x0 = v128.load(row), x1 = v128.load(row, 16);
    s0 = f64x2.add(s0, f64x2.mul(x0, v128.load(v)));
    s1 = f64x2.add(s1, f64x2.mul(x1, v128.load(v, 16)));
    v128.store(p, f64x2.add(v128.load(p), f64x2.mul(factor, x0)));
    v128.store(p, f64x2.add(v128.load(p, 16), f64x2.mul(factor, x1)), 16);
  }
  s0 = f64x2.add(s0, s1);
  let sum = f64x2.extract_lane(s0, 0) + f64x2.extract_lane(s0, 1);
  for (; i < n; i++, row += 8, v += 8, p += 8) {
    const x = load<f64>(row);
    sum += x * load<f64>(v);
    store<f64>(p, load<f64>(p) + s * x);
  }
  return sum;
}

/** row -= s x + t y. */
function subtractTwo(row: usize, s: f64, x: usize, t: f64, y: usize, n: i32): void {
  const first = f64x2.splat(s), second = f64x2.splat(t);
  let i = 0;
  for (; i + 2 <= n; i += 2, row += 16, x += 16, y += 16) {
    const change = f64x2.add(f64x2.mul(first, v128.load(x)), f64x2.mul(second, v128.load(y)));
    v128.store(row, f64x2.sub(v128.load(row), change));
  }
  if (i < n) store<f64>(row, load<f64>(row) - (s * load<f64>(x) + t * load<f64>(y)));
}

/**
 * Reduces the lower triangle of the n x n matrix `a` (largest entry near 1) to a diagonal and an
 * off-diagonal. Off-diagonal entry i is at row i, column i-1; entry 0 is zero. Row i keeps its
 * Householder vector in its first i entries, and tau[i] keeps its factor: H = 1 - tau v v^T.
 */
function tridiagonalise(
  a: usize, n: i32, diagonal: usize, off: usize, tau: usize, work: usize,
): void {
  const size = <usize>n << 3;
  for (let i = n - 1; i >= 1; i--) {
    const v = a + <usize>i * size;
    store<f64>(at(diagonal, i), load<f64>(at(v, i)));
    store<f64>(at(tau, i), 0);
    const last = load<f64>(at(v, i - 1));
    let unit = 0.0;
    for (let k = 0; k < i - 1; k++) unit = max(unit, abs(load<f64>(at(v, k))));
    store<f64>(at(off, i), last);
    if (unit == 0) continue;
    unit = max(unit, abs(last));
    for (let k = 0; k < i; k++) store<f64>(at(v, k), load<f64>(at(v, k)) / unit);
    const head = last / unit, norm = sqrt(dot(v, v, i)), turned = head > 0 ? -norm : norm;
    store<f64>(at(off, i), unit * turned);
    store<f64>(at(v, i - 1), head - turned);
    const factor = 1 / (norm * (norm + abs(head)));
    store<f64>(at(tau, i), factor);
    memory.fill(work, 0, <usize>i << 3);
    for (let k = 0; k < i; k++) {
      const row = a + <usize>k * size, vk = load<f64>(at(v, k));
      const sum = dotAndAdd(row, v, vk, work, k) + load<f64>(at(row, k)) * vk;
      store<f64>(at(work, k), load<f64>(at(work, k)) + sum);
    }
    const half = -0.5 * factor * factor * dot(work, v, i);
    for (let k = 0; k < i; k++) store<f64>(at(work, k), factor * load<f64>(at(work, k)));
    axpy(half, v, work, i);
    for (let k = 0; k < i; k++) {
      subtractTwo(a + <usize>k * size, load<f64>(at(v, k)), work, load<f64>(at(work, k)), v, k + 1);
    }
  }
  store<f64>(diagonal, load<f64>(a));
  store<f64>(off, 0);
}

/**
 * Writes the transpose of the product of the reflections into z. The rows of z become the
 * eigenvectors.
 */
function accumulate(a: usize, n: i32, tau: usize, z: usize): void {
  const size = <usize>n << 3;
  memory.fill(z, 0, <usize>n * size);
  for (let i = 0; i < n; i++) store<f64>(at(z + <usize>i * size, i), 1);
  for (let k = 0; k < n; k++) {
    const row = z + <usize>k * size;
    // Reflection i does not change row k of the product before it while i <= k.
    for (let i = k + 1; i < n; i++) {
      const factor = load<f64>(at(tau, i)), v = a + <usize>i * size;
      if (factor != 0) axpy(-factor * dot(row, v, i), v, row, i);
    }
  }
}

/**
 * Applies the rotations of one sweep, `last` down to `first`, to the rows of z. It works in strips
 * of columns, so that each row is read once.
 */
function rotate(z: usize, n: i32, first: i32, last: i32, cosines: usize, sines: usize): void {
  const size = <usize>n << 3;
  let j = 0;
  for (; j + 8 <= n; j += 8) {
    let row = z + <usize>(last + 1) * size + (<usize>j << 3);
    let h0 = v128.load(row),
      h1 = v128.load(row, 16), h2 = v128.load(row, 32), h3 = v128.load(row, 48);
    for (let i = last; i >= first; i--) {
      const below = row - size;
      const c = v128.load64_splat(at(cosines, i)), s = v128.load64_splat(at(sines, i));
      const l0 = v128.load(below),
        l1 = v128.load(below, 16), l2 = v128.load(below, 32), l3 = v128.load(below, 48);
      v128.store(row, f64x2.add(f64x2.mul(s, l0), f64x2.mul(c, h0)));
      v128.store(row, f64x2.add(f64x2.mul(s, l1), f64x2.mul(c, h1)), 16);
      v128.store(row, f64x2.add(f64x2.mul(s, l2), f64x2.mul(c, h2)), 32);
      v128.store(row, f64x2.add(f64x2.mul(s, l3), f64x2.mul(c, h3)), 48);
      h0 = f64x2.sub(f64x2.mul(c, l0), f64x2.mul(s, h0));
      h1 = f64x2.sub(f64x2.mul(c, l1), f64x2.mul(s, h1));
      h2 = f64x2.sub(f64x2.mul(c, l2), f64x2.mul(s, h2));
      h3 = f64x2.sub(f64x2.mul(c, l3), f64x2.mul(s, h3));
      row = below;
    }
    v128.store(row, h0);
    v128.store(row, h1, 16);
    v128.store(row, h2, 32);
    v128.store(row, h3, 48);
  }
  for (; j < n; j++) {
    let row = z + <usize>(last + 1) * size + (<usize>j << 3), high = load<f64>(row);
    for (let i = last; i >= first; i--) {
      const below = row - size,
        c = load<f64>(at(cosines, i)), s = load<f64>(at(sines, i)), low = load<f64>(below);
      store<f64>(row, s * low + c * high);
      high = c * low - s * high;
      row = below;
    }
    store<f64>(row, high);
  }
}

/**
 * An off-diagonal entry below this counts as zero. In a matrix of size 1 it is far below the
 * rounding error.
 */
const nothing: f64 = 2e-22;

// @ts-ignore: decorator
@inline
function splits(diagonal: usize, off: usize, m: i32): bool {
  const size = abs(load<f64>(at(off, m))),
    beside = abs(load<f64>(at(diagonal, m))) + abs(load<f64>(at(diagonal, m + 1)));
  return size <= nothing || size <= f64.EPSILON * 0.5 * beside;
}

/**
 * Implicit QL. Entry i of `off` connects i and i+1. Returns false if some eigenvalue took more than
 * 90 sweeps.
 */
function diagonalise(
  diagonal: usize, off: usize, n: i32, z: usize, cosines: usize, sines: usize,
): bool {
  for (let l = 0; l < n; l++) {
    for (let sweep = 0; ; sweep++) {
      let m = l;
      while (m < n - 1 && !splits(diagonal, off, m)) m++;
      if (m == l) break;
      if (sweep == 90) return false;
      const first = load<f64>(at(diagonal, l)), side = load<f64>(at(off, l));
      let g = (load<f64>(at(diagonal, l + 1)) - first) / (2 * side);
      const root = sqrt(g * g + 1);
      g = load<f64>(at(diagonal, m)) - first + side / (g + (g >= 0 ? root : -root));
      let s = 1.0, c = 1.0, p = 0.0, i = m - 1;
      for (; i >= l; i--) {
        const e = load<f64>(at(off, i)), f = s * e, b = c * e, r = sqrt(f * f + g * g);
        store<f64>(at(off, i + 1), r < 1e-140 ? 0 : r);
        if (r < 1e-140) {
          // The square of this entry would lose digits, and in a matrix of size 1 it is zero. The
          // rotations so far split the matrix here. The next sweep does the rest.
          store<f64>(at(diagonal, i + 1), load<f64>(at(diagonal, i + 1)) - p);
          store<f64>(at(off, m), 0);
          break;
        }
        s = f / r;
        c = g / r;
        g = load<f64>(at(diagonal, i + 1)) - p;
        const t = (load<f64>(at(diagonal, i)) - g) * s + 2 * c * b;
        p = s * t;
        store<f64>(at(diagonal, i + 1), g + p);
        g = c * t - b;
        store<f64>(at(cosines, i), c);
        store<f64>(at(sines, i), s);
      }
      if (i + 1 <= m - 1) rotate(z, n, i + 1, m - 1, cosines, sines);
      if (i >= l) continue;
      store<f64>(at(diagonal, l), load<f64>(at(diagonal, l)) - p);
      store<f64>(at(off, l), g);
      store<f64>(at(off, m), 0);
    }
  }
  return true;
}

/**
 * Writes the eigenvalues to `values`, in no order, and their unit vectors to the rows of z. `a` (n
 * x n, entries at most 1 in size) is overwritten. `work` holds 4 n numbers.
 */
export function eigen(a: usize, n: i32, values: usize, z: usize, work: usize): bool {
  const size = <usize>n << 3,
    off = work, tau = work + size, other = work + 2 * size, more = work + 3 * size;
  tridiagonalise(a, n, values, off, tau, other);
  accumulate(a, n, tau, z);
  for (let i = 1; i < n; i++) store<f64>(at(off, i - 1), load<f64>(at(off, i)));
  store<f64>(at(off, n - 1), 0);
  return diagonalise(values, off, n, z, other, more);
}
