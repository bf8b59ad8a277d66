import type { ArgsDef } from 'citty';
import { didYouMean } from '../../src/base/suggest.js';
import { UsageError } from '../base/errors.js';
import { pairsFlag } from '../base/numbers.js';
import { areApart, markWords, type CsvForm } from './csv-form.js';
import type { RowOptions } from './rows.js';
import { checkZone } from './times.js';

/** The flag of commands that read rows. */
export const csvArgument = {
  csv: {
    type: 'string', valueHint: 'form',
    description: 'what the file looks like, where its first lines do not show it: header=yes or '
      + 'no, separator=; or tab or pipe or comma, decimal=comma or point, thousands=point or comma '
      + 'or space, encoding=latin1, empty=NA|- (words that mean an empty cell), missing=null (a '
      + 'row does not count where a cell that is used is empty), dates=dmy or mdy (which comes '
      + 'first in 3/4/2026) or seconds or milliseconds, zone=Europe/Berlin (the time zone of times '
      + 'without one), table=rides (of a database); several with commas between',
  },
} satisfies ArgsDef;

export const csvParts = [
  'header', 'separator', 'decimal', 'thousands', 'encoding', 'empty', 'missing', 'dates',
  'zone', 'table',
] as const;
type Part = (typeof csvParts)[number];

/** The words of each part, and their meanings. */
const words = {
  header: { yes: 'yes', no: 'no' }, ...markWords,
  encoding: { latin1: 'latin1' },
  missing: { null: 'null' },
  dates: {
    dmy: 'dmy', mdy: 'mdy', ymd: 'ymd', seconds: 'seconds', milliseconds: 'milliseconds',
  },
} as const satisfies Readonly<
  Record<Exclude<Part, 'empty' | 'zone' | 'table'>, Readonly<Record<string, string>>>>;

/**
 * The form of a file that `--csv` states, for a reader. Parts that it does not name are absent.
 * @param known - the parts that the command takes.
 * @throws UsageError for an unknown part or word, and for a mark with two meanings.
 */
export function csvFlag(
  text: string | undefined, known: readonly Part[] = csvParts,
): Partial<Pick<RowOptions, Exclude<Part, keyof CsvForm> | 'form'>> {
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
  const encoding = wordOf(pairs, 'encoding');
  const dates = wordOf(pairs, 'dates');
  const { zone, table } = pairs;
  if (zone !== undefined) checkZone(zone);
  const form = formOf(pairs);
  return {
    ...(header !== undefined && { header }), ...(missing !== undefined && { missing }),
    ...(encoding !== undefined && { encoding }),
    ...(pairs['empty'] !== undefined && { empty: pairs['empty'].split('|') }),
    ...(Object.keys(form).length > 0 && { form }),
    ...(dates !== undefined && { dates }), ...(zone !== undefined && { zone }),
    ...(table !== undefined && { table }),
  };
}

function formOf(pairs: Readonly<Record<string, string>>): Partial<CsvForm> {
  const separator = wordOf(pairs, 'separator');
  const decimal = wordOf(pairs, 'decimal');
  const thousands = wordOf(pairs, 'thousands');
  if (!areApart({ separator, decimal, thousands } as Partial<CsvForm>)) {
    throw new UsageError('--csv gives one mark two meanings: name marks that differ, as in '
      + '--csv "separator=;,decimal=comma,thousands=point"');
  }
  return {
    ...(separator !== undefined && { separator }), ...(decimal !== undefined && { decimal }),
    ...(thousands !== undefined && { thousands }),
  };
}

function wordOf<Name extends keyof typeof words>(
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
