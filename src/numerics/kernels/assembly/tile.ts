/**
 * The inner loops of everything cubic: tiles of A^T B. `a` and `b` are panels: for each of `depth`
 * steps they hold some numbers side by side. Sums run over the steps in order, lane by lane,
 * without fused multiply-adds. So the bits are the same on every machine and for both shapes of
 * tile. The tile is added to `out`, whose rows are `stride` bytes.
 */

/** A 4 x 4 tile. A step of a panel has `aStep` or `bStep` bytes. */
export function tile(
  a: usize, aStep: usize, b: usize, bStep: usize, depth: i32, out: usize, stride: usize,
): void {
  let c00 = f64x2.splat(0), c01 = c00, c10 = c00, c11 = c00;
  let c20 = c00, c21 = c00, c30 = c00, c31 = c00;
  for (let end = a + <usize>depth * aStep; a < end; a += aStep, b += bStep) {
    const b0 = v128.load(b), b1 = v128.load(b, 16);
    const a0 = v128.load64_splat(a), a1 = v128.load64_splat(a, 8);
    c00 = f64x2.add(c00, f64x2.mul(a0, b0));
    c01 = f64x2.add(c01, f64x2.mul(a0, b1));
    c10 = f64x2.add(c10, f64x2.mul(a1, b0));
    c11 = f64x2.add(c11, f64x2.mul(a1, b1));
    const a2 = v128.load64_splat(a, 16), a3 = v128.load64_splat(a, 24);
    c20 = f64x2.add(c20, f64x2.mul(a2, b0));
    c21 = f64x2.add(c21, f64x2.mul(a2, b1));
    c30 = f64x2.add(c30, f64x2.mul(a3, b0));
    c31 = f64x2.add(c31, f64x2.mul(a3, b1));
  }
  addPair(out, c00, c01);
  addPair(out + stride, c10, c11);
  addPair(out + 2 * stride, c20, c21);
  addPair(out + 3 * stride, c30, c31);
}

/**
 * A 2 x 8 tile of panels with eight numbers per step. It copies half as many numbers of `a` to both
 * lanes as a 4 x 4 tile. The units that multiply and add also make these copies, so this tile takes
 * a sixth less time. More than these eight sums, or two steps at once, would not fit into the
 * registers. Testing at the end of a step saves a jump, a twentieth of the time.
 * @param depth - at least 1.
 */
export function wideTile(a: usize, b: usize, depth: i32, out: usize, stride: usize): void {
  let c00 = f64x2.splat(0), c01 = c00, c02 = c00, c03 = c00;
  let c10 = c00, c11 = c00, c12 = c00, c13 = c00;
  const end = a + (<usize>depth << 6);
  do {
    const b0 = v128.load(b), b1 = v128.load(b, 16), b2 = v128.load(b, 32), b3 = v128.load(b, 48);
    const a0 = v128.load64_splat(a), a1 = v128.load64_splat(a, 8);
    c00 = f64x2.add(c00, f64x2.mul(a0, b0));
    c01 = f64x2.add(c01, f64x2.mul(a0, b1));
    c02 = f64x2.add(c02, f64x2.mul(a0, b2));
    c03 = f64x2.add(c03, f64x2.mul(a0, b3));
    c10 = f64x2.add(c10, f64x2.mul(a1, b0));
    c11 = f64x2.add(c11, f64x2.mul(a1, b1));
    c12 = f64x2.add(c12, f64x2.mul(a1, b2));
    c13 = f64x2.add(c13, f64x2.mul(a1, b3));
    a += 64;
    b += 64;
  } while (a < end);
  addPair(out, c00, c01);
  addPair(out + 32, c02, c03);
  addPair(out + stride, c10, c11);
  addPair(out + stride + 32, c12, c13);
}

// @ts-ignore: decorator
@inline
function addPair(out: usize, left: v128, right: v128): void {
  v128.store(out, f64x2.add(v128.load(out), left));
  v128.store(out, f64x2.add(v128.load(out, 16), right), 16);
}
