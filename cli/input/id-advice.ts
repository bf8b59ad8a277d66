import { adviceOn, type RowOptions } from './rows.js';

/** Names that programs give to the column that says whose row it is. */
const idName = /^(?:id|uid|uuid|guid|user|person|customer|client|patient|member|account|subject|device|nutzer|kunde)$|[_ .-](?:id|uid|key|no|nr)$|[a-z]I[dD]$/i;
/** Fewer values are more likely a grouping than people. */
const peopleMin = 10;

/**
 * Advice where every row is taken for a person, although an unused column looks like the id of
 * people with several rows each. The advice depends on the rows, so it is shown to the person who
 * has the file, and is part of no release.
 * @param names - of the columns. @param rows - the first ones of the file.
 */
export function idAdvice(
  names: readonly string[], rows: readonly (readonly string[])[], options: RowOptions,
): string {
  if (options.contributor !== undefined || adviceOn(options, 'contributor', '.') === '') return '';
  const column = names.findIndex((name, index) => idName.test(name)
    && options.columns?.includes(name) !== true && options.group !== name
    && isOfSeveral(rows.map((row) => (row[index] ?? '').trim())));
  return column < 0 ? '' : `${options.source}: each row was taken for a person. If "${names[column]!}" `
    + `says whose row it is, pass --contributor ${shellWord(names[column]!)}`;
}

/** True if a column is named like an id, so that its cells are worth a look. */
export function hasIdName(names: readonly string[], options: RowOptions): boolean {
  return options.contributor === undefined && names.some((name) => idName.test(name));
}

function isOfSeveral(cells: readonly string[]): boolean {
  const filled = cells.filter((cell) => cell !== '');
  const people = new Set(filled).size;
  return people >= peopleMin && people < filled.length;
}

function shellWord(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll('\'', '\'\\\'\'')}'`;
}
