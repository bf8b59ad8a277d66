import { parametersFor } from '../../server/study-file/columns.js';
import type { ColumnType } from '../../src/base/columns.js';
import { isEstimator, loadEstimator } from '../../src/estimators/by-name.js';
import { UsageError } from '../base/errors.js';
import type { RowOptions } from '../input/rows.js';

/** The types of a table's columns, in its order; undefined if no study states any. */
export function typesOfTable(
  columns: readonly string[], { types }: Pick<RowOptions, 'types'>,
): readonly ColumnType[] | undefined {
  return types && columns.map((name) => types.get(name) ?? { type: 'number' });
}

/**
 * The parameters of `--set`, with those that follow from typed columns, as for a study file.
 * @throws UsageError if the estimator cannot answer about these columns.
 */
export async function parametersOfTypes(
  name: string, given: Readonly<Record<string, unknown>>, columns: readonly string[],
  types: readonly ColumnType[] | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  if (types === undefined) return given;
  const estimator = isEstimator(name) ? await loadEstimator(name) : { name, parameters: [] };
  return parametersFor(given, estimator, { columns, types }, (path, rule, remedy) =>
    new UsageError(`${path} ${rule}; ${remedy}`));
}

/**
 * Refuses a share of a column of numbers that lacks a threshold. The estimator's own threshold, .5,
 * is that between no and yes. Of incomes it would make nearly everybody, and look like an answer.
 * @param asked - the estimator, or the question that one is chosen for.
 * @throws UsageError with the flags that decide.
 */
export function checkThreshold(
  asked: string, { column, threshold }: Readonly<Record<string, unknown>>,
  columns: readonly string[], types: ReadonlyMap<string, ColumnType> | undefined,
): void {
  if (asked !== 'share' || threshold !== undefined) return;
  const name = column === undefined && columns.length === 1 ? columns[0]
    : columns.find((each, i) => each === column || String(i) === String(column));
  const { type } = types?.get(name ?? '') ?? { type: 'number' };
  if (name === undefined || (type !== 'number' && type !== 'integer')) return;
  throw new UsageError(`which share of ${name}? Give --set threshold=VALUE for the share of the `
    + `people with at least that value, or --type ${name}=boolean if it holds 0 and 1, or true `
    + 'and false');
}
