import type { Released, Sensitive } from '../../../base/brands.js';
import { findingsMax } from '../../../base/findings.js';
import type { Finding, Outcome } from '../../../base/outcome.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { Plan, PrivacyTarget, StudyFacts } from '../../contract/estimator.js';
import { errorUpTo } from '../../contract/planning.js';
import { finiteValue, intervalAbout } from '../../contract/outcomes.js';
import { countNoise, type CountNoise } from '../tables/count-noise.js';
import { corruptionMax } from '../tables/noisy-counts.js';
import { stepsPerUnit } from './bounds.js';

/** Share of the cost for the number of contributors whose value was clipped. */
export const clippedShare = 0.05;
/** Noise alone reports clipped values about this often, over all columns. */
const falseReports = 0.001;

/** The noise of the totals, and that of the number of clipped values in each column. */
export interface TotalsNoise {
  readonly totals: CountNoise;
  readonly clipped: CountNoise;
  /** A column is reported when its noisy number of clipped values is above this. */
  readonly reportedFrom: number;
}

/**
 * @param share - of the cost, for the totals.
 * The totals are in units of each column's bounds.
 */
export function totalsNoise(columns: number, target: PrivacyTarget, share: number): TotalsNoise {
  // A little above the root, which need not be a double.
  const size = { counts: columns, l1: columns, l2: Math.sqrt(columns) * (1 + 2 ** -50), target };
  const clipped = countNoise({ ...size, name: 'clipped', share: clippedShare });
  return {
    totals: countNoise({ ...size, name: 'totals', share, grid: 1 / stepsPerUnit }),
    clipped,
    reportedFrom: clipped.upperQuantile(falseReports / columns),
  };
}

/** What a plan says of its error, in shares of the total of people who are all at the bound. */
export function errorOfTotals(
  { totals }: TotalsNoise, { cohort, dimension }: StudyFacts,
): Plan['expectedError'] {
  const columns = Math.sqrt(dimension);
  const honest = { sampling: 0, noise: (totals.standardDeviation * columns) / cohort };
  return errorUpTo(corruptionMax, honest, (share) => columns * share);
}

/** What is added up, by column. */
export interface ClippedSums {
  /** In steps of the unit. */
  readonly sums: Float64Array;
  /** How many contributors have a value outside the bounds. */
  readonly clipped: Float64Array;
}

/**
 * Draws the totals and the numbers of clipped values.
 * @param units - of each column, in data units: public or released.
 */
export function releaseTotals(
  { totals, clipped, reportedFrom }: TotalsNoise, units: readonly number[],
  sums: Sensitive<ClippedSums>, mechanisms: Mechanisms, { cohort }: StudyFacts,
): Released<Outcome> {
  const beyond = clipped.draw(mechanisms, sums.map((all) => all.clipped)).value;
  const drawn = totals.draw(mechanisms, sums.map((all) =>
    all.sums.map((steps) => steps / stepsPerUnit)));
  return drawn.map((noisy) => {
    const estimate = Array.from(noisy, (total, j) => total * units[j]!);
    // Rounding moves each contributor's value by at most half a step.
    const half = totals.interval95([0]).high[0]! + cohort / (2 * stepsPerUnit);
    const { uncertainty } = totals;
    const findings = findingsOf(beyond, reportedFrom);
    return finiteValue({
      estimate,
      shape: [estimate.length],
      uncertainty: uncertainty.kind !== 'gaussian' ? uncertainty : {
        ...uncertainty,
        standardDeviation: uncertainty.standardDeviation.map((sigma, j) => sigma * units[j]!),
      },
      interval95: intervalAbout(estimate, (j) => half * units[j]!),
      scale: units,
      ...(findings.length > 0 && { findings }),
    }, 'a total is', 'give a smaller cap or range');
  });
}

/** The columns with the most clipped values, in their own order. */
function findingsOf(clipped: Float64Array, reportedFrom: number): readonly Finding[] {
  return Array.from(clipped, (people, column) => ({ people, column }))
    .filter(({ people }) => people > reportedFrom)
    .sort((one, two) => two.people - one.people)
    .slice(0, findingsMax)
    .sort((one, two) => one.column - two.column)
    .map(({ people, column }) =>
      ({ reason: 'values-clipped', columns: [column], amounts: [people] }));
}
