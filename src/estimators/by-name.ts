import { InvalidParameterError } from '../base/errors.js';
import { estimatorNow } from '../base/old-names.js';
import { didYouMean } from '../base/suggest.js';
import type { Estimator } from './contract/estimator.js';
import { loaders } from './generated/loaders.js';
import { table } from './table.js';

/** Common words for a question, and what to write for them. */
const otherWords: Readonly<Record<string, string>> = {
  percentile: 'quantile',
  average: 'mean or robust-mean',
  total: 'sum',
  proportion: 'share',
  distinct: 'count with of: groups, and discovered groups',
};

/** The error for a name that no estimator has: it lists the names. */
export function unknownEstimator(name: string): InvalidParameterError {
  const known = table.map((entry) => entry.name);
  const isText = typeof name === 'string';
  const now = isText ? estimatorNow(name) : undefined;
  const near = isText ? didYouMean(name, known, otherWords) : '';
  const remedy = near === '' ? `: choose one of ${known.join(', ')}` : near;
  return new InvalidParameterError(
    now ?? `there is no estimator ${JSON.stringify(name)}${remedy}`, { path: 'estimator', known },
  );
}

/** True if an estimator has this name. */
export function isEstimator(name: string): boolean {
  return Object.hasOwn(loaders, name);
}

/**
 * The estimator of this name, as `findEstimator` has it, without the code of most others.
 * @throws InvalidParameterError listing the names when there is no such estimator.
 */
export async function loadEstimator(name: string): Promise<Estimator> {
  if (!isEstimator(name)) throw unknownEstimator(name);
  return loaders[name]!();
}
