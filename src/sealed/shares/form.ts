import { assert } from '../../base/assert.js';
import { concatBytes } from '../../base/bytes.js';
import { InvalidParameterError } from '../../base/errors.js';
import { sealedLimits } from '../../base/sealed-limits.js';

/**
 * The form of a contributor's shares for one question. Any list of values is a valid one, so no
 * bytes that somebody sends can be anything but a row.
 */
export interface ShareForm {
  /** `numbers` are shared by sums modulo 2^bits, `bin` is shared by exclusive or. */
  readonly kind: 'numbers' | 'bin';
  /** Values of a row, with one more where a contributor may have none; 1 for a bin. */
  readonly count: number;
  /** Bits of each value: 8 to 20 for numbers, 1 to 8 for a bin. */
  readonly bits: number;
}

export const { columns: columnsMax, bits: numberBits } = sealedLimits;
export const binBitsMax = 8;

/** @throws InvalidParameterError when the form is outside the limits. */
export function checkForm({ kind, count, bits }: ShareForm): void {
  const [least, most, countMax] = kind === 'bin'
    ? [1, binBitsMax, 1] : [numberBits.least, numberBits.most, columnsMax + 1];
  const isWhole = Number.isInteger(count) && Number.isInteger(bits);
  if (isWhole && count >= 1 && count <= countMax && bits >= least && bits <= most) return;
  throw new InvalidParameterError(
    `a row of ${count} values with ${bits} bits cannot be shared as ${kind}: give 1 to ${countMax} `
      + `values of ${least} to ${most} bits`,
    { kind, count, bits },
  );
}

/** Bytes of a row whose values are packed without gaps. */
export function packedBytes({ count, bits }: ShareForm): number {
  return Math.ceil((count * bits) / 8);
}

/** Packs values, the lowest bit of the first one first. The bits left over are zeros. */
export function packValues(values: Uint32Array, form: ShareForm): Uint8Array {
  assert(values.length === form.count, 'a row has the values of its form');
  const packed = new Uint8Array(packedBytes(form));
  for (let at = 0; at < form.count * form.bits; at++) {
    const bit = (values[Math.floor(at / form.bits)]! >>> (at % form.bits)) & 1;
    packed[at >>> 3]! |= bit << (at & 7);
  }
  return packed;
}

/**
 * The forms of the questions of a study, in their order. An entry holds a row for each of them, and
 * each row begins at a byte of its own: an entry for one question is that question's row.
 */
export type EntryForm = readonly ShareForm[];

/** Bytes of the packed rows of an entry. */
export function entryBytes(forms: EntryForm): number {
  return forms.reduce((sum, form) => sum + packedBytes(form), 0);
}

/** Packs the rows of an entry, one after the other. */
export function packEntry(rows: readonly Uint32Array[], forms: EntryForm): Uint8Array {
  return concatBytes(...forms.map((form, i) => packValues(rows[i]!, form)));
}

/** The row for each question. */
export function unpackEntry(packed: Uint8Array, forms: EntryForm): readonly Uint32Array[] {
  let at = 0;
  return forms.map((form) =>
    unpackValues(packed.subarray(at, (at += packedBytes(form))), form));
}

/** Reads packed values. Bits left over are not looked at. */
export function unpackValues(packed: Uint8Array, form: ShareForm): Uint32Array {
  assert(packed.length === packedBytes(form), 'a packed row has the bytes of its form');
  const mask = 2 ** form.bits - 1;
  return Uint32Array.from({ length: form.count }, (_, i) => {
    const at = i * form.bits;
    // At most 20 bits from any bit of a byte on lie within 4 bytes.
    let word = 0;
    for (let byte = 3; byte >= 0; byte--) word = (word << 8) | (packed[(at >>> 3) + byte] ?? 0);
    return (word >>> (at & 7)) & mask;
  });
}

/** left + right modulo 2^bits, or their exclusive or. */
export function combined(left: Uint32Array, right: Uint32Array, form: ShareForm): Uint32Array {
  const mask = 2 ** form.bits - 1;
  return left.map((value, i) =>
    (form.kind === 'bin' ? value ^ right[i]! : value + right[i]!) & mask);
}

/** The values that combine with `right` to make `left`. */
export function difference(left: Uint32Array, right: Uint32Array, form: ShareForm): Uint32Array {
  const mask = 2 ** form.bits - 1;
  return left.map((value, i) =>
    (form.kind === 'bin' ? value ^ right[i]! : value - right[i]!) & mask);
}
