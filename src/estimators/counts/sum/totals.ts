import type { Released, Sensitive } from '../../../base/brands.js';
import { multipliedNoise } from '../../../base/noise-deviations.js';
import type { Outcome } from '../../../base/outcome.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { Plan, PrivacyTarget, StudyFacts } from '../../contract/estimator.js';
import { errorUpTo } from '../../contract/planning.js';
import { finiteValue, intervalAbout } from '../../contract/outcomes.js';
import { withOutside } from '../../contract/outside.js';
import { countNoise, type CountNoise } from '../tables/count-noise.js';
import { rootAbove } from '../tables/key-places.js';
import { corruptionMax } from '../tables/noisy-counts.js';
import { outsideNoise, type OutsideNoise } from '../tables/outside-noise.js';
import { stepsPerUnit } from './bounds.js';

/** The noise of totals, and of how many values are below and above the bounds of each column. */
export interface TotalsNoise {
  readonly totals: CountNoise;
  readonly outside: OutsideNoise;
}

/** How many totals there are, and how far one contributor moves them. */
export interface TotalsSize {
  readonly columns: number;
  /** Totals of each column: one for each key. */
  readonly keys: number;
  /** How far one contributor moves all totals, in units of the columns' bounds. */
  readonly l1: number;
  readonly l2: number;
  /** The most rows for which a contributor counts. */
  readonly rows: number;
}

/** The size of one total for each column, which a contributor moves by one unit at most. */
export function sizeOfColumns(columns: number): TotalsSize {
  return { columns, keys: 1, l1: columns, l2: rootAbove(columns), rows: 1 };
}

/**
 * The totals are in units of each column's bounds.
 * @param share - of the cost, for the totals.
 */
export function totalsNoise(
  { columns, keys, l1, l2, rows }: TotalsSize, target: PrivacyTarget, share: number,
): TotalsNoise {
  return {
    totals: countNoise({
      name: 'totals', counts: keys * columns, l1, l2, target, share, grid: 1 / stepsPerUnit,
    }),
    outside: outsideNoise(columns, rows, target),
  };
}

/** The expected error of a plan, as a share of the total of people who are all at the bound. */
export function errorOfTotals(
  { totals }: Pick<TotalsNoise, 'totals'>, { columns, keys, l2 }: TotalsSize,
  { cohort }: StudyFacts,
): Plan['expectedError'] {
  const noise = (totals.standardDeviation * Math.sqrt(keys * columns)) / cohort;
  return errorUpTo(corruptionMax, { sampling: 0, noise }, (share) => l2 * share);
}

/** The sums of clipped values, and the numbers of values outside the bounds. */
export interface ClippedSums {
  /** In steps of the unit, by key and column. */
  readonly sums: Float64Array;
  /** How many values are outside the bounds, as `countOutside` adds them. */
  readonly outside: Float64Array;
}

/**
 * Draws the totals and the numbers of values outside the bounds. Where such a number stands out,
 * the interval of the total is open on this side.
 * @param units - of each column, in data units: public or released.
 * @param shape - of the estimate; default: one number for each column.
 */
export function releaseTotals(
  { totals, outside }: TotalsNoise, units: readonly number[],
  sums: Sensitive<ClippedSums>, mechanisms: Mechanisms, { cohort }: StudyFacts,
  shape: readonly number[] = [units.length],
): Released<Outcome> {
  const unitOf = (i: number): number => units[i % units.length]!;
  const beyond = outside.numbers.draw(mechanisms, sums.map((all) => all.outside)).value;
  const drawn = totals.draw(mechanisms, sums.map((all) =>
    all.sums.map((steps) => steps / stepsPerUnit)));
  return drawn.map((noisy) => {
    const estimate = Array.from(noisy, (total, i) => total * unitOf(i));
    // Rounding moves each contributor's value by at most half a step.
    const half = totals.interval95([0]).high[0]! + cohort / (2 * stepsPerUnit);
    const answer = finiteValue({
      estimate,
      shape,
      uncertainty: multipliedNoise(totals.uncertainty, unitOf),
      interval95: intervalAbout(estimate, (i) => half * unitOf(i)),
      spread: units,
    }, 'a total is', 'give a smaller cap or range');
    return withOutside(answer, beyond, outside.reportedFrom);
  });
}
