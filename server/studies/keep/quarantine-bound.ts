import { chiSquareCdf } from '../../../src/numerics/chi-square.js';
import type { StudyDefinition } from '../definition.js';
import { comparedPlace, spreadOf } from './own-rows.js';

/** The consequences of an automatic quarantine's bound for a plan, from public numbers alone. */
export interface QuarantineBound {
  /**
   * How far the planned share of liars may move an answer, in spreads; null: the plan has no bound
   * against liars.
   */
  readonly error: number | null;
  /**
   * Honest keys that are expected beyond the bound in one epoch: of normal rows with the study's
   * spread as their deviation, one of each person, and an answer that is off by `error`.
   */
  readonly honestKeys: number | null;
}

/**
 * Null unless a study excludes keys by itself. Where the spread of the columns is not public, the
 * plan's error has another unit than the distances: it is stated as 0, and honestKeys as null.
 */
export function quarantineBound({ document, questions }: StudyDefinition): QuarantineBound | null {
  const { quarantine: rule, cohort } = document;
  const compared = questions[comparedPlace(document)];
  if (rule?.automatic !== true || compared === undefined) return null;
  const { plan, question: { columns, parameters } } = compared;
  const { corruptionMax } = plan.guarantee;
  if (!(corruptionMax > 0)) return { error: null, honestKeys: null };
  if (spreadOf(document) === null) return { error: 0, honestKeys: null };
  const declared = parameters['corruption'];
  const share = typeof declared === 'number' ? Math.min(declared, corruptionMax) : corruptionMax;
  const error = plan.expectedError(share).total;
  const left = Math.max(rule.beyond - error, 0);
  return { error, honestKeys: cohort * (1 - chiSquareCdf(left ** 2, columns.length)) };
}
