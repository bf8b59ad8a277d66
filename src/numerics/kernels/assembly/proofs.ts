/**
 * Proofs of sealed runs, in the field of p = 2^61 - 1: vectors of elements below p, 8 bytes each.
 * Pointers count bytes.
 */
const p: u64 = 0x1fff_ffff_ffff_ffff;

/** x modulo p, for any x: 2^61 is 1. */
// @ts-ignore: decorator
@inline
function reduced(x: u64): u64 {
  const rest = (x & p) + (x >> 61);
  return rest >= p ? rest - p : rest;
}

/** a b modulo p, below 2^61 + 8, for a and b below that. */
// @ts-ignore: decorator
@inline
function roughProduct(a: u64, b: u64): u64 {
  const a0 = a & 0xffff_ffff, a1 = a >> 32, b0 = b & 0xffff_ffff, b1 = b >> 32;
  const low = a0 * b0, middle = a1 * b0 + a0 * b1, high = a1 * b1;
  // 2^64 is 8, and 2^32 times the middle is its bits from 29 on, and the rest 32 places higher.
  // Three of the five terms are below 2^61 + 2^34, and the two others below 2^34.
  const sum = (low & p) + (low >> 61) + ((middle & 0x1fff_ffff) << 32) + (middle >> 29)
    + (high << 3);
  return (sum & p) + (sum >> 61);
}

// @ts-ignore: decorator
@inline
function product(a: u64, b: u64): u64 {
  const rough = roughProduct(a, b);
  return rough >= p ? rough - p : rough;
}

// @ts-ignore: decorator
@inline
function added(a: u64, b: u64): u64 {
  const sum = a + b;
  return sum >= p ? sum - p : sum;
}

// @ts-ignore: decorator
@inline
function less(a: u64, b: u64): u64 {
  return a >= b ? a - b : a + p - b;
}

/** The eight bits of a byte as eight bytes, 0 or 1, lowest first. */
// @ts-ignore: decorator
@inline
function spread(byte: usize): u64 {
  const bits = (<u64>load<u8>(byte) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
  return ((bits + 0x7f7f_7f7f_7f7f_7f7f) >> 7) & 0x0101_0101_0101_0101;
}

/**
 * Patterns of pairs of ands, a byte each: three bits of the one and three of the other. Three lists
 * of `2 * half` bytes have a bit of each and. A pair is bit i and bit 8 half + i.
 */
export function andPatterns(x: usize, y: usize, third: usize, half: i32, patterns: usize): void {
  for (let i: usize = 0; i < <usize>half; i++) {
    const other = i + <usize>half;
    store<u64>(
      patterns + (i << 3),
      spread(x + i) | (spread(y + i) << 1) | (spread(third + i) << 2)
        | (spread(x + other) << 3) | (spread(y + other) << 4) | (spread(third + other) << 5),
    );
  }
}

const table: usize = 4096 * 8;

/**
 * Adds up the weights of groups of four ands by their patterns: a group has two pairs on either
 * side, at c and at `groups` + c. There is one table of 64 x 64 sums for each of the four
 * combinations of a left pair and a right pair.
 */
export function addByPattern(
  left: usize, right: usize, groups: usize, count: i32, weights: usize, sums: usize,
): void {
  memory.fill(sums, 0, 4 * table);
  for (let c: usize = 0; c < <usize>count; c++) {
    const weight = load<u64>(weights + (c << 3));
    const l0 = <usize>load<u8>(left + c), l1 = <usize>load<u8>(left + groups + c);
    const r0 = <usize>load<u8>(right + c) << 6, r1 = <usize>load<u8>(right + groups + c) << 6;
    addRough(sums + ((l0 | r0) << 3), weight);
    addRough(sums + table + ((l0 | r1) << 3), weight);
    addRough(sums + 2 * table + ((l1 | r0) << 3), weight);
    addRough(sums + 3 * table + ((l1 | r1) << 3), weight);
  }
}

/** A sum that stays below 2^61 + 8. */
// @ts-ignore: decorator
@inline
function addRough(at: usize, weight: u64): void {
  const sum = load<u64>(at) + weight;
  store<u64>(at, (sum & p) + (sum >> 61));
}

/**
 * products[i][j] += weight * sum of sums[l, r] u_i(l) w_j(r) over all patterns l and r. `u` and `w`
 * have eight elements for each of 64 patterns; those of w are 0, 1 and -1. `work` has room for 512.
 */
export function addPatternProducts(
  sums: usize, u: usize, w: usize, weight: usize, products: usize, work: usize,
): void {
  for (let l = 0; l < 64; l++) {
    for (let j = 0; j < 8; j++) {
      let sum: u64 = 0;
      for (let r = 0; r < 64; r++) {
        const factor = load<u64>(w + ((r * 8 + j) << 3));
        if (factor == 0) continue;
        const weights = reduced(load<u64>(sums + ((l | (r << 6)) << 3)));
        sum = factor == 1 ? added(sum, weights) : less(sum, weights);
      }
      store<u64>(work + ((l * 8 + j) << 3), sum);
    }
  }
  for (let i = 0; i < 8; i++) {
    for (let j = 0; j < 8; j++) {
      let sum: u64 = 0;
      for (let l = 0; l < 64; l++) {
        sum = reduced(sum
          + roughProduct(load<u64>(u + ((l * 8 + i) << 3)), load<u64>(work + ((l * 8 + j) << 3))));
      }
      const at = products + ((i * 8 + j) << 3);
      store<u64>(at, added(load<u64>(at), product(load<u64>(weight), sum)));
    }
  }
}

/**
 * Entries of groups, from the patterns of their two pairs and a table of 64 elements for either
 * pair. Each is multiplied by its weight, unless `weights` is 0.
 */
export function foldPatterns(
  patterns: usize, groups: usize, count: i32, tables: usize, weights: usize, out: usize,
): void {
  for (let c: usize = 0; c < <usize>count; c++) {
    const sum = added(
      load<u64>(tables + (<usize>load<u8>(patterns + c) << 3)),
      load<u64>(tables + 512 + (<usize>load<u8>(patterns + groups + c) << 3)),
    );
    store<u64>(out + (c << 3), weights == 0 ? sum : product(sum, load<u64>(weights + (c << 3))));
  }
}

/**
 * G(1) .. G(6) of G = sum of A_c B_c, where A_c goes through u[c], u[c + q], u[c + 2 q], u[c + 3 q]
 * at 0 .. 3, and B_c through those of w.
 */
export function pointsOfFour(u: usize, w: usize, q: i32, points: usize): void {
  let g1: u64 = 0, g2: u64 = 0, g3: u64 = 0, g4: u64 = 0, g5: u64 = 0, g6: u64 = 0;
  const part = <usize>q << 3;
  for (let c: usize = 0; c < part; c += 8) {
    const a0 = load<u64>(u + c), a1 = load<u64>(u + c + part);
    const a2 = load<u64>(u + c + 2 * part), a3 = load<u64>(u + c + 3 * part);
    const b0 = load<u64>(w + c), b1 = load<u64>(w + c + part);
    const b2 = load<u64>(w + c + 2 * part), b3 = load<u64>(w + c + 3 * part);
    g1 = reduced(g1 + roughProduct(a1, b1));
    g2 = reduced(g2 + roughProduct(a2, b2));
    g3 = reduced(g3 + roughProduct(a3, b3));
    // Differences of first, second and third order; the third is the same at every point.
    const a21 = less(a2, a1), b21 = less(b2, b1);
    let da = less(a3, a2), ea = less(da, a21), db = less(b3, b2), eb = less(db, b21);
    const fa = less(ea, less(a21, less(a1, a0))), fb = less(eb, less(b21, less(b1, b0)));
    ea = added(ea, fa);
    da = added(da, ea);
    eb = added(eb, fb);
    db = added(db, eb);
    const a4 = added(a3, da), b4 = added(b3, db);
    g4 = reduced(g4 + roughProduct(a4, b4));
    ea = added(ea, fa);
    da = added(da, ea);
    eb = added(eb, fb);
    db = added(db, eb);
    const a5 = added(a4, da), b5 = added(b4, db);
    g5 = reduced(g5 + roughProduct(a5, b5));
    g6 = reduced(g6 + roughProduct(
      added(a5, added(da, added(ea, fa))), added(b5, added(db, added(eb, fb))),
    ));
  }
  store<u64>(points, g1);
  store<u64>(points, g2, 8);
  store<u64>(points, g3, 16);
  store<u64>(points, g4, 24);
  store<u64>(points, g5, 32);
  store<u64>(points, g6, 40);
}

/**
 * G(1) .. G(2 k - 2) of G = sum of A_c B_c, where A_c goes through k entries of u, q apart, and B_c
 * through those of w. `weights` gives a polynomial's values at k .. 2 k - 2 from those at 0 .. k -
 * 1, row by row.
 */
export function pointsOfMany(
  u: usize, w: usize, q: i32, k: i32, weights: usize, points: usize,
): void {
  memory.fill(points, 0, (2 * <usize>k - 2) << 3);
  for (let c = 0; c < q; c++) {
    let point = points;
    for (let i = 1; i < k; i++, point += 8) {
      const at = <usize>(c + i * q) << 3;
      addTo(point, load<u64>(u + at), load<u64>(w + at));
    }
    let row = weights;
    for (let j = 1; j < k; j++, point += 8) {
      let a: u64 = 0, b: u64 = 0;
      for (let i = 0; i < k; i++, row += 8) {
        const at = <usize>(c + i * q) << 3, weight = load<u64>(row);
        a = reduced(a + roughProduct(weight, load<u64>(u + at)));
        b = reduced(b + roughProduct(weight, load<u64>(w + at)));
      }
      addTo(point, a, b);
    }
  }
}

// @ts-ignore: decorator
@inline
function addTo(at: usize, a: u64, b: u64): void {
  store<u64>(at, reduced(load<u64>(at) + roughProduct(a, b)));
}

/** u[c] = the sum of weights[i] u[c + i q], for c below q. */
export function foldVector(u: usize, q: i32, k: i32, weights: usize): void {
  const part = <usize>q << 3;
  if (k == 4) {
    const w0 = load<u64>(weights), w1 = load<u64>(weights, 8);
    const w2 = load<u64>(weights, 16), w3 = load<u64>(weights, 24);
    for (let c: usize = 0; c < part; c += 8) {
      const at = u + c;
      store<u64>(at, reduced(
        reduced(roughProduct(load<u64>(at), w0) + roughProduct(load<u64>(at + part), w1))
          + reduced(roughProduct(load<u64>(at + 2 * part), w2)
            + roughProduct(load<u64>(at + 3 * part), w3)),
      ));
    }
    return;
  }
  for (let c: usize = 0; c < part; c += 8) {
    let sum: u64 = 0;
    for (let i: usize = 0; i < <usize>k; i++) {
      sum = reduced(sum
        + roughProduct(load<u64>(weights + (i << 3)), load<u64>(u + c + i * part)));
    }
    store<u64>(u + c, sum);
  }
}

/** out[c] = a[c] weights[c]. */
export function weigh(a: usize, weights: usize, count: i32, out: usize): void {
  for (let c: usize = 0; c < <usize>count << 3; c += 8) {
    store<u64>(out + c, product(load<u64>(a + c), load<u64>(weights + c)));
  }
}

/** Writes the sum of a[c] b[c]. */
export function innerProduct(a: usize, b: usize, count: i32, out: usize): void {
  let sum: u64 = 0;
  for (let c: usize = 0; c < <usize>count << 3; c += 8) {
    sum = reduced(sum + roughProduct(load<u64>(a + c), load<u64>(b + c)));
  }
  store<u64>(out, sum);
}
