import { KeelsonError } from '../../src/base/errors.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { estimators } from '../../src/estimators/registry.js';
import { answerKeys } from '../../src/wire/answer-keys.js';
import type { OneQuestion } from '../../src/wire/study-document.js';

type Labelled = Pick<OneQuestion, 'estimator' | 'parameters' | 'columns' | 'types'>;

/**
 * The name of each number in a study's releases: the names of a category or boolean that it counts,
 * else from its estimator, else from the columns. The document comes from a server. It may be
 * wrong, or name an estimator that this version does not know; the columns are used then.
 */
export function labelsOf(document: Labelled): readonly string[] {
  const { estimator: name, parameters, columns } = document;
  const keys = answerKeys(document);
  if (keys !== null) return keys;
  const estimator = estimators.find((known) => known.name === name);
  if (estimator?.outputLabels === undefined) return columns;
  try {
    const parsed = parseParameters(estimator.parameters, parameters, { dimension: columns.length });
    return estimator.outputLabels(parsed, columns);
  } catch (error) {
    if (error instanceof KeelsonError && error.code === 'invalid-parameter') return columns;
    throw error;
  }
}
