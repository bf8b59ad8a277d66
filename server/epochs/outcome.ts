import type { Outcome, Uncertainty, ValueOutcome } from '../../src/base/outcome.js';

/**
 * The outcome if it can be published: every number finite, sizes as planned. Otherwise a refusal. Looks at released
 * numbers only, so it costs nothing.
 * @param outputShape of the plan.
 */
export function publishable(outcome: Outcome, outputShape: readonly number[]): Outcome {
  if (outcome.kind === 'refused' || isWhole(outcome, outputShape)) return outcome;
  return {
    kind: 'refused',
    reason: 'numerical-failure',
    text: 'the answer held a number that is not finite, or did not have the planned size; nothing of it is published',
  };
}

/** The outcome of an epoch that was charged but whose noise is lost. */
export const interrupted: Outcome = {
  kind: 'refused',
  reason: 'interrupted',
  text: 'the release was charged and then interrupted; its noise is never drawn again on the same data',
};

function isWhole(outcome: ValueOutcome, outputShape: readonly number[]): boolean {
  const { estimate, shape, interval95, uncertainty } = outcome;
  const entries = outputShape.reduce((product, length) => product * length, 1);
  const lists = [estimate, ...(interval95 === undefined ? [] : [interval95.low, interval95.high])];
  return shape.length === outputShape.length
    && shape.every((length, i) => length === outputShape[i])
    && lists.every((list) => list.length === entries && list.every(Number.isFinite))
    && numbersOf(uncertainty).every(Number.isFinite);
}

function numbersOf(uncertainty: Uncertainty): readonly number[] {
  switch (uncertainty.kind) {
    case 'gaussian': return uncertainty.standardDeviation;
    case 'relative': return [uncertainty.operator];
    case 'grid': return [uncertainty.spacing];
    case 'none': return [];
  }
}
