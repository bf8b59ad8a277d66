import type { ColumnType } from './columns.js';
import { isLine } from './facts-limits.js';

/**
 * How pages show the numbers of a column. They change nothing that is computed.
 * - `label`: its name for people, in place of the column's name.
 * - `unit`: stands after its numbers, such as `minutes`. Of numbers and integers only.
 * - `format`: `percent` shows 0.25 as 25 %, without a unit; `compact` shows 1250000 as 1.25M. Of
 *   numbers and integers only.
 */
export interface ColumnWords {
  readonly label?: string;
  readonly unit?: string;
  readonly format?: ColumnFormat;
}

/** The formats of a column's numbers. */
export const columnFormats = ['percent', 'compact'] as const;
/** One of them. */
export type ColumnFormat = (typeof columnFormats)[number];

/** Longest words of a study, in UTF-16 units. A page has little more room. */
export const wordLimits = { title: 120, description: 1_000, label: 64, unit: 24 } as const;

/** Why a column cannot have these words: the key, and the rule that it breaks; null if it can. */
export function columnWordsFault(
  { label, unit, format }: ColumnWords, { type }: Pick<ColumnType, 'type'>,
): readonly [key: keyof ColumnWords, rule: string] | null {
  if (label !== undefined && !isLine(label, wordLimits.label)) {
    return ['label', lineRule(wordLimits.label)];
  }
  const isNumber = type === 'number' || type === 'integer';
  if (unit !== undefined && !isNumber) return ['unit', 'for a number or an integer only'];
  if (unit !== undefined && !isLine(unit, wordLimits.unit)) {
    return ['unit', lineRule(wordLimits.unit)];
  }
  if (format !== undefined && !isNumber) return ['format', 'for a number or an integer only'];
  return format === 'percent' && unit !== undefined ? ['unit', 'without format: percent'] : null;
}

/** The words of all columns, as facts hold them: absent if all are empty, so there is one form. */
export function wordsOfColumns(
  words: readonly ColumnWords[],
): { readonly columnWords?: readonly ColumnWords[] } {
  return words.some((each) => Object.keys(each).length > 0) ? { columnWords: words } : {};
}

/** The rule that `isLine` checks, for messages. */
export function lineRule(lengthMax: number): string {
  return `a line of 1 to ${lengthMax} visible characters in NFC, with single spaces`;
}
