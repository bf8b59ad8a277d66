import { assert } from '../../base/assert.js';
import { InvalidParameterError } from '../../base/errors.js';

/**
 * A privacy amount (rho, epsilon or delta): an integer number of units of 2^-64, always rounded up.
 * So a tiny charge cannot vanish, and sums are exact. The store and the wire write it as a decimal
 * integer.
 */
export type Amount = bigint & { readonly amount: unique symbol };

/**
 * A sum of pure epsilons, or null, which is called `none`: a part of it was not pure differential
 * privacy, or nobody knows. `none` absorbs: a sum with it is `none`.
 */
export type PureAmount = Amount | null;

export const amountUnit = 1n << 64n;
export const zeroAmount = 0n as Amount;

/** An exact non-negative rational. Kept unreduced. */
export interface Ratio {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** The exact value of a finite double >= 0, in lowest terms. */
export function ratioOfDouble(value: number): Ratio {
  if (!Number.isFinite(value) || value < 0) {
    throw new InvalidParameterError('expected a finite number that is not negative', { value });
  }
  let exponent = 0;
  let mantissa = value;
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2 ** 16;
    exponent += 16;
  }
  // Exact as well: the samplers draw as many bits as the denominator has, so it must be the least.
  while (exponent > 0 && mantissa % 2 === 0) {
    mantissa /= 2;
    exponent -= 1;
  }
  return { numerator: BigInt(mantissa), denominator: 1n << BigInt(exponent) };
}

/** The smallest amount that is at least `ratio`. */
export function amountAtLeast(ratio: Ratio): Amount {
  assert(ratio.denominator > 0n && ratio.numerator >= 0n, 'a ratio is not negative');
  const scaled = ratio.numerator * amountUnit;
  return ((scaled + ratio.denominator - 1n) / ratio.denominator) as Amount;
}

/** The smallest amount that is at least the double `value`. */
export function amountOf(value: number): Amount {
  return amountAtLeast(ratioOfDouble(value));
}

/** The largest amount that is at most `value`. For caps, which round down. */
export function capOf(value: number): Amount {
  const ratio = ratioOfDouble(value);
  return ((ratio.numerator * amountUnit) / ratio.denominator) as Amount;
}

/** A double that is at least the amount: for display and for reports, never for deciding. */
export function amountToNumber(amount: Amount): number {
  const near = Number(amount) / 2 ** 64;
  return amountOf(near) >= amount ? near : near * (1 + 2 ** -52);
}

/** As `parseAmount`; null is `none`. */
export function parsePure(text: string | null): PureAmount {
  return text === null ? null : parseAmount(text);
}

/** The decimal text of an amount; null is `none`. */
export function pureText(amount: PureAmount): string | null {
  return amount === null ? null : String(amount);
}

/**
 * An amount from its decimal text, in units of 2^-64.
 * @throws InvalidParameterError when the text is not a decimal integer.
 */
export function parseAmount(text: string): Amount {
  if (!/^[0-9]{1,60}$/.test(text)) {
    throw new InvalidParameterError('a privacy amount is a decimal integer');
  }
  return BigInt(text) as Amount;
}
