/** Milliseconds in each unit that a study file may use. */
const units: Readonly<Record<string, number>> = {
  ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000,
};

/** The possible lengths of an epoch, in milliseconds and in words. */
export const epochLength = {
  leastMs: 100, least: '100ms', mostMs: 366 * 86_400_000, most: '366d',
} as const;

/** The form of durations, for messages. */
export const durationForm = 'a number and a unit (ms, s, m, h, d), such as 10s, 5m or 30d';

/** A duration as text. */
export const durationPattern = /^(\d{1,15}(?:\.\d{1,6})?) ?(ms|s|m|h|d)$/;

/** `10s`, `5m`, `1.5h`, `30d` in whole milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const match = durationPattern.exec(text);
  if (match === null) return undefined;
  const ms = Number(match[1]) * units[match[2]!]!;
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/**
 * Unix milliseconds of a date or time in UTC; NaN for any other text, and for days that do not
 * exist.
 */
export function parseTime(text: string): number {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?$/.test(text)) return Number.NaN;
  const day = text.slice(0, 10);
  const midnight = new Date(`${day}T00:00Z`);
  // Date reads February 31 as March 3.
  const isDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
  return isDay ? Date.parse(text) : Number.NaN;
}
