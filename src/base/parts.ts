import { InvalidParameterError } from './errors.js';
/**
 * A part of an estimate with a meaning of its own, such as the mean in front of a covariance. The
 * flat estimate is its parts one after the other, each row-major in its shape. An estimate of
 * several parts has the shape of a vector. The only part of an estimate has the estimate's shape.
 */
export interface NamedPart {
  /** A word such as `mean`: a letter from a to z, then letters and digits, at most 32 in all. */
  readonly name: string;
  readonly shape: readonly number[];
}

/** Most parts of one estimate. */
export const partsMax = 16;
const partPattern = /^[a-z][A-Za-z0-9]{0,31}$/;

/** Number of entries in an array of this shape; 1 for the empty shape. */
export function entriesOf(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

/** Why `parts` cannot describe an estimate of `shape`, in words; null when they can. */
export function partsFault(parts: readonly NamedPart[], shape: readonly number[]): string | null {
  if (parts.length === 0 || parts.length > partsMax) {
    return `it has ${parts.length} parts, not 1 to ${partsMax}`;
  }
  const names = new Set<string>();
  let entries = 0;
  for (const part of parts) {
    if (!partPattern.test(part.name)) {
      return 'the name of a part is not a short word of letters and digits';
    }
    if (names.has(part.name)) return `two parts are called ${part.name}`;
    names.add(part.name);
    if (!part.shape.every((length) => Number.isInteger(length) && length >= 1)) {
      return `part ${part.name} is empty`;
    }
    entries += entriesOf(part.shape);
  }
  const whole = parts.length === 1 ? parts[0]!.shape : [entries];
  if (!sameShape(whole, shape)) {
    return `its parts make up ${whole.join(' x ')}, not ${shape.join(' x ')}`;
  }
  return null;
}

/** The same lengths in the same order. */
export function sameShape(left: readonly number[], right: readonly number[]): boolean {
  return left.length === right.length && left.every((length, i) => length === right[i]);
}

/**
 * True if names and shapes are the same, in the same order. `undefined` equals only `undefined`.
 */
export function sameParts(
  left: readonly NamedPart[] | undefined, right: readonly NamedPart[] | undefined,
): boolean {
  if (left === undefined || right === undefined) return left === right;
  return left.length === right.length
    && left.every(({ name, shape }, i) =>
      name === right[i]!.name && sameShape(shape, right[i]!.shape));
}

/** Numbers nested as their shape says. The empty shape is a plain number. */
export type Nested = number | readonly Nested[];

/** The entries from `offset` on, as nested arrays. */
export function nested(entries: readonly number[], shape: readonly number[], offset = 0): Nested {
  const [length, ...rest] = shape;
  if (length === undefined) return entries[offset]!;
  const stride = entriesOf(rest);
  return Array.from({ length }, (_, i) => nested(entries, rest, offset + i * stride));
}

/** Each part's entries by name, nested in its shape. Empty for an estimate without parts. */
export function partsByName(
  outcome: { readonly estimate: readonly number[]; readonly parts?: readonly NamedPart[] },
): Record<string, Nested> {
  if (typeof outcome !== 'object' || outcome === null) {
    throw new InvalidParameterError('the outcome is none: give that of a release');
  }
  const found: Record<string, Nested> = {};
  let offset = 0;
  for (const { name, shape } of outcome.parts ?? []) {
    found[name] = nested(outcome.estimate, shape, offset);
    offset += entriesOf(shape);
  }
  return found;
}

/**
 * The numbers of an answer for readers, in the order of the estimate: null for those of a key that
 * has no answer. The estimate itself holds zeros there.
 * @example
 * import { answeredNumbers } from 'keelson/client/words';
 * answeredNumbers({ estimate: [4, 0], answered: [true, false] });   // [4, null]
 */
export function answeredNumbers(
  { estimate, answered }: {
    readonly estimate: readonly number[]; readonly answered?: readonly boolean[];
  },
): readonly (number | null)[] {
  if (answered === undefined) return estimate;
  const perKey = estimate.length / answered.length;
  return estimate.map((value, i) => (answered[Math.floor(i / perKey)] === true ? value : null));
}
