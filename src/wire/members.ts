import { WireError } from '../base/errors.js';
import type { ParameterValue } from '../base/facts.js';
import { factsLimits as limits, isLine, isName, nameRule } from '../base/facts-limits.js';
import { lineRule } from '../base/study-words.js';

/** The refusal of study facts: the place, and the rule that it breaks. */
export function refused(path: string, rule: string): WireError {
  return new WireError('malformed', `${path} of the study is not ${rule}`, { details: { path } });
}

/** @throws WireError if the value is no name. */
export function checkName(value: unknown, path: string): string {
  if (typeof value === 'string' && isName(value)) return value;
  throw refused(path, nameRule);
}

/** One parameter of an estimator. @throws WireError if it is none. */
export function readParameter(value: unknown, path: string): ParameterValue {
  const isValue = typeof value === 'boolean' || Number.isFinite(value)
    || (typeof value === 'string' && value.length <= limits.parameterText)
    || (Array.isArray(value) && value.length <= limits.columns && value.every(Number.isFinite));
  if (isValue) return value as ParameterValue;
  throw refused(
    path, 'a number, true or false, a list of numbers, or a text that is not too long',
  );
}

/**
 * Reads one JSON object.
 * @param read takes each member that it knows; others are refused.
 * @throws WireError('malformed').
 */
export function readObject<T>(value: unknown, path: string, read: (members: Members) => T): T {
  const members = new Members(value, path);
  const result = read(members);
  members.finish();
  return result;
}

/** The members of one JSON object that nobody has taken. */
export class Members {
  private readonly content: Map<string, unknown>;

  constructor(value: unknown, readonly path: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw refused(path, 'an object');
    }
    this.content = new Map(Object.entries(value));
  }

  has(name: string): boolean {
    return this.content.has(name);
  }

  object<T>(name: string, read: (members: Members) => T): T {
    return readObject(this.take(name), this.pathOf(name), read);
  }

  /** An object with any names. */
  map<T>(name: string, read: (value: unknown, path: string) => T): Record<string, T> {
    const { content, path } = new Members(this.take(name), this.pathOf(name));
    return Object.fromEntries([...content].map(([each, value]) =>
      [checkName(each, path), read(value, `${path}.${each}`)]));
  }

  list(name: string, lengthMax: number): readonly unknown[] {
    return this.checked(
      name, (value) => Array.isArray(value) && value.length <= lengthMax,
      `a list of at most ${lengthMax}`,
    );
  }

  text(name: string): string {
    return checkName(this.take(name), this.pathOf(name));
  }

  /** One line of visible words, for people. */
  line(name: string, lengthMax: number): string {
    return this.checked(name, (value) => typeof value === 'string' && isLine(value, lengthMax),
      lineRule(lengthMax));
  }

  pattern(name: string, pattern: RegExp, rule: string): string {
    return this.checked(name, (value) => typeof value === 'string' && pattern.test(value), rule);
  }

  choice<const T extends string | number | boolean>(name: string, allowed: readonly T[]): T {
    return this.checked(
      name, (value) => allowed.includes(value as T), `one of ${allowed.join(', ')}`,
    );
  }

  integer(name: string, minimum: number, maximum: number): number {
    return this.checked(
      name, (value) => Number.isSafeInteger(value) && (value as number) >= minimum
        && (value as number) <= maximum, `an integer in ${minimum}..${maximum}`,
    );
  }

  number(name: string, accepts: (value: number) => boolean, rule: string): number {
    return this.checked(name, (value) => Number.isFinite(value) && accepts(value as number), rule);
  }

  finish(): void {
    const [left] = this.content.keys();
    if (left !== undefined) {
      throw refused(this.pathOf(JSON.stringify(left)), 'a fact that this version has');
    }
  }

  take(name: string): unknown {
    const value = this.content.get(name);
    this.content.delete(name);
    return value;
  }

  private pathOf(name: string): string {
    return `${this.path}.${name}`;
  }

  private checked<T>(name: string, accepts: (value: unknown) => boolean, rule: string): T {
    const value = this.take(name);
    if (accepts(value)) return value as T;
    throw refused(this.pathOf(name), rule);
  }
}
