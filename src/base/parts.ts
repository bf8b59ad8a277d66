import { InvalidParameterError } from './errors.js';
/**
 * A stretch of an estimate that means something by itself, such as a mean in front of a covariance. The flat estimate
 * is its parts one after the other, each row-major in its shape. An estimate of several parts is a vector; the only
 * part of an estimate has the estimate's shape.
 */
export interface NamedPart {
  /** A word such as `mean`: a letter from a to z, then letters and digits, at most 32 in all. */
  readonly name: string;
  readonly shape: readonly number[];
}

/** Parts that one estimate may have. */
export const partsMax = 16;
const partPattern = /^[a-z][A-Za-z0-9]{0,31}$/;

/** Numbers in an array of this shape; 1 for the empty shape. */
export function entriesOf(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

/** What keeps `parts` from describing an estimate of `shape`, for people; null when nothing does. */
export function partsFault(parts: readonly NamedPart[], shape: readonly number[]): string | null {
  if (parts.length === 0 || parts.length > partsMax) return `it has ${parts.length} parts, not 1 to ${partsMax}`;
  const names = new Set<string>();
  let entries = 0;
  for (const part of parts) {
    if (!partPattern.test(part.name)) return 'the name of a part is not a short word of letters and digits';
    if (names.has(part.name)) return `two parts are called ${part.name}`;
    names.add(part.name);
    if (!part.shape.every((length) => Number.isInteger(length) && length >= 1)) return `part ${part.name} is empty`;
    entries += entriesOf(part.shape);
  }
  const whole = parts.length === 1 ? parts[0]!.shape : [entries];
  if (!sameShape(whole, shape)) return `its parts make up ${whole.join(' x ')}, not ${shape.join(' x ')}`;
  return null;
}

/** The same lengths in the same order. */
export function sameShape(left: readonly number[], right: readonly number[]): boolean {
  return left.length === right.length && left.every((length, i) => length === right[i]);
}

/** The same names and shapes in the same order; none is the same as none only. */
export function sameParts(left: readonly NamedPart[] | undefined, right: readonly NamedPart[] | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return left.length === right.length
    && left.every(({ name, shape }, i) => name === right[i]!.name && sameShape(shape, right[i]!.shape));
}

/** Numbers nested as their shape says; a plain number for the empty shape. */
export type Nested = number | readonly Nested[];

/** The entries from `offset` on as arrays within arrays. */
export function nested(entries: readonly number[], shape: readonly number[], offset = 0): Nested {
  const [length, ...rest] = shape;
  if (length === undefined) return entries[offset]!;
  const stride = entriesOf(rest);
  return Array.from({ length }, (_, i) => nested(entries, rest, offset + i * stride));
}

/** Each part's entries, nested in its shape, by name; nothing for an estimate without parts. */
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
