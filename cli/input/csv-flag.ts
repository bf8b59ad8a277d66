import type { ArgsDef } from 'citty';
import { didYouMean } from '../../src/base/suggest.js';
import { UsageError } from '../base/errors.js';
import { pairsFlag } from '../base/numbers.js';
import { usualForm, type CsvForm } from './csv-form.js';
import type { RowOptions } from './rows.js';

/** The flag of commands that read rows. */
export const csvArgument = {
  csv: {
    type: 'string', valueHint: 'form',
    description: 'what the file looks like: header=yes or no (default: judged by what the first '
      + 'line holds), separator=; or tab or pipe, decimal=comma, missing=null (a row does not '
      + 'count where a cell that is used is empty); several with commas between',
  },
} satisfies ArgsDef;

const parts = ['header', 'separator', 'decimal', 'missing'] as const;
type Part = (typeof parts)[number];

/** The words of each part, and their meanings. */
const words = {
  header: { yes: 'yes', no: 'no' },
  separator: {
    comma: ',', ';': ';', semicolon: ';', tab: '\t', '|': '|', pipe: '|',
  },
  decimal: { point: '.', comma: ',' },
  missing: { null: 'null' },
} as const satisfies Readonly<Record<Part, Readonly<Record<string, string>>>>;

/**
 * The form of a file that `--csv` states, for a reader. Parts that it does not name are absent.
 * @param known - the parts that the command takes.
 * @throws UsageError for an unknown part or word, and for commas with two meanings.
 */
export function csvFlag(
  text: string | undefined, known: readonly Part[] = parts,
): Partial<Pick<RowOptions, 'header' | 'form' | 'missing'>> {
  if (text === undefined) return {};
  const pairs = pairsFlag(text.split(','), '--csv');
  const strange = Object.keys(pairs).find((name) => !(known as readonly string[]).includes(name));
  if (strange !== undefined) {
    const near = didYouMean(strange, known);
    throw new UsageError(
      `--csv has no part "${strange}": its parts are ${known.join(', ')}${near}`);
  }
  const header = wordOf(pairs, 'header');
  const missing = wordOf(pairs, 'missing');
  const separator = wordOf(pairs, 'separator') ?? usualForm.separator;
  const decimal = wordOf(pairs, 'decimal') ?? usualForm.decimal;
  if (separator === decimal) {
    throw new UsageError('--csv decimal=comma: commas stand between the cells too: give the '
      + 'file\'s separator, as in --csv "separator=;,decimal=comma"');
  }
  const isUsual = separator === usualForm.separator && decimal === usualForm.decimal;
  const form: CsvForm = { ...usualForm, separator, decimal };
  return {
    ...(header !== undefined && { header }), ...(missing !== undefined && { missing }),
    ...(!isUsual && { form }),
  };
}

function wordOf<Name extends Part>(
  pairs: Readonly<Record<string, string>>, part: Name,
): Values<(typeof words)[Name]> | undefined {
  const word = pairs[part];
  if (word === undefined) return undefined;
  const known: Readonly<Record<string, string>> = words[part];
  if (Object.hasOwn(known, word)) return known[word] as Values<(typeof words)[Name]>;
  throw new UsageError(`--csv ${part} is "${word}": write one of `
    + Object.keys(known).map((each) => `${part}=${each}`).join(', '));
}

type Values<T> = T[keyof T];
