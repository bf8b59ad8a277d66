import type { PrivacyTarget } from '../../contract/estimator.js';
import { renyiAllowance } from '../../../privacy/accounting/target.js';
import { boundedDesign, type BoundedDesign } from '../covariance/bounded-design.js';
import { maskDesign, type MaskDesign, type MaskFacts } from './mask-design.js';
import { nearSmallestCohort } from '../../contract/planning.js';
import type { VarianceBounds } from '../covariance/variance-bounds.js';

/** How a group estimates its covariance. */
export type LocalCovariance = 'empirical' | 'robust';

/** The public numbers that a covariance without bounds is planned from. */
export interface MaskedFacts {
  readonly dimension: number;
  readonly cohort: number;
  readonly target: PrivacyTarget;
  readonly local: LocalCovariance;
  readonly kind: MaskFacts['kind'];
  /** Corruption that robust groups must withstand. */
  readonly corruption: number;
  readonly groups?: number;
}

/** `rows` is null where the mask is the answer. */
export interface MaskedDesign {
  readonly mask: MaskDesign;
  readonly rows: BoundedDesign | null;
}

export const groupsCohort = 'groups';
export const rowsCohort = 'rows';
const rowsShares = [0.1, 0.2, 0.35, 0.5] as const;
/**
 * Added to the radius per corruption: Tyler's shape and a median scale move by about this much.
 */
const slackPerCorruption = 10;
/** The mask must be invertible, with a margin. */
const samplesForMap = (dimension: number): number => 2 * dimension + 6;
/** A mask that is the answer itself needs more draws, or it would say little. */
const samplesForAnswer = (dimension: number): number => 50 * dimension;

/**
 * Degrees of freedom that a row is worth: of a median scale for one column, else about those of
 * Tyler's shape.
 */
export function efficiencyOf(local: LocalCovariance, dimension: number): number {
  if (local === 'empirical') return 1;
  return dimension === 1 ? 0.36 : (0.9 * dimension) / (dimension + 2);
}

/**
 * Bounds on the variance in every direction after the inverse root of a mask of `samples` draws:
 * the edges of the eigenvalues of such draws, widened by a factor of 2 below and 4 above.
 */
function boundsAfterMask(samples: number, dimension: number): VarianceBounds {
  const edge = Math.sqrt(dimension / samples);
  return { varianceLow: 1 / (2 * (1 + edge) ** 2), varianceHigh: 4 / (1 - edge) ** 2 };
}

/** The design of least error; null when none is feasible. */
export function maskedDesign(
  facts: MaskedFacts, shares: readonly number[] = rowsShares,
): MaskedDesign | null {
  if (facts.local === 'robust') {
    const mask = maskDesign(maskFacts(facts, 1), samplesForAnswer(facts.dimension));
    return mask === null ? null : { mask, rows: null };
  }
  let best: { mask: MaskDesign; rows: BoundedDesign } | null = null;
  const errorOf = ({ sampling, noise }: BoundedDesign): number => Math.hypot(sampling, noise);
  for (const share of shares) {
    const mask = maskDesign(maskFacts(facts, 1 - share), samplesForMap(facts.dimension));
    if (mask === null) continue;
    const { order, divergence } = renyiAllowance(facts.target);
    const rows = boundedDesign({
      name: rowsCohort, dimension: facts.dimension, cohort: Math.floor(facts.cohort * share),
      rho: (divergence / order) * (1 - 2 ** -40), ...boundsAfterMask(mask.samples, facts.dimension),
    });
    if (rows !== null && (best === null || errorOf(rows) < errorOf(best.rows))) {
      best = { mask, rows };
    }
  }
  return best;
}

function maskFacts(
  { dimension, cohort, target, local, kind, corruption, groups }: MaskedFacts, share: number,
): MaskFacts {
  return {
    name: groupsCohort, dimension, cohort: cohort * share, delta: target.delta, kind,
    ...renyiAllowance(target),
    efficiency: efficiencyOf(local, dimension),
    slack: local === 'robust' ? slackPerCorruption * corruption : 0,
    ...(groups !== undefined && { groups }),
  };
}

/** The smallest cohort with a design, to 0.02; Infinity when 10^9 are too few. */
export function maskedCohortNeeded(facts: MaskedFacts): number {
  const fits = (cohort: number): boolean => maskedDesign({ ...facts, cohort }, [0.2]) !== null;
  return nearSmallestCohort(fits, { from: 1024, slack: 0.02 });
}
