/** Counts of where entries are, over a block of rows, row-major, `d` columns. Pointers are bytes; counts are 32 bits. */

/**
 * Counts each entry in its column's bin floor(entry / width) - lowest, where that is within 0 .. bins - 1. The places
 * of all other entries, also those that are no numbers, go to `far`; returns how many.
 */
export function countBins(
  rows: usize, count: i32, d: i32, widths: usize, lowest: usize, bins: i32, near: usize, far: usize,
): i32 {
  const size = <usize>bins << 2;
  let missed = 0, place = 0;
  for (let i = 0; i < count; i++) {
    let own = near, j = 0;
    for (; j + 2 <= d; j += 2, rows += 16, place += 2, own += 2 * size) {
      const at = <usize>j << 3;
      const bin = f64x2.sub(f64x2.floor(f64x2.div(v128.load(rows), v128.load(widths + at))), v128.load(lowest + at));
      if (!addTo(own, f64x2.extract_lane(bin, 0), bins)) missed = note(far, missed, place);
      if (!addTo(own + size, f64x2.extract_lane(bin, 1), bins)) missed = note(far, missed, place + 1);
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
  const at = counts + (<usize>(<i32>bin) << 2);
  store<u32>(at, load<u32>(at) + 1);
  return true;
}

function note(list: usize, length: i32, place: i32): i32 {
  store<i32>(list + (<usize>length << 2), place);
  return length + 1;
}

/**
 * Counts each finite entry by the first of its column's `size` edges above it. `rates` has edges per unit, for a guess
 * that the comparisons then put right.
 */
export function countCells(
  rows: usize, count: i32, d: i32, edges: usize, size: i32, rates: usize, counts: usize,
): void {
  const column = <usize>size << 3, cells = <usize>(size + 1) << 2;
  for (let i = 0; i < count; i++) {
    let first = edges, own = counts;
    for (let j = 0; j < d; j++, rows += 8, first += column, own += cells) {
      const entry = load<f64>(rows);
      if (!(entry - entry == 0)) continue;
      const guess = (entry - load<f64>(first)) * load<f64>(rates + (<usize>j << 3));
      // Edges that coincide make a rate, and a guess, that is no number.
      let k = guess >= 0 ? (guess < <f64>size ? min(<i32>guess + 1, size) : size) : 0;
      while (k > 0 && load<f64>(first + (<usize>(k - 1) << 3)) > entry) k--;
      while (k < size && load<f64>(first + (<usize>k << 3)) <= entry) k++;
      const at = own + (<usize>k << 2);
      store<u32>(at, load<u32>(at) + 1);
    }
  }
}
