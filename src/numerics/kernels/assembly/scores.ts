/**
 * Scores of rows under a quadratic form, and counts of them. Pointers count bytes; rows are
 * row-major, `d` columns.
 */

/**
 * Writes (x - centre)^T form (x - centre) of every row. The entries of the form below its diagonal
 * are zero; its rows have d numbers. Four rows are computed at a time, one in each lane. So the
 * score of a row does not depend on other rows, and sums run over columns in order. `rows` and
 * `out` have room for a multiple of four rows, `work` for 4 d numbers.
 */
export function scoreRows(
  rows: usize, count: i32, d: i32, centre: usize, form: usize, work: usize, out: usize,
): void {
  const size = <usize>d << 3;
  for (let i = 0; i < count; i += 4, rows += size << 2, out += 32) {
    toLanes(rows, d, centre, work);
    let s0 = f64x2.splat(0), s1 = s0, j: usize = 0;
    for (; j + 16 <= size; j += 16) {
      let a0 = f64x2.splat(0), a1 = a0, b0 = a0, b1 = a0;
      let z = work, at = form + j;
      // Up to the diagonal of the second column. The first column has a zero there.
      for (const end = work + (j << 2) + 64; z < end; z += 32, at += size) {
        const z0 = v128.load(z), z1 = v128.load(z, 16);
        const f = v128.load64_splat(at), g = v128.load64_splat(at, 8);
        a0 = f64x2.add(a0, f64x2.mul(f, z0));
        a1 = f64x2.add(a1, f64x2.mul(f, z1));
        b0 = f64x2.add(b0, f64x2.mul(g, z0));
        b1 = f64x2.add(b1, f64x2.mul(g, z1));
      }
      s0 = f64x2.add(s0, f64x2.mul(v128.load(z - 64), a0));
      s1 = f64x2.add(s1, f64x2.mul(v128.load(z - 48), a1));
      s0 = f64x2.add(s0, f64x2.mul(v128.load(z - 32), b0));
      s1 = f64x2.add(s1, f64x2.mul(v128.load(z - 16), b1));
    }
    if (j < size) {
      let a0 = f64x2.splat(0), a1 = a0, z = work, at = form + j;
      for (const end = work + (size << 2); z < end; z += 32, at += size) {
        const f = v128.load64_splat(at);
        a0 = f64x2.add(a0, f64x2.mul(f, v128.load(z)));
        a1 = f64x2.add(a1, f64x2.mul(f, v128.load(z, 16)));
      }
      s0 = f64x2.add(s0, f64x2.mul(v128.load(z - 32), a0));
      s1 = f64x2.add(s1, f64x2.mul(v128.load(z - 16), a1));
    }
    v128.store(out, s0);
    v128.store(out, s1, 16);
  }
}

/** Four rows minus the centre, column by column. */
// @ts-ignore: decorator
@inline
function toLanes(rows: usize, d: i32, centre: usize, to: usize): void {
  const size = <usize>d << 3;
  let j: usize = 0;
  for (; j + 16 <= size; j += 16, to += 64) {
    const c = v128.load(centre + j), at = rows + j;
    const x0 = f64x2.sub(v128.load(at), c), x1 = f64x2.sub(v128.load(at + size), c);
    const x2 = f64x2.sub(v128.load(at + 2 * size), c), x3 = f64x2.sub(v128.load(at + 3 * size), c);
    v128.store(to, v128.shuffle<f64>(x0, x1, 0, 2));
    v128.store(to, v128.shuffle<f64>(x2, x3, 0, 2), 16);
    v128.store(to, v128.shuffle<f64>(x0, x1, 1, 3), 32);
    v128.store(to, v128.shuffle<f64>(x2, x3, 1, 3), 48);
  }
  if (j == size) return;
  const c = load<f64>(centre + j);
  for (let r: usize = 0; r < 4; r++) store<f64>(to + (r << 3), load<f64>(rows + r * size + j) - c);
}

/**
 * Bins each row that `alive` does not mask by the last of the `size` ascending edges that its score
 * reaches, and counts the rows of each bin in `size` doubles. `bins` gets the number of the bin,
 * from 1, or 0 for a row that is masked or below all edges. All arrays but the scores have one byte
 * per row.
 */
export function countScores(
  scores: usize, count: i32, alive: usize, edges: usize, size: i32, counts: usize, bins: usize,
): void {
  const first = load<f64>(edges);
  for (let i: usize = 0; i < <usize>count; i++) {
    const score = load<f64>(scores + (i << 3));
    let bin = 0;
    if (score >= first && load<u8>(alive + i) != 0) {
      bin = size;
      while (score < load<f64>(edges + (<usize>(bin - 1) << 3))) bin--;
      const at = counts + (<usize>(bin - 1) << 3);
      store<f64>(at, load<f64>(at) + 1);
    }
    store<u8>(bins + i, bin);
  }
}

/**
 * Removes the rows with `least` <= bin < `below`, where `least` > 0, from `alive`, and lists them.
 * Returns how many.
 */
export function takeBinned(
  bins: usize, alive: usize, count: i32, least: i32, below: i32, list: usize,
): i32 {
  let taken = 0;
  for (let i = 0; i < count; i++) {
    // Most rows are in no bin.
    if ((i & 7) == 0 && i + 8 <= count && load<u64>(bins + <usize>i) == 0) {
      i += 7;
      continue;
    }
    const bin = <i32>load<u8>(bins + <usize>i);
    if (bin < least || bin >= below || load<u8>(alive + <usize>i) == 0) continue;
    store<u8>(alive + <usize>i, 0);
    store<u32>(list + (<usize>taken << 2), i);
    taken++;
  }
  return taken;
}
