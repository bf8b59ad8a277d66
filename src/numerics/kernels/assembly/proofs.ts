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

/** sum + a b modulo p, below 2^61 + 8, for a sum below that. */
// @ts-ignore: decorator
@inline
function roughSum(sum: u64, a: u64, b: u64): u64 {
  const more = sum + roughProduct(a, b);
  return (more & p) + (more >> 61);
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
 * side, at c and at `apart` + c. There is one table of 64 x 64 sums for each of the four
 * combinations of a left pair and a right pair.
 */
export function addByPattern(
  left: usize, right: usize, apart: usize, count: i32, weights: usize, sums: usize,
): void {
  for (let c: usize = 0; c < <usize>count; c++) {
    const weight = load<u64>(weights + (c << 3));
    const l0 = <usize>load<u8>(left + c), l1 = <usize>load<u8>(left + apart + c);
    const r0 = <usize>load<u8>(right + c) << 6, r1 = <usize>load<u8>(right + apart + c) << 6;
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
 * products[i][j] += sum of sums[l, r] u_i(l) w_j(r) over all patterns l and r. `u` and `w` have
 * eight elements for each of 64 patterns; those of w are 0, 1 and -1. `work` has room for 512.
 */
export function addPatternProducts(
  sums: usize, u: usize, w: usize, products: usize, work: usize,
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
      store<u64>(at, added(load<u64>(at), sum));
    }
  }
}

/** The entry of a group from the patterns of its two pairs, and 64 elements for either pair. */
// @ts-ignore: decorator
@inline
function entryOf(patterns: usize, apart: usize, tables: usize): u64 {
  return load<u64>(tables + (<usize>load<u8>(patterns) << 3))
    + load<u64>(tables + 512 + (<usize>load<u8>(patterns + apart) << 3));
}

/** The tables of the next of four groups that are folded. */
const next: usize = 1024;

/**
 * out[c] = weights[c] times the sum of the entries of groups c, q + c, 2 q + c and 3 q + c, each
 * from tables of its own. Groups are `step` bytes apart. No weights where `weights` is 0.
 */
export function foldPatterns(
  patterns: usize, apart: usize, step: usize, count: i32, tables: usize, weights: usize,
  out: usize,
): void {
  for (let c: usize = 0; c < <usize>count; c++) {
    const at = patterns + c;
    // Eight elements are below 2^64.
    const sum = reduced(entryOf(at, apart, tables)
      + entryOf(at + step, apart, tables + next)
      + entryOf(at + 2 * step, apart, tables + 2 * next)
      + entryOf(at + 3 * step, apart, tables + 3 * next));
    store<u64>(out + (c << 3), weights == 0 ? sum : product(sum, load<u64>(weights + (c << 3))));
  }
}

/**
 * G(1) .. G(6) of a product of two polynomials that go through a0 .. a3 and b0 .. b3 at 0 .. 3 are
 * added to six sums, which stay below 2^61 + 8.
 */
// @ts-ignore: decorator
@inline
function addPointsOfFour(
  points: usize, a0: u64, a1: u64, a2: u64, a3: u64, b0: u64, b1: u64, b2: u64, b3: u64,
): void {
  addRoughTo(points, a1, b1);
  addRoughTo(points + 8, a2, b2);
  addRoughTo(points + 16, a3, b3);
  // Differences of first, second and third order; the third is the same at every point.
  const a21 = less(a2, a1), b21 = less(b2, b1);
  let da = less(a3, a2), ea = less(da, a21), db = less(b3, b2), eb = less(db, b21);
  const fa = less(ea, less(a21, less(a1, a0))), fb = less(eb, less(b21, less(b1, b0)));
  ea = added(ea, fa);
  da = added(da, ea);
  eb = added(eb, fb);
  db = added(db, eb);
  const a4 = added(a3, da), b4 = added(b3, db);
  addRoughTo(points + 24, a4, b4);
  ea = added(ea, fa);
  da = added(da, ea);
  eb = added(eb, fb);
  db = added(db, eb);
  const a5 = added(a4, da), b5 = added(b4, db);
  addRoughTo(points + 32, a5, b5);
  addRoughTo(points + 40,
    added(a5, added(da, added(ea, fa))), added(b5, added(db, added(eb, fb))));
}

/** As `pointsOfFour`, of the entries that `foldPatterns` adds up. The left ones have weights. */
export function pointsOfPatterns(
  left: usize, right: usize, apart: usize, step: usize, count: i32, u: usize, w: usize,
  weights: usize, points: usize,
): void {
  for (let c: usize = 0; c < <usize>count; c++) {
    const weight = load<u64>(weights + (c << 3));
    const l = left + c, r = right + c;
    addPointsOfFour(
      points,
      product(reduced(entryOf(l, apart, u)), weight),
      product(reduced(entryOf(l + step, apart, u + next)), weight),
      product(reduced(entryOf(l + 2 * step, apart, u + 2 * next)), weight),
      product(reduced(entryOf(l + 3 * step, apart, u + 3 * next)), weight),
      reduced(entryOf(r, apart, w)), reduced(entryOf(r + step, apart, w + next)),
      reduced(entryOf(r + 2 * step, apart, w + 2 * next)),
      reduced(entryOf(r + 3 * step, apart, w + 3 * next)),
    );
  }
  reduceAll(points, 6);
}

/**
 * Adds G(1) .. G(6) of G = sum of A_c B_c, where A_c goes through u[c], u[c + q], u[c + 2 q] and
 * u[c + 3 q] at 0 .. 3, and B_c through those of w.
 */
export function pointsOfFour(u: usize, w: usize, q: i32, points: usize): void {
  const part = <usize>q << 3;
  for (let c: usize = 0; c < part; c += 8) {
    const a = u + c, b = w + c;
    addPointsOfFour(
      points, load<u64>(a), load<u64>(a + part), load<u64>(a + 2 * part), load<u64>(a + 3 * part),
      load<u64>(b), load<u64>(b + part), load<u64>(b + 2 * part), load<u64>(b + 3 * part),
    );
  }
  reduceAll(points, 6);
}

/**
 * Adds G(1) .. G(2 k - 2) of G = sum of A_c B_c, where A_c goes through k entries of u, q apart, and B_c
 * through those of w. `weights` gives a polynomial's values at k .. 2 k - 2 from those at 0 .. k -
 * 1, row by row.
 */
export function pointsOfMany(
  u: usize, w: usize, q: i32, k: i32, weights: usize, points: usize,
): void {
  for (let c = 0; c < q; c++) {
    let point = points;
    for (let i = 1; i < k; i++, point += 8) {
      const at = <usize>(c + i * q) << 3;
      addRoughTo(point, load<u64>(u + at), load<u64>(w + at));
    }
    let row = weights;
    for (let j = 1; j < k; j++, point += 8) {
      let a: u64 = 0, b: u64 = 0;
      for (let i = 0; i < k; i++, row += 8) {
        const at = <usize>(c + i * q) << 3, weight = load<u64>(row);
        a = roughSum(a, weight, load<u64>(u + at));
        b = roughSum(b, weight, load<u64>(w + at));
      }
      addRoughTo(point, a, b);
    }
  }
  reduceAll(points, 2 * k - 2);
}

// @ts-ignore: decorator
@inline
function addRoughTo(at: usize, a: u64, b: u64): void {
  store<u64>(at, roughSum(load<u64>(at), a, b));
}

function reduceAll(at: usize, count: i32): void {
  for (let i = 0; i < count; i++, at += 8) store<u64>(at, reduced(load<u64>(at)));
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
      sum = roughSum(sum, load<u64>(weights + (i << 3)), load<u64>(u + c + i * part));
    }
    store<u64>(u + c, reduced(sum));
  }
}

/** target[c] += a[c] b[c]. */
export function addProducts(a: usize, b: usize, count: i32, target: usize): void {
  for (let c: usize = 0; c < <usize>count << 3; c += 8) {
    addTo(target + c, load<u64>(a + c), load<u64>(b + c));
  }
}

/** target[c] += a[c] times a number. */
export function addMultiples(a: usize, factor: usize, count: i32, target: usize): void {
  const b = load<u64>(factor);
  for (let c: usize = 0; c < <usize>count << 3; c += 8) addTo(target + c, load<u64>(a + c), b);
}

/** Adds the sum of a[c] b[c] to a number. */
export function addInnerProduct(a: usize, b: usize, count: i32, target: usize): void {
  let sum = load<u64>(target);
  for (let c: usize = 0; c < <usize>count << 3; c += 8) {
    sum = roughSum(sum, load<u64>(a + c), load<u64>(b + c));
  }
  store<u64>(target, reduced(sum));
}
