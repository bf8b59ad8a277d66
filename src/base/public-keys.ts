import type { ColumnType } from './columns.js';
import { publicParts } from './question-rules.js';
import { questionLimits, type GroupBy } from './questions.js';

/** The name of the draw of how many people have more groups than count; also of its finding. */
export const groupsCutName = 'groups-cut';

/** The columns of a study, each with its type. */
interface TypedColumns {
  readonly columns: readonly string[];
  readonly types?: readonly ColumnType[] | undefined;
}

/**
 * The public keys of a split question: those of its list, or all combinations of its columns'
 * public values. Among these, keys that differ in the last column only are next to each other.
 * Null where the keys are found, where a column has no public values, or for more than 4,096 keys.
 */
export function publicKeys(
  by: GroupBy, study: TypedColumns,
): readonly (readonly string[])[] | null {
  if (by.groups !== undefined) return by.groups;
  if (by.discover !== undefined) return null;
  let keys: readonly (readonly string[])[] = [[]];
  for (const name of by.columns) {
    const type = study.types?.[study.columns.indexOf(name)];
    const values = type === undefined ? null : publicParts(type);
    if (values === null || keys.length * values.length > questionLimits.keys) return null;
    keys = keys.flatMap((key) => values.map((value) => [...key, value]));
  }
  return keys;
}

/**
 * True if a person may have more keys than count for it. It may not where there are no more keys,
 * nor where it has no more rows.
 * @param rowsMax - of one person.
 */
export function mayLoseKeys(by: GroupBy, study: TypedColumns, rowsMax: number): boolean {
  return by.groupsMax < Math.min(publicKeys(by, study)?.length ?? Infinity, rowsMax);
}
