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
