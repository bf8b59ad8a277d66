import { assert } from '../../src/base/assert.js';
import { parseNumber } from './decimals.js';

/** The way in which the cells of a CSV file are written. */
export interface CsvForm {
  /** The mark between the cells of a line. */
  readonly separator: ',' | ';' | '\t' | '|';
  /** The mark before the decimals of a number. */
  readonly decimal: '.' | ',';
  /** The marks that are allowed between groups of three digits. Empty: none. */
  readonly thousands: '' | '.' | ',' | '\'' | ' ' | '\u00a0';
}

export const usualForm: CsvForm = { separator: ',', decimal: '.', thousands: '' };

const escaped = (mark: string): string => mark.replace(/[.|]/, '\\$&');

/**
 * Reads the numbers of a form. Groups of digits are all marked or none is, and each but the first
 * has three: where another mark means something else, no cell is read as a number that it is not.
 */
export class FormNumbers {
  readonly #pattern: RegExp | null;

  /** @param form - three marks that differ. */
  constructor(readonly form: CsvForm) {
    const { separator, decimal, thousands } = form;
    assert(new Set([separator, decimal, thousands]).size === 3 || isUsual(form),
      'the marks of a form of CSV differ');
    const grouped = thousands === '' ? '' : `\\d{1,3}(?:${escaped(thousands)}\\d{3})+|`;
    const point = escaped(decimal);
    this.#pattern = isUsual(form) ? null
      : new RegExp(`^([+-]?)(?:(${grouped}\\d+)(?:${point}(\\d*))?|${point}(\\d+))([eE][+-]?\\d+)?$`);
  }

  /** The number in a cell as other programs write it; undefined: it holds none. */
  textOf(cell: string): string | undefined {
    const text = cell.trim();
    if (this.#pattern === null) return parseNumber(text) === undefined ? undefined : text;
    const found = this.#pattern.exec(text);
    if (found === null) return undefined;
    const [, sign = '', whole = '', decimals = '', alone = '', exponent = ''] = found;
    const { thousands } = this.form;
    const digits = thousands === '' ? whole : whole.replaceAll(thousands, '');
    return `${sign}${digits}.${decimals}${alone}${exponent}`.replace(/\.(?=e|E|$)/, '');
  }

  /** The number in a cell; undefined if it is not a number or not finite. */
  parse(cell: string): number | undefined {
    if (this.#pattern === null) return parseNumber(cell);
    const text = this.textOf(cell);
    return text === undefined ? undefined : parseNumber(text);
  }
}

function isUsual({ separator, decimal, thousands }: CsvForm): boolean {
  return separator === ',' && decimal === '.' && thousands === '';
}
