import { InvariantError } from '../../src/base/errors.js';
import type { Outcome } from '../../src/base/outcome.js';
import { Sensitive } from '../../src/base/brands.js';
import type {
  Estimator, Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../src/estimators/contract/estimator.js';
import { forEachKey } from '../../src/estimators/keyed/each.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { planWithin } from '../../src/plan.js';
import type { FoundKeys } from '../../src/privacy/mechanisms/contract.js';

/** The subject of an audit. It can be sent to threads: planning again gives the same plan. */
export interface AuditSubject {
  readonly estimator: string;
  readonly parameters: ParameterValues;
  /** With `keys`: the answer is split, and the first column is the place of a row's key. */
  readonly facts: StudyFacts;
  /**
   * Names of the events that are audited alone, given the answers of all others. Absent: all
   * events.
   */
  readonly alone?: readonly string[];
  /** Places of keys that rows of the audit have. Only where the keys are discovered. */
  readonly places?: number;
}

/** @throws InvariantError if there is no plan. The command has checked this before. */
export function planOf(subject: AuditSubject): Plan {
  const plan = plannedFor(subject);
  if (plan.kind === 'infeasible') throw new InvariantError('an audited subject has a plan');
  return plan;
}

/** The plan, or why there is none. An estimator without a split of its own answers key by key. */
export function plannedFor(
  { estimator, parameters, facts, places }: AuditSubject,
): Plan | Infeasible {
  const plan = planWithin(asked(findEstimator(estimator), facts), parameters, facts);
  return places === undefined || plan.kind === 'infeasible' ? plan : atPlaces(plan, places);
}

function asked(estimator: Estimator, { keys }: StudyFacts): Estimator {
  const isEach = keys?.list === 'public' && estimator.keyed?.includes('public') !== true;
  return isEach ? forEachKey(estimator) : estimator;
}

/**
 * A plan that gets its keys, which are numbers, and shows a count at the place of its key: 0 for
 * one that is hidden, 1 for one that is shown without a count. So outputs of one length can be
 * compared.
 */
function atPlaces(plan: Plan, places: number): Plan {
  const keys: FoundKeys = {
    size: places, compare: (left, right) => left - right, partsOf: (place) => [String(place)],
    find: ([name]) => Number(name),
  };
  return {
    ...plan,
    outputShape: [Math.min(places, plan.outputShape[0]!)],
    noise: [],
    release: async (summaries, mechanisms, compute) => (await plan.release(
      summaries, mechanisms, compute, Sensitive.of(keys),
    )).map((outcome): Outcome => {
      if (outcome.kind === 'refused' || outcome.groups === undefined) return outcome;
      const estimate = new Array<number>(places).fill(0);
      outcome.groups.forEach(([place], i) => {
        estimate[Number(place)] = outcome.estimate[i] ?? 1;
      });
      return { ...outcome, estimate, shape: [places], uncertainty: { kind: 'none' } };
    }),
  };
}
