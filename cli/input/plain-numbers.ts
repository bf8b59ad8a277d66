import type { BatchBuilder } from './rows.js';

const [minus, zero] = [0x2d, 0x30];
/** Whole numbers of at most this many digits are below 2^53. */
const digitsMax = 15;
/** Exact in a double. */
const powersOf10 = Float64Array.from({ length: digitsMax + 1 }, (_, i) => 10 ** i);

/** The role of a cell that holds no number of a row. Any other cell has its place in the row. */
export const cellRole = { unused: -1, contributor: -2, group: -3 } as const;

/** The bytes by which numbers are written. */
export interface NumberMarks {
  /** The mark before the decimals. */
  readonly decimal: number;
  /** The marks between groups of three digits; none: digits are not grouped. */
  readonly thousands: Uint8Array;
}

/**
 * The meaning of points in a column's numbers, as far as its cells have shown: those of `either`
 * have three digits behind each, as if they stood between thousands.
 */
export const points = { none: 0, either: 1, decimal: 2 } as const;

/** Rows of numbers, whose cells can be read without making texts of them. */
export interface NumberRows {
  readonly builder: BatchBuilder;
  readonly marks: NumberMarks;
  /** By cell of a line, in its order: the place in a row, or one of the roles. */
  readonly roles: Int32Array;
  /** By place in a row: one of `points`. */
  readonly points: Uint8Array;
  /** By place in a row: 1 for whole numbers. */
  readonly isWhole: Uint8Array;
  /** By place in a row: 1 where an empty cell, or `null`, is allowed. */
  readonly mayBeEmpty: Uint8Array;
}

/**
 * Writes the number that begins at `from` into its place; NaN for an empty cell.
 *
 * A number of at most 15 digits is a whole number below 2^53 over a power of ten, which are both
 * exact, and division gives the nearest double to their quotient, as `Number` and `JSON.parse` do
 * (W. D. Clinger, How to read floating point numbers accurately, 1990).
 * @returns where it ends; -1: it is not in its plainest form.
 */
export function readNumber(
  bytes: Buffer, from: number, place: number, numbers: NumberRows,
): number {
  const { builder, marks, isWhole, mayBeEmpty } = numbers;
  // Counted from the zero, as digits are.
  const point = marks.decimal - zero;
  const isNegative = bytes[from] === minus;
  const start = isNegative ? from + 1 : from;
  let [at, whole, pointAt] = [start, 0, -1];
  for (;; at++) {
    const digit = bytes[at]! - zero;
    if (digit >= 0 && digit <= 9) whole = whole * 10 + digit;
    else if (digit === point && pointAt < 0) pointAt = at;
    else break;
  }
  const digits = at - start - (pointAt < 0 ? 0 : 1);
  let value = NaN;
  if (digits === 0) {
    if (at > from || mayBeEmpty[place] === 0) return -1;
  } else {
    if (digits > digitsMax || (pointAt >= 0 && isWhole[place] === 1)) return -1;
    value = pointAt < 0 ? whole : whole / powersOf10[at - pointAt - 1]!;
    if (pointAt >= 0 && numbers.points[place] !== points.decimal) {
      const mayGroup = at - pointAt === 4 && pointAt > start && pointAt - start <= 3
        && bytes[start] !== zero;
      numbers.points[place] = mayGroup ? points.either : points.decimal;
    }
    if (isNegative) value = -value;
  }
  builder.target[builder.offset + place] = value;
  return at;
}

/** As `readNumber`, for numbers that may have marks between groups of three digits. */
export function readGrouped(
  bytes: Buffer, from: number, place: number, numbers: NumberRows,
): number {
  const { builder, marks: { decimal, thousands }, isWhole, mayBeEmpty } = numbers;
  const isNegative = bytes[from] === minus;
  let at = isNegative ? from + 1 : from;
  let [whole, digits, decimals, groups, inGroup] = [0, 0, -1, 0, 0];
  for (;;) {
    const digit = bytes[at]! - zero;
    if (digit >= 0 && digit <= 9) {
      whole = whole * 10 + digit;
      digits += 1;
      if (decimals >= 0) decimals += 1;
      else inGroup += 1;
      at += 1;
    } else if (decimals < 0 && bytes[at] === decimal) {
      decimals = 0;
      at += 1;
    } else if (decimals < 0 && thousands.every((byte, i) => bytes[at + i] === byte)) {
      if (groups === 0 ? inGroup < 1 || inGroup > 3 : inGroup !== 3) return -1;
      groups += 1;
      inGroup = 0;
      at += thousands.length;
    } else break;
  }
  let value = NaN;
  if (digits === 0) {
    if (at > from || mayBeEmpty[place] === 0) return -1;
  } else {
    if (groups > 0 && inGroup !== 3) return -1;
    if (digits > digitsMax || (decimals >= 0 && isWhole[place] === 1)) return -1;
    value = decimals < 0 ? whole : whole / powersOf10[decimals]!;
    if (isNegative) value = -value;
  }
  builder.target[builder.offset + place] = value;
  return at;
}
