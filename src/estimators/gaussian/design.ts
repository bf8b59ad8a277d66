import { normalUpperQuantile } from '../../numerics/normal.js';
import { centreEvents } from '../../privacy/centre.js';
import { clippedMeanEvents, type ClippedMeanEvents } from '../../privacy/clipped-mean.js';
import { keepingCount } from '../../privacy/mechanisms/bounds.js';
import type { ExponentialEvent, GaussianHistogramEvent, MechanismEvent } from '../../privacy/events.js';
import { shareOf } from '../../privacy/target.js';
import type { CohortPlan, StudyFacts } from '../contract.js';
import { boundedDesign, type BoundedDesign } from '../covariance/bounded-design.js';
import { distanceOf, type Distance, type StageError } from './distance.js';
import type { GaussianChoice } from './parameters.js';

/** Where rows of a stage come from, and what the stage may spend. */
export interface StageShare {
  readonly cohort: string;
  /** Nominal contributors. */
  readonly size: number;
  readonly rho: number;
}

/** The public constants of the mean, in coordinates in which rows vary by about 1. */
export interface MeanDesign {
  readonly from: StageShare;
  readonly bins: GaussianHistogramEvent;
  readonly median: ExponentialEvent;
  readonly clipped: ClippedMeanEvents;
  readonly error: StageError;
}

/** The public constants of a release. */
export interface GaussianDesign {
  readonly choice: GaussianChoice;
  readonly cohorts: readonly CohortPlan[];
  readonly covariance: BoundedDesign;
  readonly covarianceFrom: StageShare;
  readonly mean: MeanDesign;
  readonly events: readonly MechanismEvent[];
  /** Cohorts that compose in parallel. */
  readonly disjoint: readonly string[];
  readonly distance: Distance;
}

/** Part of rho for the covariance when everybody serves both, and of the contributors when nobody does. */
const covarianceShare = 0.65;
/** Part of the mean's rho that finds the centre. */
const centreShare = 0.3;
/** Rows vary by a little more or less than 1 after the map; the centre counts in units of this. */
export const whitenedScale = 1.2;
/** Share of the rows in the fullest bin, four scales wide, of a Gaussian that straddles two. */
const fullestBin = 0.45;
/** Smallest chance, over all columns, at which a plan lets the centre go missing. */
const centreMissing = 0.01;

/** Null when no rounds suffice for the covariance, or the noise would hide the centre. */
export function gaussianDesign(facts: StudyFacts, choice: GaussianChoice): GaussianDesign | null {
  const { covariance: covarianceFrom, mean: meanFrom } = sharesOf(facts, choice);
  const { dimension } = facts;
  const covariance = boundedDesign({
    name: covarianceFrom.cohort, dimension, cohort: covarianceFrom.size, rho: covarianceFrom.rho,
    varianceLow: choice.varianceLow, varianceHigh: choice.varianceHigh,
  });
  if (covariance === null) return null;
  const mean = meanDesign(facts, meanFrom);
  if (mean === null) return null;
  const { sampling, noise } = covariance;
  return {
    choice, covariance, covarianceFrom, mean,
    cohorts: cohortsOf(choice),
    events: [...covariance.events, mean.bins, mean.median, mean.clipped.sum, mean.clipped.count],
    disjoint: choice.isShared ? [] : ['covariance', 'mean'],
    distance: distanceOf(mean.error, { sampling, noise, bias: 0 }),
  };
}

function sharesOf(
  { cohort, target: { rho } }: StudyFacts, { isShared }: GaussianChoice,
): { readonly covariance: StageShare; readonly mean: StageShare } {
  const stage = (name: string, share: number): StageShare => (isShared
    ? { cohort: 'rows', size: cohort, rho: shareOf(rho, share) }
    : { cohort: name, size: Math.floor(cohort * share), rho: shareOf(rho, 1) });
  return { covariance: stage('covariance', covarianceShare), mean: stage('mean', 1 - covarianceShare) };
}

function cohortsOf({ isShared }: GaussianChoice): readonly CohortPlan[] {
  const pooled = (name: string, share: number): CohortPlan => ({ name, share, unit: 'row', mode: 'pooled', groups: 1 });
  return isShared ? [pooled('rows', 1)] : [pooled('covariance', covarianceShare), pooled('mean', 1 - covarianceShare)];
}

function meanDesign({ dimension, target: { delta } }: StudyFacts, from: StageShare): MeanDesign | null {
  const { cohort, size, rho } = from;
  const [bins, median] = centreEvents({ cohort, dimension, rho: shareOf(rho, centreShare), delta });
  const wanted = keepingCount(bins) + bins.sigma * normalUpperQuantile(centreMissing / dimension);
  if (size * fullestBin < wanted) return null;
  const clipped = clippedMeanEvents({
    cohort, dimension, radius: whitenedScale * (1.1 * Math.sqrt(dimension) + 2.5), rho: shareOf(rho, 1 - centreShare),
  });
  const error = {
    sampling: Math.sqrt(dimension / size), noise: (clipped.sum.sigma * Math.sqrt(dimension)) / size, bias: 0,
  };
  return { from, bins, median, clipped, error };
}
