import type { Released, Sensitive } from '../../src/base/brands.js';
import type { Outcome } from '../../src/base/outcome.js';
import type {
  ArmPlan, Finished, FinishedSummaries, Plan, StudyFacts,
} from '../../src/estimators/contract/estimator.js';
import { rowsSummary } from '../../src/estimators/summaries/rows.js';
import { analyticGaussianSigma } from '../../src/privacy/accounting/analytic-gaussian.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import type { GaussianEvent, MechanismEvent } from '../../src/privacy/accounting/events.js';
import type { Mechanisms } from '../../src/privacy/mechanisms/contract.js';
import type { RowBlock } from '../../src/privacy/stages/rows.js';

/** Small estimators to plant defects in: just enough of a plan to be run, searched and audited. */
export interface SmallPlan {
  readonly facts: StudyFacts;
  readonly events: readonly MechanismEvent[];
  /** Disjoint cohorts; one named "rows" when absent. */
  readonly cohorts?: readonly string[];
  /** Length of the estimate. */
  readonly length: number;
  readonly release: (
    rows: (cohort: string) => Sensitive<RowBlock>,
    mechanisms: Mechanisms,
  ) => Released<readonly number[]> | Promise<Released<readonly number[]>>;
}

export function smallPlan({ facts, events, cohorts = ['rows'], length, release }: SmallPlan): Plan {
  const cohortPlans = cohorts.map((name): ArmPlan =>
    ({ name, share: 1 / cohorts.length, unit: 'row', mode: 'pooled', groups: 1 }));
  return {
    kind: 'plan',
    arms: cohortPlans,
    cost: costOfEvents(events, { disjoint: cohorts.length > 1 ? cohorts : [] }),
    events,
    guarantee: {
      neighbours: 'one row replaced, gone or new', theorem: 'none', assumptions: [],
      corruptionMax: 0,
    },
    outputShape: [length],
    noise: [],
    facts: {},
    expectedError: () => ({ total: 0, sampling: 0, noise: 0, bias: 0 }),
    summary: () => rowsSummary(facts.dimension),
    release: async (summaries, mechanisms) =>
      (await release((cohort) => blockOf(summaries, cohort), mechanisms)).map((estimate): Outcome =>
        ({ kind: 'value', estimate, shape: [estimate.length], uncertainty: { kind: 'none' } })),
  };
}

function blockOf(summaries: FinishedSummaries, cohort: string): Sensitive<RowBlock> {
  return summaries.get(cohort)!.map((list: readonly Finished[]) => {
    const [only] = list;
    if (only?.kind !== 'pooled') throw new Error('planted estimators pool their rows');
    return only.rows;
  });
}

/**
 * Gaussian noise that is exactly enough, so that anything less is too little: (epsilon, delta) of
 * the target.
 */
export function tightGaussian(
  name: string,
  dimension: number,
  sensitivity: number,
  { epsilon, deltaTotal }: { readonly epsilon: number; readonly deltaTotal: number },
  cohort = 'rows',
): GaussianEvent {
  const sigma = analyticGaussianSigma(epsilon, deltaTotal, sensitivity);
  return { kind: 'gaussian', name, cohort, dimension, sensitivity, sigma, grid: 2 ** -16 };
}

/** The sum over rows of a function of one row. */
export function sumOf(
  { count, dimension, values }: RowBlock,
  size: number,
  add: (row: Float64Array, sum: Float64Array) => void,
): Float64Array {
  const sum = new Float64Array(size);
  for (let i = 0; i < count; i++) add(values.subarray(i * dimension, (i + 1) * dimension), sum);
  return sum;
}

/** Each coordinate cut to [-1, 1]. */
export function intoCube(row: ArrayLike<number>): Float64Array {
  return Float64Array.from(row, (entry) => Math.min(1, Math.max(-1, entry)));
}

/** Shortened to norm 1. */
export function intoBall(row: ArrayLike<number>): Float64Array {
  const norm = Math.hypot(...Array.from(row));
  return Float64Array.from(row, (entry) => entry / Math.max(1, norm));
}

/** How many rows fall in each bin of the first coordinate. */
export function binCounts(
  { count, dimension, values }: RowBlock, width: number,
): Map<number, number> {
  const bins = new Map<number, number>();
  for (let i = 0; i < count; i++) {
    const bin = Math.floor(values[i * dimension]! / width);
    bins.set(bin, (bins.get(bin) ?? 0) + 1);
  }
  return bins;
}
