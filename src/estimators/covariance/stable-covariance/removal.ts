import type { Finding, RefusedOutcome } from '../../../base/outcome.js';
import type { HistogramFit } from '../../pooled/projected-histogram.js';
import type { CovarianceDesign } from './design.js';

/**
 * Judges the rows that are gone by the number of rows left, from released and public numbers only.
 *
 * Hostile rows are at most a share c of all. Thresholds also take some of the normal rows, as many
 * as their fits say. Where many more rows are gone than both explain, honest rows were taken for
 * hostile ones: they are not normal, and the covariance of those left is not theirs.
 */
export interface Removal {
  /** So many rows are gone that there is no answer. */
  readonly isTooMuch: boolean;
  /**
   * Some were removed. If these were honest, nobody knows how far this moves the answer: what is
   * given back for normal tails is too little for heavier ones.
   */
  readonly isTrimmed: boolean;
  readonly findings: { readonly findings?: readonly Finding[] };
}

/** Standard deviations of the noise of both numbers of rows that a removal must stand out of. */
const standsOut = 3;
/** The nearest threshold that there is takes this share of normal rows: beyond 1.2 deviations. */
const lostMost = 0.12;
/** Histograms may take a few honest rows beside hostile ones: this much of the stated share. */
const hostileMost = 1.5;

/** The released numbers of rows: those left inside the last thresholds, and all. */
interface Numbers {
  readonly left: number;
  readonly all: number;
}

/** Judges what was removed. */
export function removalOf(
  { corruption, present, count }: CovarianceDesign, trimmed: readonly Pick<HistogramFit, 'lost'>[],
  { left, all }: Numbers,
): Removal {
  const share = left / all;
  // The number of all rows is the sum of two noisy ones.
  const noise = Math.hypot(count.sigma, share * Math.SQRT2 * present.sigma) / all;
  const ofNormal = Math.min(lostMost, trimmed.reduce((sum, { lost }) => sum + lost, 0));
  const gone = 1 - share - ofNormal - standsOut * noise;
  const isTooMuch = gone > hostileMost * corruption;
  const isTrimmed = gone > 0 || trimmed.length > 0;
  if (!isTrimmed) return { isTooMuch, isTrimmed, findings: {} };
  const apart = { reason: 'cluster-apart', columns: [], amounts: [1 - share] } as const;
  const untold = { reason: 'rows-trimmed', columns: [], amounts: [] } as const;
  return {
    isTooMuch, isTrimmed, findings: { findings: gone > 0 ? [apart, untold] : [untold] },
  };
}

/** The refusal when too many rows are gone. */
export function tooFewLeft(
  { corruption }: Pick<CovarianceDesign, 'corruption'>, left: number, all: number,
): RefusedOutcome {
  const share = Number(((100 * left) / all).toPrecision(2));
  return {
    kind: 'refused',
    reason: 'too-few-left',
    text: `about ${share} % of the rows are left, fewer than the stated corruption of ${corruption} `
      + 'explains. The honest rows are not normal, or more of them are hostile: use covariance, '
      + 'which takes rows of any shape but resists no hostile rows, or a larger corruption',
  };
}
