import { InvalidParameterError, InvariantError } from '../base/errors.js';

/** @throws InvariantError that says what the estimator breaks. */
export function check(holds: boolean, broken: string): asserts holds {
  if (!holds) throw new InvariantError(broken);
}

/** Everything that is not a function, as text that tells any two doubles apart. */
export function written(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'bigint') return part.toString();
    if (part instanceof Map) return [...part as ReadonlyMap<unknown, unknown>];
    if (typeof part !== 'number') return part;
    return Object.is(part, -0) ? '-0' : Number.isFinite(part) ? part : String(part);
  });
}

/** @throws InvariantError unless both have the same content. */
export function checkSame(one: unknown, other: unknown, broken: string): void {
  check(written(one) === written(other), broken);
}

/** @throws InvariantError unless the call throws an InvalidParameterError. */
export function checkRefuses(call: () => unknown, broken: string): void {
  try {
    call();
  } catch (error) {
    if (error instanceof InvalidParameterError) return;
    throw error;
  }
  throw new InvariantError(broken);
}

/** The value, which nobody can change, nor any part of it. */
export function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFrozen);
  return Object.freeze(value);
}
