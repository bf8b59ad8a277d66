import { InvalidParameterError } from './errors.js';

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/**
 * One text for one value (RFC 8785 order and number form): keys sorted by UTF-16 unit, no white
 * space, numbers as ECMAScript prints them, `undefined` members left out. So that a digest of the
 * text identifies the value.
 * @throws InvalidParameterError on a number that JSON cannot hold.
 */
export function canonicalJson(value: JsonValue): string {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new InvalidParameterError('JSON holds finite numbers only');
  }
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: JsonValue) => canonicalJson(item)).join(',')}]`;
  const members = value as { readonly [key: string]: JsonValue | undefined };
  const keys = Object.keys(members).filter((key) => members[key] !== undefined).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(members[key]!)}`).join(',')}}`;
}
