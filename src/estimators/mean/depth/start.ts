import { Released, type Sensitive } from '../../../base/brands.js';
import { normalQuantile, normalUpperQuantile } from '../../../numerics/normal.js';
import { exponentialEvent } from '../../../privacy/accounting/calibration.js';
import { centreEvents, privateCentre, type Centre } from '../../../privacy/stages/centre.js';
import { pureForRho } from '../../../privacy/accounting/conversion.js';
import type { ExponentialEvent, MechanismEvent } from '../../../privacy/accounting/events.js';
import { keepingCount } from '../../../privacy/mechanisms/bounds.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { PrivacyTarget } from '../../contract/estimator.js';
import { cellOf, middleOf, rankScores, rankUnit, type Cells } from '../../counts/tables/rank-scores.js';

/** What finding a first place may cost, and what it should withstand. */
export interface StartAsked {
  readonly cohort: string;
  readonly contributors: number;
  readonly dimension: number;
  readonly target: PrivacyTarget;
  /** Part of the target's rho, or of its epsilon when it is pure. */
  readonly share: number;
  /** Event deltas that may be used. */
  readonly delta: number;
  readonly corruption: number;
  /** Public bound on the middle's absolute value in every column, in scales; absent: it may be anywhere. */
  readonly radius?: Float64Array;
}

/** A first place for rows whose columns have scale 1, near enough to put a grid of candidates around it. */
export interface Start {
  readonly events: readonly MechanismEvent[];
  /** A bound on its distance from the middle of honest rows, per column, 99 times in 100, in scales. */
  readonly error: number;
  /** Below it the place is not found, or is anywhere. */
  readonly cohortNeeded: number;
  draw(mechanisms: Mechanisms, rows: Sensitive<RowBlock>): Released<Centre>;
}

/** Share of honest rows that the fullest bin, four scales wide, holds in the worst position of the bins. */
const fullestBin = 0.38;
/** Width of a cell of a median, in scales, and how many cells a public range has at most. */
const centreCell = 0.05;
const rangeCellsMaximum = 10_000;
/** How often a bound may fail. */
const failure = 0.01;
/** Ranks may be off by this share at most. */
const rankShareMaximum = 0.2;

/**
 * Without a radius: P10 (privacy/centre), at (share of rho, delta). With one: the private median of every column over
 * public cells of the range (everyday/rank-scores), by the exponential mechanism with sensitivity 1 for one contributor
 * replaced by anything, or gone, or new; share of rho, or pure share of epsilon, no delta.
 */
export function startOf(asked: StartAsked): Start {
  return asked.radius === undefined ? foundStart(asked) : rangeStart(asked, asked.radius);
}

function foundStart(asked: StartAsked): Start {
  const { cohort, dimension, target, share, delta, corruption } = asked;
  const events = centreEvents({ cohort, dimension, rho: shareOf(target.rho, share), delta });
  const [bins, median] = events;
  const wanted = keepingCount(bins) + bins.sigma * normalUpperQuantile(failure / dimension);
  return {
    events,
    error: errorOf(asked, median, centreCell),
    cohortNeeded: Math.max(cohortForRanks(median), Math.ceil(wanted / (fullestBin * (1 - corruption)))),
    draw: (mechanisms, rows) => privateCentre(mechanisms, rows, dimension, 1),
  };
}

function rangeStart(asked: StartAsked, radius: Float64Array): Start {
  const { cohort, dimension, target, share } = asked;
  const widest = radius.reduce((left, right) => Math.max(left, right));
  const count = Math.min(rangeCellsMaximum, Math.max(2, Math.ceil((2 * widest) / centreCell)));
  const cells = Array.from(radius, (bound): Cells => ({ low: -bound, high: bound, cells: count }));
  const event = exponentialEvent({
    name: 'start', cohort, candidates: count, sensitivity: rankUnit, times: dimension,
    ...(target.isPure === true
      ? { epsilon: (pureForRho(target.rho) * share) / dimension } : { rho: shareOf(target.rho, share) }),
  });
  return {
    events: [event],
    error: errorOf(asked, event, (2 * widest) / count),
    cohortNeeded: cohortForRanks(event),
    draw(mechanisms, rows) {
      const chosen = cells.map((range, j) => mechanisms
        .exponential('start', rows.map((block) => rankScores(countsOf(block, j, range), 0.5)))
        .map((cell) => middleOf(cell, range)));
      return Released.all<readonly number[]>(chosen)
        .map((places) => ({ kind: 'centre', centre: Float64Array.from(places) }));
    },
  };
}

/** Rows per cell of one column; rows with an entry that is not finite are in none. */
function countsOf({ count, dimension, values }: RowBlock, column: number, cells: Cells): Float64Array {
  const counts = new Float64Array(cells.cells);
  for (let i = 0; i < count; i++) {
    if (!values.subarray(i * dimension, (i + 1) * dimension).every(Number.isFinite)) continue;
    counts[cellOf(values[i * dimension + column]!, cells)]! += 1;
  }
  return counts;
}

/** How many ranks the choices are off by at most, 99 times in 100. */
function ranksOff({ epsilon, candidates, times }: ExponentialEvent): number {
  return (2 / epsilon) * (Math.log(candidates) + Math.log(times / failure));
}

function cohortForRanks(event: ExponentialEvent): number {
  return Math.ceil(ranksOff(event) / rankShareMaximum);
}

/** Ranks off by noise, by hostile rows on one side and by sampling, as a place among normal rows; and half a cell. */
function errorOf({ contributors, corruption }: StartAsked, event: ExponentialEvent, cell: number): number {
  const share = ranksOff(event) / contributors + corruption / (2 * (1 - corruption)) + 1.3 / Math.sqrt(contributors);
  return normalQuantile(Math.min(0.98, 0.5 + share)) + cell / 2;
}
