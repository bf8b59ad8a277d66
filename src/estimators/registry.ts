import { InvalidParameterError } from '../base/errors.js';
import { estimatorNow } from '../base/old-names.js';
import { didYouMean } from '../base/suggest.js';
import type { Estimator } from './contract/estimator.js';
import * as all from './index.js';
import { table } from './table.js';

const byName = new Map<string, Estimator>(
  Object.values(all).map((estimator) => [estimator.name, estimator]),
);

/** Every estimator, in the order of the table. */
export const estimators: readonly Estimator[] =
  Object.freeze(table.map(({ name }) => byName.get(name)!));

/** Common words for a question, and what to write for them. */
const otherWords: Readonly<Record<string, string>> = {
  median: 'quantile with probabilities [0.5]',
  percentile: 'quantile',
  average: 'mean or robust-mean',
  total: 'sum',
  proportion: 'share',
  distinct: 'count with of: groups and keys that are discovered',
};

/**
 * The estimator of this name, as `keelson estimators` lists them.
 * @throws InvalidParameterError listing the names when there is no such estimator.
 */
export function findEstimator(name: string): Estimator {
  const found = estimators.find((estimator) => estimator.name === name);
  if (found === undefined) {
    const known = estimators.map((estimator) => estimator.name);
    const isText = typeof name === 'string';
    const now = isText ? estimatorNow(name) : undefined;
    const near = isText ? didYouMean(name, known, otherWords) : '';
    const remedy = near === '' ? `: choose one of ${known.join(', ')}` : near;
    throw new InvalidParameterError(
      now ?? `there is no estimator ${JSON.stringify(name)}${remedy}`,
      { path: 'estimator', known },
    );
  }
  return found;
}
