import type { Estimator } from '../estimators/contract/estimator.js';
import type { Case } from './case.js';
import { planCases } from './plan-cases.js';
import { releaseCases } from './release-cases.js';
import type { ComplianceSample } from './sample.js';
import { summaryCases } from './summary-cases.js';
import { Trial } from './trial.js';

/** One case of the compliance suite. */
export interface ComplianceCase {
  readonly name: string;
  /** `short`: milliseconds. `long`: a release or two. `slow`: many releases. */
  readonly effort: 'short' | 'long' | 'slow';
  /** @throws InvariantError that says what the estimator breaks. */
  readonly run: () => Promise<void>;
}

/**
 * The rules of every estimator, as cases for a test runner of any kind: its plan is a function of
 * public facts and costs what it says; its summaries depend on neither order nor place; on
 * neighbours, a release hands its mechanisms nothing that costs more than it charges; and it errs
 * as it says. Seeds are fixed, so a case has the same result each time.
 *
 * What an estimator promises beyond this needs tests of its own.
 * @example
 * import { test } from 'node:test';
 * import { mean } from 'keelson/estimators';
 * import { complianceCases } from 'keelson/kit';
 * const sample = {
 *   parameters: { spread: 3 }, dimension: 2, cohort: 4_000, unit: 3, location: true,
 *   honest: (data) => data.normals(2).map((entry) => 3 * entry),
 *   truth: () => [0, 0],
 * };
 * for (const { name, run } of complianceCases(mean, sample)) test(name, run);
 */
export function complianceCases(
  estimator: Estimator, sample: ComplianceSample,
): readonly ComplianceCase[] {
  const trial = new Trial(estimator, sample);
  const listed = (part: string, cases: readonly Case[]): readonly ComplianceCase[] => cases
    .filter(({ appliesTo }) => appliesTo?.(trial) !== false)
    .map((each) => ({
      name: `${part} ${each.name}`,
      effort: effortOf(each, part === 'plan', sample),
      run: async () => { await each.run(trial); },
    }));
  return [
    ...listed('plan', planCases), ...listed('summaries', summaryCases),
    ...listed('release', releaseCases),
  ];
}

function effortOf(
  { isSlow, repeats }: Case, isOfPlan: boolean, { isLarge }: ComplianceSample,
): ComplianceCase['effort'] {
  if (isOfPlan) return 'short';
  return isSlow === true || (repeats === true && isLarge === true) ? 'slow' : 'long';
}
