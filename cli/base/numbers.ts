import { boundText } from '../../src/base/facts-limits.js';
import { parseTime } from '../../server/study-file/durations.js';
import { UsageError } from './errors.js';

/** The rule for a number flag. */
export interface NumberRule {
  readonly above?: number;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly below?: number;
  readonly whole?: boolean;
}

function describe(rule: NumberRule): string {
  const bounds = [
    rule.above === undefined ? '' : `above ${rule.above}`,
    rule.atLeast === undefined ? '' : `from ${boundText(rule.atLeast)}`,
    rule.atMost === undefined ? '' : `up to ${boundText(rule.atMost)}`,
    rule.below === undefined ? '' : `below ${rule.below}`,
  ].filter((bound) => bound !== '');
  return [rule.whole === true ? 'a whole number' : 'a number', ...bounds].join(' ');
}

/** @throws UsageError with the flag and its range. Undefined stays undefined. */
export function numberFlag(text: string, flag: string, rule: NumberRule): number;
export function numberFlag(
  text: string | undefined, flag: string, rule: NumberRule,
): number | undefined;
export function numberFlag(
  text: string | undefined, flag: string, rule: NumberRule,
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim())
    ? Number(text) : Number.NaN;
  const fits = Number.isFinite(value)
    && (rule.above === undefined || value > rule.above)
    && (rule.atLeast === undefined || value >= rule.atLeast)
    && (rule.atMost === undefined || value <= rule.atMost)
    && (rule.below === undefined || value < rule.below)
    && (rule.whole !== true || Number.isSafeInteger(value));
  if (!fits) throw new UsageError(`${flag} is ${describe(rule)}, not "${text}"`, { flag });
  return value;
}

/** @throws UsageError for a text that is not a time. Undefined stays undefined. */
export function timeFlag(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined;
  const atMs = parseTime(text);
  if (Number.isNaN(atMs)) {
    throw new UsageError(`${flag} is a time like 2030-01-31T12:00Z, not "${text}"`, { flag });
  }
  return atMs;
}

/** The parts of `a,b,c`. @throws UsageError on an empty or repeated part. */
export function listFlag(text: string | undefined, flag: string): readonly string[] | undefined {
  if (text === undefined) return undefined;
  const parts = text.split(',').map((part) => part.trim());
  if (parts.includes('')) {
    throw new UsageError(`${flag} has an empty part: write ${flag} a,b,c`, { flag });
  }
  const twice = parts.find((part, index) => parts.indexOf(part) !== index);
  if (twice !== undefined) {
    throw new UsageError(`${flag} names "${twice}" twice: name it once`, { flag });
  }
  return parts;
}

/** `key=value` pairs of a repeated flag. @throws UsageError on another form or a repeated key. */
export function pairsFlag(
  texts: readonly string[], flag: string,
): Readonly<Record<string, string>> {
  // No prototype, because otherwise the key __proto__ would be lost.
  const pairs = Object.create(null) as Record<string, string>;
  for (const text of texts) {
    const equals = text.indexOf('=');
    const key = text.slice(0, Math.max(0, equals)).trim();
    if (key === '' || equals === text.length - 1) {
      throw new UsageError(`${flag} takes key=value, not "${text}"`, { flag });
    }
    if (Object.hasOwn(pairs, key)) {
      throw new UsageError(`${flag} sets "${key}" twice: set it once`, { flag });
    }
    pairs[key] = text.slice(equals + 1).trim();
  }
  return pairs;
}
