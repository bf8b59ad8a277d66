/**
 * Counts the places of entries over a block of rows, row-major, `d` columns. Pointers count bytes;
 * counts have 32 bits.
 */

/**
 * Counts each entry in its column's bin floor(entry / width) - lowest, if that is within 0 .. bins
 * - 1. Writes the places of all other entries, also those that are not numbers, to `far`. Returns
 * how many.
 */
export function countBins(
  rows: usize, count: i32, d: i32, widths: usize, lowest: usize, bins: i32, near: usize, far: usize,
): i32 {
  const size = <usize>bins << 2, none = f64x2.splat(0), end = f64x2.splat(<f64>bins);
  let missed = 0, place = 0;
  for (let i = 0; i < count; i++) {
    let own = near, j = 0;
    for (; j + 2 <= d; j += 2, rows += 16, place += 2, own += 2 * size) {
      const at = <usize>j << 3;
      const bin = f64x2.sub(
        f64x2.floor(f64x2.div(v128.load(rows), v128.load(widths + at))), v128.load(lowest + at),
      );
      if (i64x2.all_true(v128.and(f64x2.ge(bin, none), f64x2.lt(bin, end)))) {
        const both = i32x4.trunc_sat_f64x2_s_zero(bin);
        add(own, i32x4.extract_lane(both, 0));
        add(own + size, i32x4.extract_lane(both, 1));
        continue;
      }
      if (!addTo(own, f64x2.extract_lane(bin, 0), bins)) missed = note(far, missed, place);
      if (!addTo(own + size, f64x2.extract_lane(bin, 1), bins)) {
        missed = note(far, missed, place + 1);
      }
    }
    if (j == d) continue;
    const at = <usize>j << 3;
    const bin = floor(load<f64>(rows) / load<f64>(widths + at)) - load<f64>(lowest + at);
    if (!addTo(own, bin, bins)) missed = note(far, missed, place);
    rows += 8;
    place += 1;
  }
  return missed;
}

// @ts-ignore: decorator
@inline
function addTo(counts: usize, bin: f64, bins: i32): bool {
  if (!(bin >= 0 && bin < <f64>bins)) return false;
  add(counts, <i32>bin);
  return true;
}

function note(list: usize, length: i32, place: i32): i32 {
  store<i32>(list + (<usize>length << 2), place);
  return length + 1;
}

/**
 * Counts each entry at place floor((entry - low) * rate) + 1 of its column, clamped to 0 .. cells +
 * 1. Each column has cells + 3 counts side by side. The last is for entries that are not finite.
 */
export function countCells(
  rows: usize, count: i32, d: i32, lows: usize, rates: usize, cells: i32, counts: usize,
): void {
  const size = <usize>(cells + 3) << 2;
  const most = f64x2.splat(<f64>cells + 1),
    nowhere = f64x2.splat(<f64>cells + 2), one = f64x2.splat(1);
  const zero = f64x2.splat(0);
  for (let i = 0; i < count; i++) {
    let own = counts, j = 0;
    for (; j < d; j += 2, own += 2 * size) {
      const at = <usize>j << 3, both = j + 2 <= d;
      const entry = both ? v128.load(rows + at) : v128.load64_zero(rows + at);
      const away = f64x2.mul(f64x2.sub(entry, v128.load(lows + at)), v128.load(rates + at));
      const held = f64x2.pmax(zero, f64x2.pmin(most, f64x2.add(f64x2.floor(away), one)));
      // Zero if the entry is finite, else NaN.
      const isFinite = f64x2.eq(f64x2.sub(entry, entry), zero);
      const place = i32x4.trunc_sat_f64x2_s_zero(v128.bitselect(held, nowhere, isFinite));
      add(own, i32x4.extract_lane(place, 0));
      if (both) add(own + size, i32x4.extract_lane(place, 1));
    }
    rows += <usize>d << 3;
  }
}

/**
 * Counts each row by the number of the `size` ascending edges that its squared distance from
 * `centre`, in units of the columns, is not below: in one of size + 1 doubles. Sums run over
 * columns in order. Four rows are computed at a time, so `rows` has room for a multiple of four. A
 * row with an entry that is not finite is not counted.
 */
export function countDistances(
  rows: usize, count: i32, d: i32, centre: usize, unit: usize, edges: usize, size: i32,
  work: usize, counts: usize,
): void {
  const row = <usize>d << 3;
  for (let i = 0; i < count; i += 4, rows += row << 2) {
    let s0 = f64x2.splat(0), s1 = s0;
    for (let j: usize = 0; j < row; j += 8) {
      const c = v128.load64_splat(centre + j), u = v128.load64_splat(unit + j), at = rows + j;
      const x0 = v128.load64_lane(at + row, v128.load64_zero(at), 1);
      const x1 = v128.load64_lane(at + 3 * row, v128.load64_zero(at + 2 * row), 1);
      const away0 = f64x2.div(f64x2.sub(x0, c), u), away1 = f64x2.div(f64x2.sub(x1, c), u);
      s0 = f64x2.add(s0, f64x2.mul(away0, away0));
      s1 = f64x2.add(s1, f64x2.mul(away1, away1));
    }
    v128.store(work, s0);
    v128.store(work, s1, 16);
    for (let r = 0, left = min(4, count - i); r < left; r++) {
      const square = load<f64>(work + (<usize>r << 3));
      // A square that is not finite is of a number that is not, or of one that is very far.
      if (!(square < Infinity) && !isFiniteRow(rows + <usize>r * row, row)) continue;
      let bin = 0;
      while (bin < size && square >= load<f64>(edges + (<usize>bin << 3))) bin++;
      const at = counts + (<usize>bin << 3);
      store<f64>(at, load<f64>(at) + 1);
    }
  }
}

/**
 * Counts numbers by their distance from `centre`, each side in `side` counts: those above it, then
 * those below. The first 13 bits of a distance give its place in the other tables; it is in the
 * cell of this place, or in the next one from the edge on. Numbers that are not finite are in none.
 * There is no branch, so no time depends on the numbers.
 */
export function countSides(
  rows: usize, count: i32, centre: f64, places: usize, cells: usize, edges: usize, side: i32,
  counts: usize,
): void {
  for (let i = 0; i < count; i++, rows += 8) {
    const away = load<f64>(rows) - centre, bits = reinterpret<u64>(away);
    const place = <usize>load<u8>(places + (<usize>(bits >>> 50) & 0x1fff));
    const isNext = <i32>(abs(away) >= load<f64>(edges + (place << 3)));
    const cell = <i32>(away < 0) * side + <i32>load<u8>(cells + place) + isNext;
    const at = counts + (<usize>cell << 2), isFinite = <u32>((bits >>> 52 & 0x7ff) != 0x7ff);
    store<u32>(at, load<u32>(at) + isFinite);
  }
}

function isFiniteRow(row: usize, size: usize): bool {
  for (let j: usize = 0; j < size; j += 8) if (!isFinite(load<f64>(row + j))) return false;
  return true;
}

// @ts-ignore: decorator
@inline
function add(counts: usize, place: i32): void {
  const at = counts + (<usize>place << 2);
  store<u32>(at, load<u32>(at) + 1);
}
