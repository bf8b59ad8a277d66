import type { ArgsDef } from 'citty';
import { headerChoices } from './csv-header.js';
import type { RowOptions } from './rows.js';

/** The flag of commands that read CSV. */
export const headerArgument = {
  header: {
    type: 'enum', options: [...headerChoices],
    description: 'of CSV: whether the first line holds the names of the columns (default: judged '
      + 'by what it holds)',
  },
} satisfies ArgsDef;

/** What the flag says, for a reader. */
export function headerChoice(header: string | undefined): Pick<RowOptions, 'header'> {
  return header === 'yes' || header === 'no' ? { header } : {};
}
