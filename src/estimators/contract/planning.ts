import type { Infeasible } from './estimator.js';

/** The neighbours that guarantees name, unless they say otherwise. */
export const neighbours = 'one contributor’s row replaced by any other row, or by none, or added';

/** The plan of a private centre under a target without rho or delta. */
export const centreNeedsDelta: Infeasible = Object.freeze({
  kind: 'infeasible',
  reason: 'finding the centre needs a positive rho and a positive delta',
  remedy: 'ask for (epsilon, delta) with delta > 0',
});

/** No cohort that this module looks at is as large. */
const cohortMost = 1e9;

/**
 * The smallest cohort that a plan fits, to a share of it; Infinity when a thousand million are too few.
 * @param fits - true from some cohort on.
 * @param options.from - nothing below half of this is looked at. Default 64.
 * @param options.slack - how much more than the smallest may be answered, as a share. Default a hundredth.
 */
export function smallestCohort(
  fits: (cohort: number) => boolean,
  { from = 64, slack = 0.01 }: { readonly from?: number; readonly slack?: number } = {},
): number {
  let high = from;
  while (high < cohortMost && !fits(high)) high *= 2;
  if (high >= cohortMost) return Infinity;
  let low = high / 2;
  while (high - low > Math.max(1, slack * low)) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) high = middle;
    else low = middle;
  }
  return Math.ceil(high);
}

/** Too few contributors: what would do, unless no cohort would, and what else to change. */
export function needsCohort(reason: string, cohortNeeded: number, others: string): Infeasible {
  if (cohortNeeded === Infinity) return { kind: 'infeasible', reason, remedy: others };
  return { kind: 'infeasible', reason, remedy: `a cohort of ${cohortNeeded}, ${others}`, cohortNeeded };
}
