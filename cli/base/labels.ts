import { KeelsonError } from '../../src/base/errors.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { estimators } from '../../src/estimators/registry.js';
import type { StudyDocument } from '../../src/wire/study-document.js';

type Labelled = Pick<StudyDocument, 'estimator' | 'parameters' | 'columns'>;

/**
 * The name of each number in a study's releases: from its estimator, else from the columns. The
 * document comes from a server. It may be wrong, or name an estimator that this version does not
 * know; the columns are used then.
 */
export function labelsOf({ estimator: name, parameters, columns }: Labelled): readonly string[] {
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
