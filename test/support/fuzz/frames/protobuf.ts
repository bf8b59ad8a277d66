import type { Dice } from '../dice.js';

/** One field as it stands in the bytes, right or wrong. */
export interface Field {
  readonly number: number;
  /** 0 varint, 1 64 bits, 2 length and bytes, 3 and 4 groups, 5 32 bits; 6 and 7 do not exist. */
  readonly wire: number;
  readonly value: bigint | Uint8Array;
  /** What the length says, when not the truth. */
  readonly claimed?: bigint;
  /** Zero bytes added to every varint, which changes nothing but its length. */
  readonly padding?: number;
}

export const bytesField = (number: number, value: Uint8Array): Field =>
  ({ number, wire: 2, value });
export const numberField = (number: number, value: bigint): Field => ({ number, wire: 0, value });

/** The bytes of fields, in their order, with all their faults. */
export function encodeFields(fields: readonly Field[]): Uint8Array {
  const parts: number[] = [];
  const chunks: Uint8Array[] = [];
  const flush = (): void => {
    if (parts.length > 0) chunks.push(Uint8Array.from(parts));
    parts.length = 0;
  };
  for (const { number, wire, value, claimed, padding = 0 } of fields) {
    varint(parts, (BigInt(number) << 3n) | BigInt(wire), padding);
    if (typeof value === 'bigint') {
      varint(parts, value, padding);
      continue;
    }
    if (wire === 2) varint(parts, claimed ?? BigInt(value.length), padding);
    flush();
    chunks.push(value);
  }
  flush();
  return Buffer.concat(chunks);
}

function varint(parts: number[], value: bigint, padding: number): void {
  let rest = value;
  while (rest > 127n) {
    parts.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  if (padding === 0) {
    parts.push(Number(rest));
    return;
  }
  parts.push(Number(rest) | 128);
  for (let i = 1; i < padding; i++) parts.push(128);
  parts.push(0);
}

const extremes = [
  0n, 1n, 127n, 128n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 53n - 1n,
  2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n,
];
/** A number at which code breaks. */
export const extreme = (dice: Dice): bigint => dice.pick(extremes);

/** Fields with one fault that a reader of protobuf must see or bear. */
export function mutateFields(fields: readonly Field[], dice: Dice): Field[] {
  const changed = [...fields];
  if (changed.length === 0) {
    return [{ number: dice.below(20), wire: dice.below(8), value: dice.bytes(dice.below(9)) }];
  }
  const at = dice.below(changed.length);
  const field = changed[at]!;
  const other = dice.below(changed.length);
  switch (dice.below(12)) {
    case 0: changed.splice(at, 1); break;
    case 1: changed.splice(other, 0, field); break;
    case 2: changed[at] = changed[other]!; changed[other] = field; break;
    case 3: changed[at] = { ...field, number: changed[other]!.number }; break;
    case 4: changed[at] = { ...field, wire: dice.below(8) }; break;
    case 5:
      changed.splice(other, 0, bytesField(9 + dice.below(1_000), dice.bytes(dice.below(30))));
      break;
    case 6: changed[at] = { ...field, claimed: extreme(dice) }; break;
    case 7: changed[at] = { ...field, padding: 1 + dice.below(12) }; break;
    case 8:
      changed[at] = { ...field, value: typeof field.value === 'bigint'
        ? extreme(dice) : resized(field.value, dice) };
      break;
    case 9: changed[at] = { ...field, number: dice.pick([0, 15, 16, 2 ** 29 - 1]) }; break;
    case 10: changed[at] =
      { ...field, value: typeof field.value === 'bigint' ? dice.bytes(8) : extreme(dice) }; break;
    default: {
      const { value } = field;
      changed[at] =
        { ...field, value: typeof value === 'bigint' ? value + 1n : flipped(value, dice) };
    }
  }
  return changed;
}

/** The same bytes, cut, grown, emptied or doubled. */
export function resized(bytes: Uint8Array, dice: Dice): Uint8Array {
  switch (dice.below(5)) {
    case 0: return bytes.subarray(0, dice.below(bytes.length + 1));
    case 1: return Buffer.concat([bytes, dice.bytes(1 + dice.below(16))]);
    case 2: return new Uint8Array(0);
    case 3: return bytes.subarray(0, Math.max(0, bytes.length - 1));
    default: return Buffer.concat([bytes, bytes]);
  }
}

/** The same bytes with one to four of them changed. */
export function flipped(bytes: Uint8Array, dice: Dice): Uint8Array {
  if (bytes.length === 0) return dice.bytes(1);
  const copy = Uint8Array.from(bytes);
  for (let i = dice.below(4); i >= 0; i--) copy[dice.below(copy.length)]! ^= 1 << dice.below(8);
  return copy;
}
