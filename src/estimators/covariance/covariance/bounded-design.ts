import { ln } from '../../../base/elementary.js';
import { countGrid, gaussianEvent } from '../../../privacy/accounting/calibration.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type {
  GaussianEvent, MechanismEvent, SymmetricGaussianEvent,
} from '../../../privacy/accounting/events.js';
import { slotsFor } from '../../../privacy/stages/spread.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { pairsExpected } from '../moments/pairs.js';
import {
  noiseNorm, preconditionerDesign, type PreconditionerDesign,
} from '../moments/preconditioner.js';
import { secondMomentsEvent } from '../moments/second-moments.js';
import { nearSmallestCohort } from '../../contract/planning.js';
import type { VarianceBounds } from './variance-bounds.js';

/** The public numbers that a design within variance bounds is made from. */
export interface BoundedFacts extends VarianceBounds {
  /** Name of the plan's contributors: the events' cohort. */
  readonly name: string;
  readonly dimension: number;
  readonly cohort: number;
  readonly rho: number;
}

/** The public constants of a covariance within public bounds. */
export interface BoundedDesign {
  readonly facts: BoundedFacts;
  readonly slots: number;
  /** Pairs when everybody comes. */
  readonly pairs: number;
  readonly count: GaussianEvent;
  readonly preconditioner: PreconditionerDesign;
  readonly final: SymmetricGaussianEvent;
  readonly ball: ClipBall;
  readonly events: readonly MechanismEvent[];
  /** Expected relative Frobenius error of sampling and of noise. */
  readonly sampling: number;
  readonly noise: number;
}

const countShare = 0.01;
const preconditionerShares = [
  0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85,
];
/** The rounds must also succeed when a fifth of the pairs is missing. */
const turnout = 0.8;
/**
 * After the map rows vary by about 1 at most. The last ball is the smallest whose clipping stays
 * well below the sampling error.
 */
function finalRadius(dimension: number, pairs: number): number {
  return Math.sqrt(dimension) + 0.75 * Math.sqrt(ln(Math.max(pairs, 16)));
}

/** The share of rho for the preconditioner that leaves the least noise; null when none suffices. */
export function boundedDesign(facts: BoundedFacts): BoundedDesign | null {
  let best: BoundedDesign | null = null;
  for (const share of preconditionerShares) {
    const next = designWith(facts, share);
    if (next !== null && (best === null || next.noise < best.noise)) best = next;
  }
  return best;
}

function designWith(facts: BoundedFacts, share: number): BoundedDesign | null {
  const { name: cohort, dimension, rho, varianceLow, varianceHigh } = facts;
  const slots = slotsFor(facts.cohort);
  const pairs = pairsExpected(facts.cohort);
  const preconditioner = preconditionerDesign({
    cohort, dimension, range: varianceHigh / varianceLow, rho: shareOf(rho, share),
    pairs: turnout * pairs, pairsMax: slots,
  });
  if (preconditioner === null) return null;
  const countRho = shareOf(rho, countShare);
  const count = gaussianEvent({
    name: 'pairs', cohort, dimension: 1, sensitivity: 1, rho: countRho,
    grid: countGrid(1 / Math.sqrt(2 * countRho)),
  });
  const ball = clipBall(finalRadius(dimension, pairs), { products: true, rowsMax: slots });
  const final = secondMomentsEvent({
    name: 'covariance', cohort, dimension, ball, rho: shareOf(rho, 1 - share - countShare),
  });
  const entries = (dimension * (dimension + 1)) / 2;
  return {
    facts, slots, pairs, count, preconditioner, final, ball,
    events: [count, ...preconditioner.events, final],
    sampling: Math.sqrt((2 * entries) / pairs),
    // The map leaves a direction at about 1 / (1 + shift), and the noise is relative to that.
    noise: ((final.sigma * Math.sqrt(entries)) / pairs) * (1 + preconditioner.shift),
  };
}

/** The smallest cohort with a design, to 0.01; Infinity when 10^9 are too few. */
export function boundedCohortNeeded(facts: BoundedFacts): number {
  const fits = (cohort: number): boolean => boundedDesign({ ...facts, cohort }) !== null;
  return nearSmallestCohort(fits);
}

/** Relative size of the last noise in its worst direction, when `pairs` came. */
export function relativeNoise({ facts, final }: BoundedDesign, pairs: number): number {
  return (noiseNorm(facts.dimension) * final.sigma) / pairs;
}
