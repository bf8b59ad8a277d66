import { describe, expect, it } from 'vitest';
import { createKernels, type PassOptions, type Rows } from '../../src/numerics/kernels/index.js';
import { clipBall, clipToBall } from '../../src/privacy/stages/clip.js';
import { seededRandom } from '../../src/random/work.js';
import { plainForms, plainGram, plainProduct, plainSums } from '../support/plain-kernels.js';

const kernels = createKernels();
const sizes = [1, 2, 3, 5, 7, 8, 33, 100];
const work = seededRandom(new Uint8Array(32).fill(7));
const uniform = (): number => 2 * work.uniform() - 1;
const numbers = (length: number, scale = 1): Float64Array =>
  Float64Array.from({ length }, () => scale * uniform());
const numbersOf = (length: number): Float64Array =>
  Float64Array.from({ length }, (_, i) => i / 3);

function expectClose(found: ArrayLike<number>, wanted: ArrayLike<number>, bound = 1e-12): void {
  expect(found.length).toBe(wanted.length);
  let largest = 1;
  let gap = 0;
  for (let i = 0; i < wanted.length; i++) {
    largest = Math.max(largest, Math.abs(wanted[i]!));
    gap = Math.max(gap, Math.abs(found[i]! - wanted[i]!));
  }
  expect(gap / largest).toBeLessThan(bound);
}

function optionsOf(d: number, count: number): readonly PassOptions[] {
  const mask = Uint8Array.from({ length: count }, () => (work.uniform() < 0.6 ? 1 : 0));
  const weights = Float64Array.from({ length: count }, () => work.uniform());
  const centre = numbers(d, 10);
  return [
    {}, { mask }, { weights }, { centre }, { mask, weights, centre },
    { mask: new Uint8Array(count) },
  ];
}

describe('passes over rows', () => {
  it.each(sizes)('agree with plain loops in %i columns, masked, weighted and '
    + 'centred', { tags: ['long'] }, (d) => {
    for (const count of [0, 1, 6, 257, d > 30 ? 701 : 4099]) {
      const rows = numbers(count * d, 3);
      for (const options of optionsOf(d, count)) {
        const gram = new Float64Array(d * d).fill(1);
        const beside = new Float64Array(d);
        kernels.gram(rows, d, count, options, gram, beside);
        expectClose(beside, plainSums(rows, d, count, options));
        expectClose(gram.map((entry) => entry - 1), plainGram(rows, d, count, options));
        const sums = new Float64Array(d).fill(1);
        kernels.columnSums(rows, d, count, options, sums);
        expectClose(sums.map((entry) => entry - 1), plainSums(rows, d, count, options));
      }
    }
  });

  it.each(sizes)('find quadratic forms and norms in %i columns, of each row by itself', (d) => {
    const count = 261;
    const rows = numbers(count * d);
    const centre = numbers(d);
    const matrix = numbers(d * d);
    const found = new Float64Array(count);
    kernels.quadraticForms(rows, d, count, centre, matrix, found);
    expectClose(found, plainForms(rows, d, count, centre, matrix));
    const alone = new Float64Array(1);
    kernels.quadraticForms(rows.subarray(7 * d), d, 1, centre, matrix, alone);
    expect(alone[0]).toBe(found[7]);
    const identity = Float64Array.from({ length: d * d }, (_, i) => (i % (d + 1) === 0 ? 1 : 0));
    kernels.squaredNorms(rows, d, count, centre, found);
    expectClose(found, plainForms(rows, d, count, centre, identity));
  });

  it('give small calls the bits that large ones give them', () => {
    for (const d of [1, 2, 3, 5, 9]) {
      for (const count of [1, 4, 11]) {
        const rows = numbers(count * d), matrix = numbers(d * d), weights = numbers(count);
        const none = new Float64Array(d);
        // A centre of zeros, or more rows of zeros, takes the call through the arena.
        for (const options of [{}, { weights }]) {
          const [few, many] = [options, { ...options, centre: none }].map((given) => {
            const gram = numbersOf(d * d), beside = numbersOf(d), sums = numbersOf(d);
            kernels.gram(rows, d, count, given, gram, beside);
            kernels.columnSums(rows, d, count, given, sums);
            return [gram, beside, sums];
          });
          expect(few).toEqual(many);
        }
        const longer = new Float64Array(300 * d);
        longer.set(rows);
        expect(kernels.product(rows, matrix, count, d, d))
          .toEqual(kernels.product(longer, matrix, 300, d, d).subarray(0, count * d));
        // As callers do that map rows: the product takes the place of a factor.
        const mapped = rows.slice();
        expect(kernels.product(mapped, matrix, count, d, d, mapped))
          .toEqual(kernels.product(rows, matrix, count, d, d));
      }
    }
  });

  it('sums whole steps exactly, whatever the order and the split', () => {
    const d = 33;
    const count = 2_000;
    const ball = clipBall(1, { products: true, rowsMax: count });
    const rows = new Float64Array(count * d);
    kernels.clipRows(numbers(count * d), d, count, { ...ball, centre: new Float64Array(d) }, rows);
    const whole = new Float64Array(d * d);
    kernels.gram(rows, d, count, {}, whole);
    const parts = new Float64Array(d * d);
    for (const [from, to] of [[1_234, 2_000], [0, 17], [17, 1_234]] as const) {
      kernels.gram(rows.subarray(from * d), d, to - from, {}, parts);
    }
    expect(parts).toEqual(whole);
    expect(whole).toEqual(plainGram(rows, d, count, {}));
  });

  it('widens single precision, and does not see masked rows that are not finite', () => {
    const single = Float32Array.from(numbers(500 * 7));
    const fromSingle = new Float64Array(49);
    const fromDouble = new Float64Array(49);
    kernels.gram(single, 7, 500, {}, fromSingle);
    kernels.gram(Float64Array.from(single), 7, 500, {}, fromDouble);
    expect(fromSingle).toEqual(fromDouble);
    const spoiled = Float64Array.of(1, 2, Number.NaN, Infinity, 3, 4);
    const gram = new Float64Array(4);
    kernels.gram(spoiled, 2, 3, { mask: Uint8Array.of(1, 0, 1) }, gram);
    expect([...gram]).toEqual([10, 14, 14, 20]);
  });

  it('takes means that hold far from the origin, and zeros of nothing', () => {
    const rows = numbers(4_000 * 3).map((entry) => entry + 1e9);
    const exact = [0, 1, 2].map((j) => {
      let sum = 0;
      for (let r = 0; r < 4_000; r++) sum += rows[r * 3 + j]! - 1e9;
      return sum / 4_000;
    });
    kernels.means(rows, 3, 4_000, {})
      .forEach((mean, j) => expect(Math.abs(mean - 1e9 - exact[j]!)).toBeLessThan(3e-7));
    expect([...kernels.means(rows, 3, 10, { mask: new Uint8Array(10) })]).toEqual([0, 0, 0]);
    expect([...kernels.means(Float64Array.of(1, 5), 1, 2, { weights: Float64Array.of(3, 1) })])
      .toEqual([2]);
  });

  it('refuses sizes that do not fit', () => {
    const empty = new Float64Array(0);
    expect(() => kernels.gram(numbers(5), 2, 3, {}, new Float64Array(4))).toThrow(/rows hold/);
    expect(() => kernels.gram(numbers(6), 2, 3, { mask: new Uint8Array(2) }, new Float64Array(4)))
      .toThrow(/mask/);
    expect(() => kernels.product(empty, empty, 1, 1, 1)).toThrow(/factors/);
  });
});

describe('clipRows', () => {
  function expectSame(
    rows: Rows, d: number, count: number, radius: number, unit?: Float64Array,
  ): void {
    const centre = numbers(d);
    const ball = clipBall(radius, { products: true, rowsMax: 1e6 });
    const found = new Float64Array(count * d);
    const present = new Uint8Array(count);
    const added = { sums: new Float64Array(d).fill(1), products: new Float64Array(d * d).fill(2) };
    const kept = kernels.clipRows(
      rows, d, count, { ...ball, centre, ...(unit ? { unit } : {}) }, found, present, added,
    );
    expect(kept).toBe(present.reduce((all, one) => all + one, 0));
    const [sums, products] = [new Float64Array(d).fill(1), new Float64Array(d * d).fill(2)];
    kernels.gram(found, d, count, {}, products, sums);
    // Whole numbers: exact in any order.
    expect(added).toEqual({ sums, products });
    const alone = new Float64Array(d).fill(1);
    const there = kernels.addClipped(
      rows, d, count, { ...ball, centre, ...(unit ? { unit } : {}) }, alone,
    );
    expect(alone).toEqual(sums);
    expect(there).toBe(kept);
    const steps = new Float64Array(d);
    for (let r = 0; r < count; r++) {
      const there = clipToBall(Float64Array.from(rows), r * d, centre, ball, steps, unit);
      expect(present[r]).toBe(there ? 1 : 0);
      expect(found.subarray(r * d, (r + 1) * d)).toEqual(steps);
    }
  }

  it.each([1, 2, 5, 8, 33])(
    'gives the bits of clipToBall in %i columns, near and far, in any unit', (d) => {
      for (const scale of [1e-300, 1e-3, 1, 30, 1e6, 1e150, 1e308]) {
        expectSame(
          numbers(40 * d, scale), d, 40, 2.5, numbers(d).map((entry) => 0.5 + Math.abs(entry)),
        );
        expectSame(numbers(40 * d, scale), d, 40, 0.7);
      }
    },
  );

  it.each([1, 2, 7, 10])(
    'gives the bits of clipToBall in %i columns about the edge of the ball, in any grid', (d) => {
      const count = 2_000;
      const rows = numbers(count * d);
      for (let r = 0; r < count; r++) {
        const own = rows.subarray(r * d, (r + 1) * d);
        // On the edge, within some parts in 2^15, 2^25, ... of it, or off it.
        const length = (1 + own[0]! * 2 ** (-10 * (r % 6))) / Math.hypot(...own);
        own.forEach((entry, j) => (own[j] = entry * length));
      }
      for (const grid of [2 ** -20, 0.3e-6]) {
        const ball = { grid, steps: Math.floor(1 / grid), radius: 1 };
        const [found, steps] = [new Float64Array(count * d), new Float64Array(d)];
        const centre = new Float64Array(d);
        kernels.clipRows(rows, d, count, { ...ball, centre }, found);
        for (let r = 0; r < count; r++) {
          clipToBall(rows, r * d, centre, ball, steps);
          expect(found.subarray(r * d, (r + 1) * d)).toEqual(steps);
        }
      }
    },
  );

  it('makes rows that are not finite null, in place and in single precision too', () => {
    const rows = Float64Array.of(0.5, 0.25, Number.NaN, 1, 2, Infinity, 0, -0);
    expectSame(rows, 2, 4, 1);
    const ball = { ...clipBall(1, { products: true, rowsMax: 1e9 }), centre: new Float64Array(2) };
    const single = new Float32Array(8);
    kernels.clipRows(rows, 2, 4, ball, single);
    kernels.clipRows(rows, 2, 4, ball, rows);
    expect([...rows]).toEqual([...single]);
    expect(rows[0]! > 0 && Object.is(rows[7], 0)).toBe(true);
    expect(() => kernels.clipRows(rows, 2, 4, { ...ball, steps: 2 ** 25 }, single))
      .toThrow(/2\^24/);
  });
});

describe('product', () => {
  it('may take the place of its first factor', () => {
    const [a, b] = [numbers(33 * 9), numbers(81)];
    const expected = plainProduct(a, b, 33, 9, 9);
    expect(kernels.product(a, b, 33, 9, 9, a)).toBe(a);
    expectClose(a, expected);
    expect(() => kernels.product(a, b, 33, 9, 9, b)).toThrow(/size that was given/);
  });

  it('has the bits of plain loops for odd shapes and over blocks of rows', () => {
    const shapes = [
      [1, 1, 1], [2, 3, 5], [7, 1, 8], [33, 100, 9], [4, 0, 4], [10, 17, 12], [501, 200, 37],
      [3_001, 8, 16], [2_500, 9, 7],
    ] as const;
    for (const [n, k, m] of shapes) {
      const a = numbers(n * k);
      const b = numbers(k * m);
      expect(kernels.product(a, b, n, k, m)).toEqual(plainProduct(a, b, n, k, m));
    }
  });
});
