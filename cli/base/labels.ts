import { KeelsonError } from '../../src/base/errors.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { estimators } from '../../src/estimators/registry.js';
import type { StudyDocument } from '../../src/wire/study-document.js';

type Labelled = Pick<StudyDocument, 'estimator' | 'parameters' | 'columns'>;

/**
 * What each number of a study's releases is: as its estimator says, else the columns. A document comes from a server,
 * which may run estimators that are not known here, or be wrong: then the columns have to do.
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
