import { openSensitive } from '../../src/base/wrappers.js';
import type { Finished, FinishedSummaries } from '../../src/estimators/contract/estimator.js';

/** Looks into summaries, as no production code may. */
export function opened(summaries: FinishedSummaries): Map<string, readonly Finished[]> {
  return new Map([...summaries].map(([name, groups]) => [name, openSensitive(groups)]));
}
