import type { ColumnType } from '../../src/base/columns.js';

/** A column whose cells are texts or names, so that a number in it is the text of its digits. */
export type NamesType = Extract<ColumnType, { readonly type: 'text' | 'category' }>;

export function isOfNames(type: ColumnType | undefined): type is NamesType {
  return type?.type === 'text' || type?.type === 'category';
}

/** From this number on, a float of this many bytes stands for several whole numbers. */
const wholeNumbers: Readonly<Record<number, number>> = { 2: 2 ** 11, 4: 2 ** 24, 8: 2 ** 53 };

/**
 * True if a number of a file is the one that its writer meant. A float that is too large may stand
 * for several ids, and would make one person of several.
 * @param floatBytes - the size of a float of its column; undefined if the column has integers.
 */
export function isFloatId(value: number, floatBytes: number | undefined): boolean {
  return floatBytes === undefined || Math.abs(value) < wholeNumbers[floatBytes]!;
}

/** The fault of an id, a group or a text that is too large a float. */
export const floatIdFault = 'an id, group or text that is so large a float may stand for several: '
  + 'save the column as integers or as texts';
