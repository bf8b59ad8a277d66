import { decimalsFor, leadingPower } from '../../client/base/digits.js';

/** Numbers and times for people. Numbers show only digits that the noise leaves meaningful. */

const locale = 'en-GB';

/**
 * Making a formatter takes a hundred times as long as using it. For a table of releases that would
 * be most of the drawing time.
 */
const formatters = new Map<string, Intl.NumberFormat>();

function formatter(
  key: string, options: Intl.NumberFormatOptions, language = locale,
): Intl.NumberFormat {
  const known = formatters.get(key);
  if (known !== undefined) return known;
  const made = new Intl.NumberFormat(language, options);
  formatters.set(key, made);
  return made;
}

function inDecimals(least: number, most: number): Intl.NumberFormat {
  return formatter(
    `${least} to ${most}`, { minimumFractionDigits: least, maximumFractionDigits: most },
  );
}

function inDigits(most: number): Intl.NumberFormat {
  return formatter(`${most} digits`, { maximumSignificantDigits: most });
}

const timeParts = {
  day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit',
} as const;
const clock = new Intl.DateTimeFormat(locale, timeParts);
const zonedClock =
  new Intl.DateTimeFormat(locale, { ...timeParts, year: 'numeric', timeZoneName: 'short' });

/** With a true minus sign, and without a negative zero. */
function tidy(text: string): string {
  return (/^-0(\.0*)?$/.test(text) ? text.slice(1) : text).replace(/^-/, '−');
}

/** `-1.2e+9` as `−1.2e9`. */
function power(text: string): string {
  return tidy(text).replace('e+', 'e').replace('e-', 'e−');
}

/** Numbers from here on have a power of ten if their interval leaves few of their digits. */
const longFrom = 1e9;
const fewDigits = 3;
/** Doubles from here on do not have all digits before the decimal point. */
const wholeMax = 1e15;
/** More decimals than this are no help to people. */
const decimalsMax = 20;

/**
 * `value` with the digits that are meaningful for `halfWidth`, half of its 95 % interval: see
 * `decimalsFor`. Very large and very small numbers have a power of ten.
 */
export function shown(value: number | null | undefined, halfWidth?: number | null): string {
  if (value === null || value === undefined || Number.isNaN(value)) return 'none';
  const half = Number.isFinite(halfWidth) ? halfWidth! : 0;
  const digits = powerDigits(value, half);
  if (digits !== null) {
    const text = value.toExponential(digits);
    return power(half > 0 ? text : Number(text).toExponential());
  }
  const decimals = Math.min(decimalsMax, decimalsFor(value, half));
  return tidy(inDecimals(half > 0 ? decimals : 0, decimals).format(value));
}

/** Digits after the first one of a number with a power of ten; null for a number without one. */
function powerDigits(value: number, half: number): number | null {
  const size = Math.abs(value);
  const isTiny = size !== 0 && size < 1e-4 && half < 1e-4;
  if (!isTiny && (size < longFrom || size === Infinity)) return null;
  if (half === 0) return isTiny ? 3 : size < wholeMax ? null : 14;
  const digits = Math.min(16, Math.max(2, leadingPower(value) + 1 - leadingPower(half)));
  return isTiny || size >= wholeMax || digits <= fewDigits ? digits : null;
}

/** An interval in words: `1 to 2`, or `1 or more` where an end is open. */
export function rangeText(
  [low, high]: readonly [number, number], text: (end: number) => string,
): string {
  if (low === -Infinity) return `${text(high)} or less`;
  return high === Infinity ? `${text(low)} or more` : `${text(low)} to ${text(high)}`;
}

/** 3.21, 0.0412, 8: three significant digits without trailing zeros. */
export function amount(value: number): string {
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)) {
    return power(Number(value.toPrecision(3)).toExponential());
  }
  return tidy(inDigits(3).format(value));
}

/** The mean of a part of a mixture, with the digits of three of its standard deviation. */
export function middleText(mean: number, deviation: number): string {
  return shown(mean, deviation / 10);
}

/** All digits of a number that a person chose: 0.05, 10,000,000, 1e−12. */
export function exact(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-6 || size >= 1e12)) return power(value.toExponential());
  return tidy(inDecimals(0, 20).format(value));
}

/** 12,480. */
export function whole(value: number | bigint): string {
  return tidy(inDecimals(0, 0).format(value));
}

/**
 * 1.25M, 12.5K: for large numbers. More digits where three do not distinguish the ends of an
 * interval.
 */
export function compact(value: number, half: number | null): string {
  const digits = half === null || half === 0 ? 0 : leadingPower(value) + 1 - leadingPower(half);
  const most = Math.min(17, Math.max(3, digits));
  // British English writes a million as m, which people read as metres.
  return tidy(formatter(`compact ${most}`, { notation: 'compact', maximumSignificantDigits: most },
    'en-US').format(value));
}

/** `1 release`, `12,480 releases`. */
export function counted(count: number, word: string): string {
  return `${whole(count)} ${word}${count === 1 ? '' : 's'}`;
}

/** A share as `12 %`, `0.4 %`, `< 0.1 %`. */
export function percent(share: number): string {
  const value = share * 100;
  if (value > 0 && value < 0.1) return '<\u00a00.1\u00a0%';
  return `${inDecimals(0, value < 10 ? 1 : 0).format(value)}\u00a0%`;
}

/**
 * About how long, in the two largest units: `4 h 30 min`, `12 days`. It never breaks into two
 * lines.
 */
export function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 120 && seconds !== 60) return `${seconds}\u00a0s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120 && minutes !== 60) return `${minutes}\u00a0min`;
  if (minutes < 48 * 60 && minutes !== 24 * 60) {
    const rest = minutes % 60;
    return `${Math.floor(minutes / 60)}\u00a0h${rest === 0 ? '' : `\u00a0${rest}\u00a0min`}`;
  }
  const days = Math.round(minutes / (24 * 60));
  return days < 730
    ? counted(days, 'day').replace(' ', '\u00a0') : `${whole(days / 365.25)}\u00a0years`;
}

/**
 * Four to nine round numbers within [low, high], for the marks of an axis. Empty if the range is
 * empty.
 */
export function roundTicks(low: number, high: number): readonly number[] {
  const room = (high - low) / 8;
  if (!(room > 0) || !Number.isFinite(room)) return [];
  const power = 10 ** Math.floor(Math.log10(room));
  const step = power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= room) ?? 10);
  const first = Math.ceil(low / step);
  // Multiples of the step instead of sums: 0.1 + 0.2 would give an odd mark.
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)));
}

/** `21 Nov, 09:14:05`: a Unix timestamp in this browser's time zone. */
export function clockTime(unixMs: number): string {
  return clock.format(unixMs);
}

/** `21 Nov 2026, 09:14:05 CET`: the same with the year and the zone, for pages on paper. */
export function zonedTime(unixMs: number): string {
  return zonedClock.format(unixMs);
}

/** Adds a capital letter and a full stop, which texts from the server may lack. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** `delay_minutes below -15` as `delay minutes below −15`. */
export function spoken(name: string): string {
  return name.replaceAll('_', ' ').replace(/(?<=^|\s)-(?=\d)/g, '−');
}

/** `below −15`, `0 to 15`, `120 and more`. */
export function binText(from: number | null, to: number | null): string {
  // An edge is public. Found ones are multiples of a width, with a rounding error at their end.
  const text = (edge: number): string => exact(Number(edge.toPrecision(15)));
  if (from === null) return `below ${text(to!)}`;
  return to === null ? `${text(from)} and more` : `${text(from)} to ${text(to)}`;
}
