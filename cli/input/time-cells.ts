import { adviceOn, refusedAt, type Place, type RowOptions } from './rows.js';
import { Times, type TimeFault } from './times.js';

/** Turns the cells of a file's columns of dates and times into the texts that they stand for. */
export class TimeCells {
  readonly #times: Times;

  /** @param dates - how dates are written. */
  constructor(private readonly options: RowOptions, dates = options.dates) {
    this.#times = new Times({ dates, zone: options.zone });
  }

  /**
   * Milliseconds since 1970 as digits, or the name of the bin that holds a time. An empty cell, and
   * the cell of a column that holds no times, stay as they are.
   * @param column - its name.
   * @throws InvalidInputError at the place, with what decides; never with the cell.
   */
  textOf(cell: string, column: string, place: () => Place): string {
    const unit = this.options.times?.get(column);
    if (unit === undefined || cell.trim() === '') return cell;
    const found = unit === 'time' ? this.#times.timeIn(cell) : this.#times.binIn(cell, unit);
    if (typeof found === 'number') return String(found);
    if (typeof found === 'object') return found.name;
    throw refusedAt(this.options.source, place(), this.#remedy(found));
  }

  #remedy(fault: TimeFault): string {
    const advice = (flag: string, other: string): string =>
      adviceOn(this.options, 'csv', flag) || other;
    const inFull = 'write dates as 2026-12-31';
    switch (fault) {
      case 'no-date': return 'not a date or time: write it as 2026-12-31, 2026-12-31 23:59 or '
        + '31.12.2026';
      case 'order': return 'the day or the month may come first in this date: '
        + advice('pass --csv dates=dmy or --csv dates=mdy', inFull);
      case 'digits': return 'digits alone may be a date, or count seconds or milliseconds since '
        + `1970: ${advice('pass --csv dates=ymd, dates=seconds or dates=milliseconds', inFull)}`;
      case 'zone': return 'a time of day of which no time zone is known: '
        + advice('name it, as in --csv zone=Europe/Berlin', 'write its offset behind it, as in Z');
      case 'offset': return 'a time that is given by its offset from UTC, so that its day depends '
        + `on a time zone: ${advice('name one, as in --csv zone=Europe/Berlin or --csv zone=UTC',
          'write it without an offset')}`;
      case 'hour': return 'a date without a time of day, so that it has no hour: take days';
    }
  }
}
