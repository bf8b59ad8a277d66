import {
  exponentialEvent, gaussianEvent, gaussianHistogramEvent,
} from '../../../privacy/accounting/calibration.js';
import type {
  ExponentialEvent, GaussianEvent, GaussianHistogramEvent, MechanismEvent,
} from '../../../privacy/accounting/events.js';
import { pow } from '../../../base/elementary.js';
import { keepingCount } from '../../../privacy/mechanisms/bounds.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { Infeasible, Plan, StudyFacts } from '../../contract/estimator.js';
import { errorUpTo, infeasible } from '../../contract/planning.js';
import type { ContestRules } from '../candidates/contests.js';
import { gapsEvent, usedFrom } from '../candidates/gaps.js';
import { sizes } from './boxes.js';
import { roundBounds, type RoundShape } from './rounds.js';

/** Shares of the contributors, per question. */
export const shares = { gaps: 0.25, boxes: 0.25, steps: 0.35, choice: 0.15 };
/** Fits of boxes that are improved by steps on rows, for different numbers of components. */
const climbsMaximum = 2;
/** Steps of each climb. */
export const stepsPerClimb = 6;
/** The last steps of a climb, whose average is a candidate. */
export const averaged = 3;
export const candidates = 16;
/** A component's gaps fall into about this many buckets of a column. */
const bucketsOfComponent = 12;
/**
 * Share of a normal column in the fullest cell, at least, for cells two to four standard deviations
 * wide.
 */
const fullestCell = 0.48;
/**
 * The ball's radius exceeds the root of the number of columns by this many standard deviations. One
 * row in a thousand is beyond.
 */
const radiusBeyond = 2.2;

export interface MixtureChoice {
  readonly components: number;
  /** Step to which each column is rounded; null for none. */
  readonly resolution: Float64Array | null;
  readonly alpha: number;
}

export interface MixtureDesign {
  readonly facts: StudyFacts;
  readonly choice: MixtureChoice;
  readonly round: RoundShape;
  readonly rules: ContestRules;
  readonly gaps: GaussianHistogramEvent;
  readonly boxes: GaussianHistogramEvent;
  /** The events of each climb, in order. */
  readonly steps: readonly (readonly GaussianEvent[])[];
  readonly pick: ExponentialEvent;
}

/** The events of a plan, from public numbers. @param facts - with a positive rho and delta. */
export function mixtureDesign(facts: StudyFacts, choice: MixtureChoice): MixtureDesign {
  const { dimension, cohort, target: { rho, delta } } = facts;
  const round: RoundShape = {
    dimension, components: choice.components, radius: Math.sqrt(dimension) + radiusBeyond,
  };
  const { numbers, grid, sensitivity } = roundBounds(round);
  const climbs = Math.min(climbsMaximum, choice.components);
  const each = shareOf(rho, 1 / (climbs * stepsPerClimb));
  const steps =
    Array.from({ length: climbs }, (_, climb) => Array.from({ length: stepsPerClimb }, (_, step) =>
      gaussianEvent({
        name: `climb ${climb + 1} step ${step + 1}`, cohort: 'steps', dimension: numbers,
        sensitivity, grid, rho: each,
      })));
  return {
    facts,
    choice,
    round,
    rules: { alpha: choice.alpha, zeta: 1, cap: cohort },
    gaps: gapsEvent({ cohort: 'gaps', columns: dimension, rho, delta }),
    boxes: gaussianHistogramEvent({
      name: 'boxes', cohort: 'boxes', coordinates: sizes, rho, delta,
    }),
    steps,
    pick: exponentialEvent({ name: 'choice', cohort: 'choice', candidates, sensitivity: 1, rho }),
  };
}

export function eventsOf({ gaps, boxes, steps, pick }: MixtureDesign): readonly MechanismEvent[] {
  return [gaps, boxes, ...steps.flat(), pick];
}

/** The least share of the rows that a component is planned to have. */
export const leastWeight = (components: number): number =>
  (components === 1 ? 1 : Math.min(0.2, 1 / components));

/** Null when the cohort is large enough for every question; else names the question. */
export function tooSmall(design: MixtureDesign): Infeasible | null {
  const { facts, gaps, boxes, steps, round, choice } = design;
  const weight = leastWeight(choice.components);
  const sigma = steps[0]![0]!.sigma;
  const needs: readonly (readonly [what: string, rows: number])[] = [
    [
      'for its gaps to be seen in every column',
      (bucketsOfComponent * (usedFrom(gaps) + 2.33 * gaps.sigma)) / shares.gaps,
    ],
    ['for a box of its rows to be seen', (keepingCount(boxes) + 2.33 * boxes.sigma)
      / pow(fullestCell, facts.dimension) / shares.boxes],
    // Noise of the eigenvalues of a component's covariance is then below a half.
    [
      'for its covariance to stand out of the noise',
      (2 * Math.sqrt(2 * round.dimension) * sigma) / shares.steps,
    ],
  ];
  const [what, rows] = needs.reduce((most, one) => (one[1] > most[1] ? one : most));
  const needed = Math.ceil(rows / weight);
  if (facts.cohort >= needed) return null;
  return infeasible(
    `with ${facts.cohort} contributors and ${facts.dimension} columns a component of weight `
    + `${weight.toPrecision(2)} has too few rows ${what}`,
    `a cohort of ${needed}, fewer components, fewer columns or a larger epsilon`,
    needed,
  );
}

/**
 * Total variation from the best mixture near which a climb ends, for components of equal weight
 * that hardly overlap: half of the root of |m|^2 + |F|^2 / 2 for each, where m and F are the errors
 * of mean and covariance in coordinates in which the component is standard normal.
 */
export function errorOf(
  { facts, round, choice, steps }: MixtureDesign,
): Plan['expectedError'] {
  const { dimension: d, radius } = round;
  const rows = (facts.cohort * shares.steps) / choice.components;
  const sigma = steps[0]![0]!.sigma / rows;
  const pairs = (d * (d + 1)) / 2;
  const weights = (sigma * Math.sqrt(choice.components)) / radius ** 2;
  const moments = Math.hypot((sigma / radius) * Math.sqrt(d), sigma * Math.sqrt(pairs / 2)) / 2;
  const noise = Math.hypot(weights, moments) / Math.sqrt(averaged);
  const sampling = Math.sqrt((d + pairs) / rows) / 2;
  return errorUpTo(0, { sampling, noise });
}
