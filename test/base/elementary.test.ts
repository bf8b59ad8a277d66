import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ln, log2, pow } from '../../src/base/elementary.js';

/** Doubles of every size, from one sequence that all engines share. */
function* anyNumbers(count: number): Generator<number> {
  const words = new Uint32Array(2);
  const number = new Float64Array(words.buffer);
  let state = 1;
  const next = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0);
  for (let i = 0; i < count; i++) {
    next();
    words[0] = state;
    // Half of them of ordinary size, as the numbers of a release are.
    words[1] = i % 2 === 0 ? next() & 0x7fffffff : 0x3e000000 + next() % 0x02800000;
    if (number[0]! < Infinity) yield number[0]!;
  }
}

function digest(values: Iterable<number>): string {
  return createHash('sha256').update(new Uint8Array(Float64Array.from(values).buffer))
    .digest('hex').slice(0, 16);
}

/** How many doubles lie between two numbers of one sign. */
function apart(one: number, other: number): number {
  const bits = new BigInt64Array(Float64Array.of(one, other).buffer);
  return Number(bits[0]! - bits[1]!);
}

const numbers = [...anyNumbers(4000)];
const exponents = [-2.5, -2, -0.5, 1 / 3, 1.5, 3, 4, 7, 40, 1000.25];
const powers = numbers.flatMap((value) => exponents.map((exponent) => [value, exponent] as const));

describe('logarithms and powers', () => {
  it('have the bits they had, in every engine', () => {
    expect({
      ln: digest(numbers.map(ln)),
      log2: digest(numbers.map(log2)),
      pow: digest(powers.map(([base, exponent]) => pow(base, exponent))),
    }).toMatchInlineSnapshot(`
      {
        "ln": "d15bac80ee1d582c",
        "log2": "b8a68e9f9b4781e9",
        "pow": "dfe029f5b909bb9e",
      }
    `);
  });

  it('are within two units in the last place of what the engine says', () => {
    const isFar = (one: number, other: number): boolean => Math.abs(apart(one, other)) > 2;
    expect(numbers.filter((value) => isFar(ln(value), Math.log(value)))).toEqual([]);
    expect(numbers.filter((value) => isFar(log2(value), Math.log2(value)))).toEqual([]);
    expect(powers.filter(([base, exponent]) => isFar(pow(base, exponent), base ** exponent)))
      .toEqual([]);
  });

  it('are exact where the answer is a double', () => {
    const whole = Array.from({ length: 2098 }, (_, i) => i - 1074);
    expect(whole.map((k) => log2(2 ** k))).toEqual(whole);
    expect(whole.map((k) => pow(2, k))).toEqual(whole.map((k) => 2 ** k));
    expect(ln(1)).toBe(0);
    for (let base = 1; base <= 40; base++) expect(pow(base, 3)).toBe(base * base * base);
  });

  it('take arguments that are not ordinary as the engine does', () => {
    const odd = [
      0, -0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, Infinity, -Infinity, Number.NaN, Number.MAX_VALUE,
      Number.MIN_VALUE, -Number.MIN_VALUE, 2 ** 31, 2 ** 53 + 2, 1 + 2 ** -52, 1 - 2 ** -53,
    ];
    for (const base of odd) {
      if (!(base > 0) || base === Infinity) {
        expect([ln(base), log2(base)]).toEqual([Math.log(base), Math.log2(base)]);
      }
      for (const exponent of odd) {
        const [ours, theirs] = [pow(base, exponent), base ** exponent];
        expect(Number.isFinite(theirs) && theirs !== 0
          ? Math.abs(apart(ours, theirs)) <= 2 : Object.is(ours, theirs),
        `${base} ** ${exponent} is ${theirs}, not ${ours}`).toBe(true);
      }
    }
  });
});
