import { ln } from '../../../base/elementary.js';
import { Released } from '../../../base/brands.js';
import { normalQuantile } from '../../../numerics/normal.js';
import { exponentialEvent } from '../../../privacy/accounting/calibration.js';
import type { ExponentialEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import type { PrivacyTarget } from '../../contract/estimator.js';
import {
  cellOf, midpointOf, rankScores, rankUnit, type Cells,
} from '../../counts/tables/rank-scores.js';
import { centreStage, type CentreStage } from '../../pooled/centre.js';
import { rowsCohort } from '../../pooled/pool.js';

/** The budget of finding a first point, and the corruption that it should withstand. */
export interface StartOptions {
  readonly contributors: number;
  readonly dimension: number;
  readonly target: PrivacyTarget;
  /** Part of the target's rho, or of its epsilon when it is pure. */
  readonly share: number;
  /** Event deltas that may be used. */
  readonly delta: number;
  readonly corruption: number;
  /** Public bound on the median's absolute value in every column, in spreads; absent: anywhere. */
  readonly radius?: Float64Array;
}

/** A first point, for rows whose columns have spread 1. */
export interface Start extends CentreStage {
  /** A bound on its distance from the median of honest rows, per column, 99 times in 100. */
  readonly error: number;
  /**
   * A centre farther out than this, in a column, is in the outermost cell of the public range, so
   * that the median may be beyond it; null: it may be anywhere.
   */
  readonly outermost: Float64Array | null;
}

/** Width of a cell of a median, in spreads. */
const centreCell = 0.05;
/** Cells that a public range has at most. */
const rangeCellsMaximum = 10_000;
/** How often a bound may fail. */
const failure = 0.01;
/** Ranks may be off by this share at most. */
const rankShareMaximum = 0.2;

/**
 * Without a radius: the centre of privacy/stages/centre, at (share of rho, delta). With one: the
 * private median of every column over public cells of the range (counts/tables/rank-scores), by the
 * exponential mechanism with sensitivity 1 for one contributor replaced by anything, or gone, or
 * new; share of rho, or pure share of epsilon, no delta.
 */
export function startOf(options: StartOptions): Start {
  return options.radius === undefined
    ? centreStart(options) : rangeStart(options, options.radius);
}

function centreStart(options: StartOptions): Start {
  const { dimension, target, share, delta, corruption } = options;
  const stage = centreStage({ dimension, rho: shareOf(target.rho, share), delta, corruption });
  const { median } = stage;
  return {
    ...stage,
    error: errorOf(options, median, centreCell),
    outermost: null,
    cohortNeeded: Math.max(cohortForRanks(median), stage.cohortNeeded),
  };
}

function rangeStart(options: StartOptions, radius: Float64Array): Start {
  const { dimension, target, share } = options;
  const widest = radius.reduce((left, right) => Math.max(left, right));
  const wanted = Math.max(2, Math.ceil((2 * widest) / centreCell));
  const count = Math.min(rangeCellsMaximum, wanted);
  const cells = Array.from(radius, (bound): Cells => ({ low: -bound, high: bound, cells: count }));
  const event = exponentialEvent({
    name: 'start', cohort: rowsCohort, candidates: count, sensitivity: rankUnit, times: dimension,
    ...(target.isPure === true
      ? { epsilon: shareOf(target.epsilon, share) / dimension }
      : { rho: shareOf(target.rho, share) }),
  });
  return {
    events: [event],
    error: errorOf(options, event, (2 * widest) / count),
    // Middles of cells are (1 - 1 / count), (1 - 3 / count), ... of the bound.
    outermost: radius.map((bound) => bound * (1 - 2 / count)),
    cohortNeeded: cohortForRanks(event),
    find: async ({ mechanisms }, rows) => {
      const chosen = cells.map((range, j) => mechanisms
        .exponential('start', rows.map((block) => rankScores(countsOf(block, j, range), 0.5)))
        .map((cell) => midpointOf(cell, range)));
      return Released.all<readonly number[]>(chosen)
        .map((places) => ({ kind: 'centre', centre: Float64Array.from(places) }));
    },
  };
}

/** Rows per cell of one column; rows with an entry that is not finite are in none. */
function countsOf(
  { count, dimension, values }: RowBlock, column: number, cells: Cells,
): Float64Array {
  const counts = new Float64Array(cells.cells);
  for (let i = 0; i < count; i++) {
    if (!values.subarray(i * dimension, (i + 1) * dimension).every(Number.isFinite)) continue;
    counts[cellOf(values[i * dimension + column]!, cells)]! += 1;
  }
  return counts;
}

/** How many ranks the choices are off by at most, 99 times in 100. */
function ranksOff({ epsilon, candidates, times }: ExponentialEvent): number {
  return (2 / epsilon) * (ln(candidates) + ln(times / failure));
}

function cohortForRanks(event: ExponentialEvent): number {
  return Math.ceil(ranksOff(event) / rankShareMaximum);
}

/** Ranks off by noise, hostile rows on one side and sampling, as a place; and half a cell. */
function errorOf(
  { contributors, corruption }: StartOptions, event: ExponentialEvent, cell: number,
): number {
  const share = ranksOff(event) / contributors + corruption / (2 * (1 - corruption))
    + 1.3 / Math.sqrt(contributors);
  return normalQuantile(Math.min(0.98, 0.5 + share)) + cell / 2;
}
