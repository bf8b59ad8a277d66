import { describeNumbers } from '../answers/describe.js';
import type { Outcome } from '../base/outcome.js';
import type { Question } from '../base/questions.js';
import { quantilesOfRunning } from '../base/running-counts.js';

/**
 * True if the numbers of a value that follow from its other numbers do so, to the last bit: the
 * quantiles of a distribution follow from its counts. True for any other value.
 */
export function derivedPartsAgree(
  question: Pick<Question, 'estimator' | 'parameters' | 'columns'>, outcome: Outcome,
): boolean {
  if (outcome.kind === 'refused') return true;
  const { estimate } = outcome;
  const numbers = describeNumbers(question);
  const below = numbers.flatMap((number, place) =>
    (number.kind === 'below' ? [{ ...number, place }] : []));
  if (below.length === 0) return true;
  if (estimate.length !== numbers.length || !(estimate[below.at(-1)!.place]! > 0)) return false;
  const quantiles = numbers.flatMap((number, place) =>
    (number.kind === 'quantile' ? [{ ...number, place }] : []));
  return quantilesOfRunning(
    below.map(({ place }) => estimate[place]!),
    below.flatMap(({ edge }) => (edge === undefined ? [] : [edge])),
    quantiles.map(({ probability }) => probability),
  ).every((value, i) => value === estimate[quantiles[i]!.place]);
}
