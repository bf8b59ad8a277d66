import { unknownEstimator } from './by-name.js';
import type { Estimator } from './contract/estimator.js';
import * as all from './index.js';
import { table } from './table.js';

const byName = new Map<string, Estimator>(
  Object.values(all).map((estimator) => [estimator.name, estimator]),
);

/** Every estimator, in the order of the table. */
export const estimators: readonly Estimator[] =
  Object.freeze(table.map(({ name }) => byName.get(name)!));

/**
 * The estimator of this name, as `keelson estimators` lists them.
 * @throws InvalidParameterError listing the names when there is no such estimator.
 */
export function findEstimator(name: string): Estimator {
  const found = estimators.find((estimator) => estimator.name === name);
  if (found === undefined) throw unknownEstimator(name);
  return found;
}
