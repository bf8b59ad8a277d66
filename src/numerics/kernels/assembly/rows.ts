import { tile, wideTile } from './tile';

/**
 * Passes over a block of rows, row-major, `d` columns. `p` is d rounded up to a multiple of 4.
 * Pointers count bytes.
 */

/**
 * Removes the rows whose mask is 0 and subtracts `centre` from the others, in place. Returns how
 * many remain. Treats weights in the same way. A pointer of 0 means that the part is absent.
 */
export function gather(
  rows: usize, count: i32, d: i32, mask: usize, centre: usize, weights: usize,
): i32 {
  const size = <usize>d << 3;
  let kept = 0;
  for (let i = 0; i < count; i++) {
    if (mask != 0 && load<u8>(mask + <usize>i) == 0) continue;
    const from = rows + <usize>i * size, to = rows + <usize>kept * size;
    if (centre != 0) {
      for (let j: usize = 0;
          j < size; j += 8) store<f64>(to + j, load<f64>(from + j) - load<f64>(centre + j));
    } else if (from != to) {
      memory.copy(to, from, size);
    }
    if (weights != 0) {
      store<f64>(weights + (<usize>kept << 3), load<f64>(weights + (<usize>i << 3)));
    }
    kept++;
  }
  return kept;
}

/**
 * Writes rows as wide panels: panel k holds rows 8k .. 8k+7 of every column, with zeros past the
 * count.
 */
export function packRows(rows: usize, count: i32, d: i32, to: usize): void {
  const size = <usize>d << 3;
  for (let i = 0; i < count; i += 8) {
    const panel = rows + <usize>i * size;
    for (let j: usize = 0; j < size; j += 8, to += 64) {
      for (let r = 0; r < 8; r++) {
        const entry = i + r < count ? load<f64>(panel + <usize>r * size + j) : 0;
        store<f64>(to + (<usize>r << 3), entry);
      }
    }
  }
}

/**
 * Adds a b to `out`: a in panels of rows (n rows), b in wide panels of columns (m columns), `depth`
 * steps each. A panel of each stays in the nearest cache while their tiles are computed.
 */
export function addProduct(a: usize, b: usize, n: i32, m: i32, depth: i32, out: usize): void {
  const p = (m + 3) & ~3, stride = <usize>p << 3, wide = <usize>depth << 6;
  for (let i = 0; i < n; i += 8, a += wide) {
    const rows = min(8, n - i);
    for (let j = 0; j < p; j += 8) {
      const column = b + <usize>(j >> 3) * wide;
      const to = out + <usize>i * stride + (<usize>j << 3);
      if (j + 8 <= p) {
        for (let r = 0; r < rows; r += 2) {
          wideTile(a + (<usize>r << 3), column, depth, to + <usize>r * stride, stride);
        }
      } else {
        for (let r = 0; r < rows; r += 4) {
          tile(a + (<usize>r << 3), 64, column, 32, depth, to + <usize>r * stride, stride);
        }
      }
    }
  }
}

/**
 * For each row, the scalar product of a row of `left` (stride d) with a row of `right` (stride p),
 * over d columns in order.
 */
export function rowProducts(
  left: usize, right: usize, count: i32, d: i32, p: i32, out: usize,
): void {
  for (let i = 0; i < count; i++) {
    let sum = 0.0;
    for (let j = 0; j < d; j++) {
      sum += load<f64>(left + (<usize>j << 3)) * load<f64>(right + (<usize>j << 3));
    }
    store<f64>(out + (<usize>i << 3), sum);
    left += <usize>d << 3;
    right += <usize>p << 3;
  }
}

/** Adds each column's sum over the rows, in their order, to `out`. */
export function addColumnSums(rows: usize, count: i32, d: i32, weights: usize, out: usize): void {
  for (let i = 0; i < count; i++, rows += <usize>d << 3) {
    const w = weights == 0 ? 1.0 : load<f64>(weights + (<usize>i << 3)), both = f64x2.splat(w);
    let j = 0;
    for (; j + 2 <= d; j += 2) {
      const at = <usize>j << 3;
      v128.store(out + at, f64x2.add(v128.load(out + at), f64x2.mul(both, v128.load(rows + at))));
    }
    if (j < d) {
      const at = <usize>j << 3;
      store<f64>(out + at, load<f64>(out + at) + w * load<f64>(rows + at));
    }
  }
}

/**
 * Writes rows to `out` as integer multiples of a grid step inside a ball around `centre`, rounded
 * toward zero. `out` is not `rows`. `unit` has a width for each column. The bits are the same as
 * those of `clipToBall` in src/privacy/stages/clip.ts, so its proof holds here. A row with an entry
 * that is not finite becomes zeros. `present` gets 0 for such a row and 1 for every other; returns how many
 * these are.
 *
 * A row well inside the ball is rounded as it is read: it needs no shortening, and a squared length
 * below the bound means that all entries are finite. All other rows are read again. `perGrid` is 1
 * / grid if that is exact, as for a power of two; a product then equals the quotient. Otherwise it
 * is NaN, and no row counts as well inside.
 */
export function clipRows(
  rows: usize, count: i32, d: i32, centre: usize, unit: usize, grid: f64, perGrid: f64, bound: f64,
  present: usize, out: usize,
): i32 {
  const size = <usize>d << 3, even = size & ~15, per = f64x2.splat(perGrid), zero = f64x2.splat(0);
  const inside = bound * bound * 0.999998;
  let there = 0;
  for (let i = 0; i < count; i++, rows += size, out += size) {
    let squares = zero;
    for (let at: usize = 0; at < even; at += 16) {
      const away = f64x2.sub(v128.load(rows + at), v128.load(centre + at));
      const step = f64x2.mul(f64x2.div(away, v128.load(unit + at)), per);
      squares = f64x2.add(squares, f64x2.mul(step, step));
      v128.store(out + at, f64x2.add(f64x2.trunc(step), zero));
    }
    let square = f64x2.extract_lane(squares, 0) + f64x2.extract_lane(squares, 1);
    if (even != size) {
      const step =
        (load<f64>(rows + even) - load<f64>(centre + even)) / load<f64>(unit + even) * perGrid;
      square += step * step;
      store<f64>(out + even, trunc(step) + 0);
    }
    let isThere = true;
    if (!(square < inside)) {
      memory.copy(out, rows, size);
      const largest = toSteps(out, d, centre, unit, grid);
      isThere = largest >= 0;
      if (isThere) shorten(out, d, largest, bound);
      else memory.fill(out, 0, size);
    }
    store<u8>(present + <usize>i, isThere ? 1 : 0);
    there += isThere ? 1 : 0;
  }
  return there;
}

/** Returns the size of the largest entry, or -1 for a null row. */
function toSteps(row: usize, d: i32, centre: usize, unit: usize, grid: f64): f64 {
  const each = f64x2.splat(grid),
    most = f64x2.splat(f64.MAX_VALUE), least = f64x2.splat(-f64.MAX_VALUE);
  // Zero times a number is zero, and zero times a non-finite value is NaN. So a row whose steps
  // overflow is clamped and not null.
  let sizes = f64x2.splat(0), odd = f64x2.splat(0), j = 0;
  for (; j + 2 <= d; j += 2) {
    const at = <usize>j << 3, entry = v128.load(row + at);
    const step =
      f64x2.div(f64x2.div(f64x2.sub(entry, v128.load(centre + at)), v128.load(unit + at)), each);
    const held = f64x2.pmax(f64x2.pmin(step, most), least);
    odd =
      f64x2.add(odd, f64x2.add(f64x2.mul(f64x2.splat(0), entry), f64x2.mul(f64x2.splat(0), held)));
    v128.store(row + at, held);
    sizes = f64x2.max(sizes, f64x2.abs(held));
  }
  let largest = max(f64x2.extract_lane(sizes, 0), f64x2.extract_lane(sizes, 1));
  if (f64x2.extract_lane(odd, 0) != 0 || f64x2.extract_lane(odd, 1) != 0) return -1;
  for (; j < d; j++) {
    const at = <usize>j << 3, entry = load<f64>(row + at);
    const step = (entry - load<f64>(centre + at)) / load<f64>(unit + at) / grid;
    if (!isFinite(entry) || isNaN(step)) return -1;
    const held = max(-f64.MAX_VALUE, min(f64.MAX_VALUE, step));
    store<f64>(row + at, held);
    largest = max(largest, abs(held));
  }
  return largest;
}

/**
 * Rounds two steps at a time toward zero, after multiplying them by a factor. Adding zero turns a
 * negative zero into zero.
 */
function cut(row: usize, d: i32, factor: f64): void {
  const both = f64x2.splat(factor), zero = f64x2.splat(0);
  let j = 0;
  for (; j + 2 <= d; j += 2) {
    const at = row + (<usize>j << 3);
    v128.store(at, f64x2.add(f64x2.trunc(f64x2.mul(v128.load(at), both)), zero));
  }
  if (j < d) {
    store<f64>(row + (<usize>j << 3), trunc(load<f64>(row + (<usize>j << 3)) * factor) + 0);
  }
}

function shorten(row: usize, d: i32, largest: f64, bound: f64): void {
  const end = row + (<usize>d << 3), isFar = largest > 1e140, unit = isFar ? largest : 1;
  let square = 0.0;
  for (let at = row; at < end; at += 8) {
    const entry = isFar ? load<f64>(at) / unit : load<f64>(at);
    square += entry * entry;
  }
  const norm = unit * sqrt(square);
  // Rounded steps are never longer than the original ones, up to the rounding of the sum of their
  // squares.
  if (norm < bound * 0.999999) return cut(row, d, 1);
  let factor = norm > bound ? (isFar ? bound / sqrt(square) / unit : bound / norm) : 1;
  for (;;) {
    let length = 0.0;
    for (let at = row; at < end; at += 8) {
      const whole = trunc(load<f64>(at) * factor);
      length += whole * whole;
    }
    if (length <= bound * bound) break;
    factor *= 1 - 9.094947017729282e-13; // 2^-40
  }
  cut(row, d, factor);
}
