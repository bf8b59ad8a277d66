import type { Outcome } from '../base/outcome.js';
import { partsByName } from '../base/parts.js';
import type { Question } from '../base/questions.js';
import { cellEdges, quantilesOfRunning } from '../base/running-counts.js';

/**
 * Whether the parts of a value that follow from its other parts do so, to the last bit: the
 * quantiles of a distribution follow from its counts. True for values of other estimators.
 */
export function derivedPartsAgree(
  { estimator, parameters }: Pick<Question, 'estimator' | 'parameters'>, outcome: Outcome,
): boolean {
  if (estimator !== 'distribution' || outcome.kind === 'refused') return true;
  const { quantiles, below } = partsByName(outcome);
  const { probabilities } = parameters;
  const edges = cellEdges(parameters);
  if (edges === null || !isList(probabilities)) return false;
  if (!isList(quantiles) || !isList(below)) return false;
  if (below.length !== edges.length + 1 || !(below.at(-1)! > 0)) return false;
  const expected = quantilesOfRunning(below, edges, probabilities);
  return expected.length === quantiles.length
    && expected.every((value, i) => value === quantiles[i]);
}

function isList(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'number');
}
