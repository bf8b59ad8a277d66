import { InvalidParameterError } from './errors.js';
import { didYouMean } from './suggest.js';

/**
 * Checks of values that JavaScript callers give to public functions. The types stop TypeScript
 * callers from such mistakes. So the checks cost O(1), and only the entry points of the library
 * make them.
 */

/** @throws InvalidParameterError unless `value` is an object and not a list. */
export function checkObject(value: unknown, what: string): asserts value is object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw new InvalidParameterError(`${what}: this is ${kindOf(value)}`, { given: kindOf(value) });
}

/**
 * @throws InvalidParameterError if the options are not an object, or hold a name not in `known`.
 */
export function checkOptions(options: unknown, known: readonly string[], whose: string): void {
  checkObject(options, `the options of ${whose} are an object`);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const listed = known.length === 0 ? ': it has none' : `: there are ${known.join(', ')}`;
  throw new InvalidParameterError(
    `${whose} has no option ${unknown}${didYouMean(unknown, known) || listed}`,
    { option: unknown, known },
  );
}

/** @throws InvalidParameterError unless `value` is a whole number from `low` to `high`. */
export function checkWhole(value: unknown, name: string, low: number, high: number): void {
  if (Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high) return;
  throw new InvalidParameterError(
    `${name} is ${shownNumber(value)}: give a whole number from ${low} to ${high}`,
    { name, low, high },
  );
}

/** @throws InvalidParameterError unless `value` can be looped over. */
export function checkList(value: unknown, what: string): asserts value is Iterable<unknown> {
  const isList = typeof value === 'object' && value !== null && Symbol.iterator in value;
  if (isList) return;
  throw new InvalidParameterError(`${what}: this is ${kindOf(value)}`, { given: kindOf(value) });
}

/** The kind of a value, for messages that must not show the value. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  const kind = typeof value;
  return kind === 'object' ? 'an object' : `a ${kind}`;
}

function shownNumber(value: unknown): string {
  return typeof value === 'number' ? String(value) : kindOf(value);
}
