import { UsageError } from '../base/errors.js';
import { didYouMean } from '../../src/base/suggest.js';

/**
 * The reading of a column of dates or times: the time itself, in milliseconds since 1970, or the
 * hour, day, week or month that holds it, as a name.
 */
export const timeUnits = ['time', 'hour', 'day', 'week', 'month'] as const;
export type TimeUnit = (typeof timeUnits)[number];
export type TimeBin = Exclude<TimeUnit, 'time'>;

/**
 * The meaning of a cell that could have several: the order of `3/4/2026`, or of digits alone
 * whether they are a date, as `20261231` is, or count seconds or milliseconds since 1970.
 */
export const dateForms = ['dmy', 'mdy', 'ymd', 'seconds', 'milliseconds'] as const;
export type DateForm = (typeof dateForms)[number];

/** How the dates and times of a file are written. */
export interface TimeForm {
  /** Undefined: only cells that can be read in one way are read. */
  readonly dates?: DateForm | undefined;
  /** The time zone of a time without an offset, and of bins; a name such as `Europe/Berlin`. */
  readonly zone?: string | undefined;
}

/** Why a cell gives no time. */
export type TimeFault = 'no-date' | 'order' | 'digits' | 'zone' | 'offset' | 'hour';

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
/** The years 1 to 9999, which have four digits. */
const [firstMs, lastMs] = [-62_135_596_800_000, 253_402_300_799_999];

/** Lengths of the names of bins, which are the beginnings of times in ISO 8601. */
const lengths = { hour: 'xxxx-xx-xxTxx'.length, day: 'xxxx-xx-xx'.length, month: 'xxxx-xx'.length };

/** A date and a time of day as a clock on the wall shows them. */
interface WallTime {
  /** Milliseconds from 1970 until the clock of UTC shows it. */
  readonly wallMs: number;
  /** How far the clock is ahead of UTC; undefined: the cell does not say. */
  readonly aheadMs: number | undefined;
  readonly hasTime: boolean;
  /** The length of what the cell names: a day, or a minute, second or millisecond of it. */
  readonly lengthMs: number;
}

const datePart = String.raw`(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})`;
const clockPart = String.raw`(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:\s?([AaPp])\.?[Mm]\.?)?`;
const offsetPart = String.raw`(?:\s?(Z|z|UTC|GMT|[+-]\d{2}(?::?\d{2})?))?`;
const pattern = new RegExp(`^${datePart}(?:(?:[Tt]|,?\\s)${clockPart}${offsetPart})?$`);

/** The day, the month and the year of a date, as they stand in the cell. */
type Places = readonly [first: string, mark: string, second: string, third: string];

/**
 * The order that a date shows; undefined: it can be read in both orders, or is of another form.
 * Points stand between day, month and year, in this order, and a year that comes first is followed
 * by the month: such dates show nothing about those with `/`.
 */
export function orderIn(cell: string): 'dmy' | 'mdy' | undefined {
  const [, first = '', mark, second = '', third = ''] = pattern.exec(cell) ?? [];
  const isOther = mark === undefined || mark === '.' || first.length > 2 || third.length !== 4;
  if (isOther) return undefined;
  const [day, month] = [Number(first), Number(second)];
  if (day > 12 && day <= 31 && month <= 12) return 'dmy';
  return month > 12 && month <= 31 && day <= 12 ? 'mdy' : undefined;
}

/**
 * The kind of a date or time in a file whose columns have types of their own, as far as the file
 * says it: a day, a time of UTC, or a time of day of no stated zone.
 */
export type TimeKind = 'day' | 'utc' | 'local';

/** True from the first to the last date that the calendar of programs has. */
const isTime = (ms: number): boolean => Math.abs(ms) <= 8.64e15;

/** The text by which a CSV file would have a date or time; null where there is no such date. */
export function timeCell(wallMs: number, kind: TimeKind): string | null {
  if (!isTime(wallMs)) return null;
  const text = new Date(wallMs).toISOString();
  return kind === 'utc' ? text : text.slice(0, kind === 'day' ? lengths.day : -1);
}

/** True where a cell is written as a date or time. */
export function hasTime(cell: string): boolean {
  return pattern.test(cell.trim());
}

function wallTimeOf(text: string, dates: DateForm | undefined): WallTime | TimeFault {
  if (dates === 'ymd' && /^\d{8}$/.test(text)) {
    const day = dayOf(Number(text.slice(0, 4)), Number(text.slice(4, 6)), Number(text.slice(6)));
    return typeof day === 'string' ? day
      : { wallMs: day, aheadMs: undefined, hasTime: false, lengthMs: dayMs };
  }
  if (/^[+-]?\d+(?:\.\d+)?$/.test(text)) {
    if (dates !== 'seconds' && dates !== 'milliseconds') return 'digits';
    const wallMs = Math.round(Number(text) * (dates === 'seconds' ? 1000 : 1));
    if (!(wallMs >= firstMs && wallMs <= lastMs)) return 'no-date';
    return { wallMs, aheadMs: 0, hasTime: true, lengthMs: 1 };
  }
  const found = pattern.exec(text);
  if (found === null) return 'no-date';
  const [, first, mark, second, third, hours, minutes, seconds, fraction, half, offset] = found;
  const dayStart = startOfDay([first!, mark!, second!, third!], dates);
  if (typeof dayStart === 'string') return dayStart;
  if (hours === undefined) {
    return { wallMs: dayStart, aheadMs: undefined, hasTime: false, lengthMs: dayMs };
  }
  const clock = clockMs({ hours, minutes: minutes!, seconds, fraction, half });
  const aheadMs = offset === undefined ? undefined : offsetMs(offset);
  if (clock === undefined || Number.isNaN(aheadMs)) return 'no-date';
  return {
    wallMs: dayStart + clock, aheadMs, hasTime: true,
    lengthMs: fraction !== undefined ? 1 : seconds !== undefined ? 1000 : minuteMs,
  };
}

function startOfDay([first, mark, second, third]: Places, dates: DateForm | undefined):
  number | TimeFault {
  if (first.length === 4) {
    return third.length > 2 ? 'no-date' : dayOf(Number(first), Number(second), Number(third));
  }
  if (first.length > 2 || third.length !== 4) return 'no-date';
  const order = dates === 'mdy' || dates === 'dmy' ? dates : mark === '.' ? 'dmy' : undefined;
  if (order === undefined) return 'order';
  const [day, month] = order === 'dmy' ? [first, second] : [second, first];
  return dayOf(Number(third), Number(month), Number(day));
}

/** The start of a day of the calendar. */
function dayOf(year: number, month: number, day: number): number | TimeFault {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year >= 1
    ? date.getTime() : 'no-date';
}

function clockMs({ hours, minutes, seconds = '0', fraction = '', half }: {
  readonly hours: string; readonly minutes: string; readonly seconds: string | undefined;
  readonly fraction: string | undefined; readonly half: string | undefined;
}): number | undefined {
  let hour = Number(hours);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return undefined;
    hour = hour % 12 + (half.toLowerCase() === 'p' ? 12 : 0);
  }
  if (hour > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'));
  return hour * hourMs + Number(minutes) * minuteMs + Number(seconds) * 1000 + ms;
}

/** NaN for an offset that no clock has. */
function offsetMs(text: string): number {
  if (/^[zug]/i.test(text)) return 0;
  const [, sign, hours, minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(text)!;
  if (Number(hours) > 14 || Number(minutes) > 59) return NaN;
  return (sign === '-' ? -1 : 1) * (Number(hours) * hourMs + Number(minutes) * minuteMs);
}

/** Clocks change at a multiple of this. */
const slotMs = 15 * minuteMs;
const slotsMax = 1 << 16;

/** A time zone of the IANA database. */
class Zone {
  readonly #format: Intl.DateTimeFormat;
  readonly #ahead = new Map<number, number>();

  /** @throws RangeError for a name that is none. */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric',
      hour: 'numeric', minute: 'numeric', second: 'numeric',
    });
  }

  /** How far its clock is ahead of UTC at a time. */
  aheadAt(timeMs: number): number {
    const slot = Math.floor(timeMs / slotMs);
    const known = this.#ahead.get(slot);
    if (known !== undefined) return known;
    const at = slot * slotMs;
    const parts = Object.fromEntries(this.#format.formatToParts(at).map(({ type, value }) =>
      [type, Number(value)]));
    const wall = new Date(Date.UTC(
      2000, parts['month']! - 1, parts['day'], parts['hour'], parts['minute'], parts['second'],
    ));
    wall.setUTCFullYear(parts['year']!);
    const ahead = wall.getTime() - at;
    if (this.#ahead.size >= slotsMax) this.#ahead.clear();
    this.#ahead.set(slot, ahead);
    return ahead;
  }

  /**
   * The time at which its clock shows a time of day: the earlier of two. Where the clock was put
   * forward over it, the time that the clock would have shown without that.
   */
  timeOf(wallMs: number): number {
    const before = this.aheadAt(wallMs - dayMs);
    const [early, late] = [wallMs - before, wallMs - this.aheadAt(wallMs + dayMs)];
    if (this.aheadAt(early) === before) return early;
    return this.aheadAt(late) === wallMs - late ? late : early;
  }
}

/** @throws UsageError for a name that is no time zone. */
export function checkZone(name: string): void {
  try {
    new Zone(name);
  } catch {
    throw new UsageError(`--csv zone is "${name}", which is no time zone: write one such as `
      + `zone=Europe/Berlin or zone=UTC${didYouMean(name, Intl.supportedValuesOf('timeZone'))}`);
  }
}

/** Reads the dates and times of a file, and writes times as people read them. */
export class Times {
  readonly #zone: Zone | null;

  /** @param form - of the file; its zone is one. */
  constructor(readonly form: TimeForm) {
    this.#zone = form.zone === undefined ? null : new Zone(form.zone);
  }

  /** The time in a cell in milliseconds since 1970, or the reason why it gives none. */
  timeIn(cell: string): number | TimeFault {
    const span = this.spanIn(cell);
    return typeof span === 'string' ? span : span.fromMs;
  }

  /** From the start of what a cell names until its end: a day, or a part of one. */
  spanIn(cell: string): { readonly fromMs: number; readonly toMs: number } | TimeFault {
    const found = wallTimeOf(cell.trim(), this.form.dates);
    if (typeof found === 'string') return found;
    const { wallMs, aheadMs, hasTime, lengthMs } = found;
    if (aheadMs !== undefined) {
      return { fromMs: wallMs - aheadMs, toMs: wallMs - aheadMs + lengthMs };
    }
    if (this.#zone === null) {
      // A day has no zone of its own, and those of UTC are as good as any others.
      return hasTime ? 'zone' : { fromMs: wallMs, toMs: wallMs + lengthMs };
    }
    return { fromMs: this.#zone.timeOf(wallMs), toMs: this.#zone.timeOf(wallMs + lengthMs) };
  }

  /** The name of the bin that holds the time in a cell, or the reason why there is none. */
  binIn(cell: string, unit: TimeBin): { readonly name: string } | TimeFault {
    const found = wallTimeOf(cell.trim(), this.form.dates);
    if (typeof found === 'string') return found;
    if (unit === 'hour' && !found.hasTime) return 'hour';
    if (found.aheadMs === undefined) return { name: binName(found.wallMs, unit) };
    return this.#zone === null ? 'offset'
      : { name: this.binAt(found.wallMs - found.aheadMs, unit) };
  }

  /** The name of the bin that holds a time. */
  binAt(timeMs: number, unit: TimeBin): string {
    return binName(timeMs + this.#aheadAt(timeMs), unit);
  }

  /**
   * A time as people read it, as exact as it is known.
   * @param half - half of its 95 % interval in milliseconds; null where there is none.
   */
  textOf(timeMs: number, half: number | null): string {
    if (!isTime(timeMs)) return timeMs < 0 ? 'before any date' : 'after any date';
    const text = new Date(timeMs + this.#aheadAt(timeMs)).toISOString().replace('T', ' ');
    const digits = half === null || half < minuteMs ? 'xx:xx:xx'.length
      : half < dayMs ? 'xx:xx'.length : -1;
    return text.slice(0, text.indexOf(' ') + 1 + digits);
  }

  #aheadAt(timeMs: number): number {
    return this.#zone?.aheadAt(timeMs) ?? 0;
  }
}

function binName(wallMs: number, unit: TimeBin): string {
  if (unit !== 'week') return new Date(wallMs).toISOString().slice(0, lengths[unit]);
  // The year of a week of ISO 8601 is the year of its Thursday.
  const day = Math.floor(wallMs / dayMs);
  const thursday = new Date((day - (((day + 3) % 7) + 7) % 7 + 3) * dayMs);
  const year = thursday.toISOString().slice(0, 4);
  const first = Date.UTC(thursday.getUTCFullYear(), 0, 1) / dayMs;
  const week = Math.floor((thursday.getTime() / dayMs - first) / 7) + 1;
  return `${year}-W${String(week).padStart(2, '0')}`;
}

/**
 * The names of bins from the first to the last, of which neither needs to begin a bin.
 * @param countMax - the most names.
 * @returns undefined where an end is no name of a bin, or the ends are not in order; names beyond
 *   `countMax` are left out, but one.
 */
export function binsBetween(
  first: string, last: string, unit: TimeBin, countMax: number,
): readonly string[] | undefined {
  const [from, to] = [startOfBin(first, unit), startOfBin(last, unit)];
  if (from === undefined || to === undefined || to < from) return undefined;
  const names: string[] = [];
  // A month has at least 28 days, and each step ends in another month.
  const step = { hour: hourMs, day: dayMs, week: 7 * dayMs, month: 28 * dayMs }[unit];
  for (let at = from; at <= to && names.length <= countMax; at += step) {
    const name = binName(at, unit);
    if (names.at(-1) !== name) names.push(name);
  }
  const end = binName(to, unit);
  return names.length > countMax || names.at(-1) === end ? names : [...names, end];
}

/** The start of a bin by its name, as a clock on the wall shows it. */
function startOfBin(name: string, unit: TimeBin): number | undefined {
  const [, year, week] = /^(\d{4})-W(\d{2})$/.exec(name) ?? [];
  const start = unit === 'week' && year !== undefined
    ? Date.UTC(Number(year), 0, 4) + (Number(week) - 1) * 7 * dayMs
    : new Date(`${unit === 'month' ? `${name}-01` : unit === 'hour' ? `${name}:00` : name}${
      unit === 'hour' ? 'Z' : ''}`).getTime();
  return !Number.isNaN(start) && binName(start, unit) === name ? start : undefined;
}
