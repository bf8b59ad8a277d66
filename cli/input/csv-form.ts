import { assert } from '../../src/base/assert.js';
import { parseNumber } from './decimals.js';

/** The first of two that cut a line into as many cells is the separator. */
export const separators = [';', '\t', ',', '|'] as const;
/** The last four: a blank, two that do not break a line, and the apostrophe of Swiss typography. */
export const thousandsMarks = ['.', ',', '\'', ' ', '\u00a0', '\u202f', '\u2019'] as const;

/** The way in which the cells of a CSV file are written. */
export interface CsvForm {
  /** The mark between the cells of a line. */
  readonly separator: (typeof separators)[number];
  /** The mark before the decimals of a number. Empty: numbers have none. */
  readonly decimal: '.' | ',' | '';
  /** The mark that is allowed between groups of three digits. Empty: none. */
  readonly thousands: '' | (typeof thousandsMarks)[number];
}

export const usualForm: CsvForm = { separator: ',', decimal: '.', thousands: '' };

const escaped = (mark: string): string => mark.replace(/[.|]/, '\\$&');
/** Matches nothing. */
const never = '(?!)';

/**
 * Reads the numbers of a form. Groups of digits are all marked or none is, and each but the first
 * has three: where another mark means something else, no cell is read as a number that it is not.
 */
export class FormNumbers {
  readonly #pattern: RegExp | null;

  /** @param form - whose marks differ. */
  constructor(readonly form: CsvForm) {
    const { decimal, thousands } = form;
    assert(areApart(form), 'the decimal mark of a form of CSV differs from its other marks');
    const grouped = thousands === '' ? '' : `\\d{1,3}(?:${escaped(thousands)}\\d{3})+|`;
    const point = decimal === '' ? never : escaped(decimal);
    this.#pattern = isUsual(form) ? null
      : new RegExp(`^([+-]?)(?:(${grouped}\\d+)(?:${point}(\\d*))?|${point}(\\d+))([eE][+-]?\\d+)?$`);
  }

  /** The number in a cell as other programs write it; undefined: it holds none. */
  textOf(cell: string): string | undefined {
    const text = cell.trim();
    if (this.#pattern === null) return usualText(text);
    const found = this.#pattern.exec(text);
    if (found === null) return undefined;
    const [, sign = '', whole = '', decimals = '', alone = '', exponent = ''] = found;
    const { thousands } = this.form;
    const digits = thousands === '' ? whole : whole.replaceAll(thousands, '');
    return `${sign}${digits}.${decimals}${alone}${exponent}`.replace(/\.(?=e|E|$)/, '');
  }

  /** The number in a cell; undefined if it is not a number or not finite. */
  parse(cell: string): number | undefined {
    const number = this.#pattern === null ? parseNumber(cell) : undefined;
    if (number !== undefined) return number;
    const text = this.textOf(cell);
    return text === undefined ? undefined : parseNumber(text);
  }
}

/** Commas that stand between thousands for sure: `1,234` may be less than two. */
const surelyGrouped = /^[+-]?\d{1,3}(?:(?:,\d{3})+\.\d*|(?:,\d{3}){2,})$/;

function usualText(text: string): string | undefined {
  if (surelyGrouped.test(text)) return text.replaceAll(',', '');
  return parseNumber(text) === undefined ? undefined : text;
}

/** True where no mark has two meanings. A cell in quotes may have the mark between cells inside. */
export function areApart({ separator, decimal, thousands }: Partial<CsvForm>): boolean {
  if (decimal === undefined || decimal === '') return true;
  return decimal !== separator && decimal !== thousands;
}

function isUsual({ separator, decimal, thousands }: CsvForm): boolean {
  return separator === ',' && decimal === '.' && thousands === '';
}

/** The words for marks, in flags and messages. */
export const markWords = {
  separator: {
    comma: ',', ';': ';', semicolon: ';', tab: '\t', '|': '|', pipe: '|',
  },
  decimal: { point: '.', comma: ',' },
  thousands: {
    none: '', point: '.', comma: ',', space: ' ', 'no-break-space': '\u00a0',
    'narrow-space': '\u202f', apostrophe: '\'', 'typographic-apostrophe': '\u2019',
  },
} as const;

/** The word by which a flag names a mark. */
export function markWord(part: keyof typeof markWords, mark: string): string {
  const [word] = Object.entries(markWords[part]).find(([, each]) => each === mark)!;
  return word;
}
