import { valueFault } from '../../src/base/findings.js';
import type { Outcome, Uncertainty, ValueOutcome } from '../../src/base/outcome.js';
import { entriesOf, sameParts, sameShape, type NamedPart } from '../../src/base/parts.js';

/** The sizes and parts that a plan states for its values. */
interface Planned {
  readonly outputShape: readonly number[];
  readonly findsKeys?: true;
  readonly parts?: readonly NamedPart[];
}

/**
 * Returns the outcome if it can be published: every number is finite but for the ends of intervals
 * about which nothing is known, and sizes, parts, spread and findings are as planned. Otherwise
 * returns a refusal. It uses released numbers only, so it costs no privacy.
 * @param columns - number of columns of the study.
 */
export function publishable(outcome: Outcome, plan: Planned, columns?: number): Outcome {
  if (outcome.kind === 'refused' || isWhole(outcome, plan, columns)) return outcome;
  return {
    kind: 'refused',
    reason: 'numerical-failure',
    text: 'the answer held a number that is not finite, or did not have the planned size or parts; '
      + 'nothing of it is published',
  };
}

/** The outcome of an epoch that was charged but whose noise is lost. */
export const interrupted: Outcome = {
  kind: 'refused',
  reason: 'interrupted',
  text:
    'the release was charged and then interrupted; its noise is never drawn again on the same data',
};

/**
 * The outcome of one epoch of a running total. A refusal also states that the series ends. Its
 * words are a constant, so they reveal no more about the rows than that there is no answer.
 */
export function runningOutcome(outcome: Outcome): Outcome {
  return outcome.kind === 'value' ? outcome : {
    ...outcome,
    text: `${outcome.text}; the running total ends, so the people of this epoch are in no total, `
      + 'and the next total begins anew',
  };
}

function isWhole(
  outcome: ValueOutcome, plan: Planned, columns: number | undefined,
): boolean {
  const { estimate, shape, uncertainty } = outcome;
  return hasShape(outcome, plan)
    && sameParts(outcome.parts, plan.parts)
    && estimate.length === entriesOf(shape)
    && estimate.every(Number.isFinite)
    && numbersOf(uncertainty).every(Number.isFinite)
    && valueFault(outcome, columns) === null;
}

/** If keys are found, there may be fewer of them than planned, but at least one. */
function hasShape(
  { groups = [], shape }: ValueOutcome, { outputShape, findsKeys }: Planned,
): boolean {
  if (findsKeys !== true) return sameShape(shape, outputShape);
  return groups.length >= 1 && groups.length <= outputShape[0]!
    && sameShape(shape, [groups.length, ...outputShape.slice(1)]);
}

function numbersOf(uncertainty: Uncertainty): readonly number[] {
  switch (uncertainty.kind) {
    case 'gaussian': return uncertainty.standardDeviation;
    case 'laplace': return uncertainty.scale;
    case 'relative': return [uncertainty.operator];
    case 'grid': return [uncertainty.spacing];
    case 'none': return [];
  }
}
