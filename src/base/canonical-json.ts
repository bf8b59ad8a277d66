import { InvalidParameterError } from './errors.js';

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/**
 * Writes one text for one value, so that a digest of the text identifies the value. RFC 8785 gives
 * the order and the form of numbers: keys are sorted by UTF-16 unit, there is no white space, and
 * numbers are as ECMAScript prints them. Members that are `undefined` are left out.
 * @throws InvalidParameterError on a number that JSON cannot hold.
 */
export function canonicalJson(value: JsonValue): string {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new InvalidParameterError('JSON holds finite numbers only');
  }
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) {
    return `[${value.map((item: JsonValue) => canonicalJson(item)).join(',')}]`;
  }
  const members = value as { readonly [key: string]: JsonValue | undefined };
  const keys = Object.keys(members).filter((key) => members[key] !== undefined).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(members[key]!)}`).join(',')}`
    + '}';
}
