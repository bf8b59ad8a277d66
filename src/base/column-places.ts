/**
 * Estimators know columns by their places alone, and write these into a refusal. The caller, which
 * knows the names, replaces the places by them. The text says no more about the data for it.
 */

/** `column 1, 3 (counted from 1)`, for columns 0 and 2. */
export function columnPlaces(columns: readonly number[]): string {
  return `column ${columns.map((column) => column + 1).join(', ')} (counted from 1)`;
}

const places = /\bcolumn (\d+(?:, \d+)*) \(counted from 1\)/g;

/**
 * The text with the names of columns in place of their places.
 * @param names - of the columns that the estimator sees; a place without a name stays.
 */
export function withColumnNames(text: string, names: readonly string[]): string {
  return text.replace(places, (all, list: string) => {
    const found = list.split(', ').map((place) => names[Number(place) - 1]);
    return found.includes(undefined) ? all
      : `column${found.length === 1 ? '' : 's'} ${found.join(', ')}`;
  });
}
