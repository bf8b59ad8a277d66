import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  binsBetween, checkZone, orderIn, Times, type DateForm, type TimeBin,
} from '../../cli/input/times.js';

const at = (text: string): number => Date.parse(text);
const berlin = new Times({ zone: 'Europe/Berlin' });
const utc = new Times({ zone: 'UTC' });

describe('a time in a cell', () => {
  it.each([
    ['2026-12-19', '2026-12-18T23:00Z'],
    ['2026/12/19', '2026-12-18T23:00Z'],
    ['19.12.2026', '2026-12-18T23:00Z'],
    ['9.1.2026', '2026-01-08T23:00Z'],
    ['2026-12-19T14:05', '2026-12-19T13:05Z'],
    ['2026-07-19 14:05:30', '2026-07-19T12:05:30Z'],
    ['19.12.2026, 14:05', '2026-12-19T13:05Z'],
    ['19.12.2026 2:05 PM', '2026-12-19T13:05Z'],
    ['19.12.2026 12:05 a.m.', '2026-12-18T23:05Z'],
    ['2026-12-19T14:05:30.123456Z', '2026-12-19T14:05:30.123Z'],
    ['2026-12-19 14:05:30,5+05:30', '2026-12-19T08:35:30.500Z'],
    ['2026-12-19 14:05:30-0800', '2026-12-19T22:05:30Z'],
    ['2026-12-19 14:05+00', '2026-12-19T14:05Z'],
    [' 2026-12-19 14:05 UTC ', '2026-12-19T14:05Z'],
    ['2024-02-29', '2024-02-28T23:00Z'],
    ['0099-03-01', '0099-02-28T23:06:32Z'],
  ])('is read: %s', (cell, time) => {
    expect(berlin.timeIn(cell)).toBe(at(time));
  });

  it.each([
    '2026-02-29', '2026-13-01', '31.04.2026', '0.1.2026', '19.12.26', '2026-12-19T24:00',
    '2026-12-19T14', '2026-12-19T14:60', '2026-12-19T14:05:60', '13:05', '19.12.2026 13:05 PM',
    '2026-12/19', '2026-12-19T14:05+15:00', '2026-12-19x', 'December', '2026-12-19T',
  ])('is refused: %s', (cell) => {
    expect(berlin.timeIn(cell)).toBe('no-date');
  });

  it.each([
    [undefined, '3/4/2026', 'order'], [undefined, '13/4/2026', 'order'],
    ['dmy', '3/4/2026', '2026-04-03'], ['mdy', '3/4/2026', '2026-03-04'],
    ['mdy', '3-4-2026', '2026-03-04'], ['mdy', '13/4/2026', 'no-date'],
    ['mdy', '3.4.2026', '2026-03-04'], ['ymd', '20260304', '2026-03-04'],
    ['ymd', '3/4/2026', 'order'], ['ymd', '20261304', 'no-date'], [undefined, '20260304', 'digits'],
    ['seconds', '1767225600', '2026-01-01'], ['milliseconds', '1767225600000', '2026-01-01'],
    ['seconds', '1767225600000', 'no-date'], ['milliseconds', '2026-01-01', '2026-01-01'],
  ] satisfies [DateForm | undefined, string, string][])(
    'in the form %s is read: %s', (dates, cell, time) => {
      const found = new Times({ dates, zone: 'UTC' }).timeIn(cell);
      expect(typeof found === 'number' ? new Date(found).toISOString().slice(0, 10) : found)
        .toBe(time);
    });

  it('needs a zone if it has a time of day, and a day does not', () => {
    const none = new Times({});
    expect(none.timeIn('2026-12-19')).toBe(at('2026-12-19'));
    expect(none.timeIn('2026-12-19 14:05')).toBe('zone');
    expect(none.timeIn('2026-12-19 14:05Z')).toBe(at('2026-12-19T14:05Z'));
    expect(none.binIn('2026-12-19 14:05', 'day')).toEqual({ name: '2026-12-19' });
    expect(none.binIn('2026-12-19 14:05Z', 'day')).toBe('offset');
    expect(none.binIn('2026-12-19', 'hour')).toBe('hour');
  });

  it('is the earlier of two where clocks are put back, and is found where they jump', () => {
    expect(berlin.timeIn('2026-10-25 02:30')).toBe(at('2026-10-25T00:30Z'));
    expect(berlin.timeIn('2026-03-29 02:30')).toBe(at('2026-03-29T01:30Z'));
    expect(berlin.timeIn('2026-03-29 03:00')).toBe(at('2026-03-29T01:00Z'));
  });

  it('is exact around 2^40 milliseconds', () => {
    const form = new Times({ zone: 'UTC', dates: 'milliseconds' });
    for (const ms of [2 ** 40 - 1, 2 ** 40, 2 ** 40 + 1, 2 ** 41 + 1]) {
      expect(form.timeIn(String(ms))).toBe(ms);
      expect(form.timeIn(new Date(ms).toISOString())).toBe(ms);
    }
  });

  it('comes back from every way in which it is written', () => {
    const inMs = fc.integer({ min: at('1901-01-02'), max: at('2099-12-30') });
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata',
      'Australia/Lord_Howe', 'Pacific/Apia');
    fc.assert(fc.property(inMs, zones, (time, zone) => {
      const second = Math.floor(time / 1000) * 1000;
      const times = new Times({ zone });
      expect(times.timeIn(new Date(second).toISOString())).toBe(second);
      const shown = times.textOf(second, null);
      const back = times.timeIn(shown) as number;
      // Where clocks are put back, a time of day comes twice.
      expect(times.textOf(back, null)).toBe(shown);
      expect(second - back).toBeGreaterThanOrEqual(0);
      expect(second - back).toBeLessThanOrEqual(3_600_000);
    }), { seed: 7, numRuns: 500 });
  });
});

describe('the bin of a time', () => {
  it.each([
    ['2026-12-19T23:30Z', 'hour', '2026-12-20T00'], ['2026-12-19T23:30Z', 'day', '2026-12-20'],
    ['2026-12-19T23:30Z', 'month', '2026-12'], ['2026-12-31T23:30Z', 'month', '2027-01'],
    ['2026-12-19', 'week', '2026-W51'], ['2027-01-03', 'week', '2026-W53'],
    ['2027-01-04', 'week', '2027-W01'], ['2024-12-30', 'week', '2025-W01'],
    ['1969-12-28', 'week', '1969-W52'], ['1969-12-29', 'week', '1970-W01'],
  ] satisfies [string, TimeBin, string][])('of %s by %s is %s', (cell, unit, name) => {
    expect(berlin.binIn(cell, unit)).toEqual({ name });
  });

  it('is one of the bins between the first and the last, for every day of seven years', () => {
    for (const unit of ['week', 'month', 'day'] as const) {
      for (const year of [1999, 2004, 2009, 2015, 2020, 2026, 2038]) {
        const found = new Set<string>();
        for (let day = Date.UTC(year, 0, 4); day < Date.UTC(year + 1, 0, 4); day += 86_400_000) {
          found.add(utc.binAt(day, unit));
        }
        const names = [...found];
        expect(binsBetween(names[0]!, names.at(-1)!, unit, 400)).toEqual(names);
      }
    }
    expect(binsBetween('2026-12-31T22', '2027-01-01T01', 'hour', 10)).toEqual(
      ['2026-12-31T22', '2026-12-31T23', '2027-01-01T00', '2027-01-01T01'],
    );
  });

  it.each([
    ['2026-12-02', '2026-12-01', 'day'], ['2026-02-30', '2026-03-01', 'day'],
    ['2026-W00', '2026-W02', 'week'], ['2025-W53', '2026-W02', 'week'],
    ['2026-13', '2027-01', 'month'], ['2026', '2027', 'month'], ['x', 'y', 'hour'],
  ] satisfies [string, string, TimeBin][])('is not listed by %s..%s', (first, last, unit) => {
    expect(binsBetween(first, last, unit, 400)).toBeUndefined();
  });
});

describe('the order of a date', () => {
  it.each([
    ['19/12/2026', 'dmy'], ['12/19/2026 2:05 PM', 'mdy'], ['19-12-2026', 'dmy'],
    ['3/4/2026', undefined], ['19.12.2026', undefined], ['2026/12/19', undefined],
    ['32/1/2026', undefined], ['19/19/2026', undefined], ['', undefined],
  ])('that %s shows is %s', (cell, order) => {
    expect(orderIn(cell)).toBe(order);
  });
});

it('writes times as exactly as they are known', () => {
  const time = at('2026-12-19T13:05:30Z');
  expect([null, 30_000, 120_000, 90_000_000].map((half) => berlin.textOf(time, half))).toEqual(
    ['2026-12-19 14:05:30', '2026-12-19 14:05:30', '2026-12-19 14:05', '2026-12-19'],
  );
  expect(berlin.textOf(1e17, null)).toBe('after any date');
});

it('refuses a zone that is none, and names one that is near', () => {
  expect(() => checkZone('Europe/Berlin')).not.toThrow();
  expect(() => checkZone('Europe/Berln')).toThrow(/no time zone.*Europe\/Berlin/);
});
