import { Released, type Sensitive } from '../../base/brands.js';
import type { ExponentialEvent, MechanismEvent } from '../../privacy/accounting/events.js';
import type { Mechanisms } from '../../privacy/mechanisms/contract.js';
import { centreEvents, privateCentreOn, type Centre } from '../../privacy/stages/centre.js';
import {
  privateCentreInRange, rangeCells, rangeCentreEvents,
} from '../../privacy/stages/range-centre.js';
import type { RowBlock } from '../../privacy/stages/rows.js';
import type { Compute, StudyFacts } from '../contract/estimator.js';
import type { ColumnRange } from '../contract/values.js';
import { countToBeSeen, fullestBinShare, pairToBeSeen, twoBinsShare } from './fullest-bin.js';
import { rowsCohort } from './pool.js';

/** The tools of a release: it draws with `mechanisms`, and `compute` runs its passes. */
export interface Draws {
  readonly mechanisms: Mechanisms;
  readonly compute: Compute;
}

/** How a release finds where its rows are. */
export interface CentreStage {
  /** All that `find` draws. */
  readonly events: readonly MechanismEvent[];
  /** Contributors with whom the centre is found 99 times in 100. */
  readonly cohortNeeded: number;
  /** @param spread - public or released, the unit of each column. */
  readonly find: (
    draws: Draws, rows: Sensitive<RowBlock>, spread: Float64Array,
  ) => Promise<Released<Centre>>;
}

/** The parts that every design about a centre has. */
export interface QueryDesign {
  /** The study's, with what is left to spend after the spread. */
  readonly facts: StudyFacts;
  readonly centre: CentreStage;
  /** The most rows used, so that sums stay exact: those with the smallest tags. */
  readonly rowsMax: number;
  /** All that a release may draw after the spread, those of the centre included. */
  readonly events: readonly MechanismEvent[];
}

/** A centre that is public: nothing is drawn. */
export function knownCentre(centre: Float64Array): CentreStage {
  return {
    events: [],
    cohortNeeded: 1,
    find: () => Promise.resolve(Released.all([]).map((): Centre => ({ kind: 'centre', centre }))),
  };
}

/** Public bounds of the rows, and their public spread. */
export interface CentreBounds {
  readonly range: ColumnRange;
  readonly spread: Float64Array;
}

/** The budget of a centre, and the corruption that it must withstand. */
export interface CentreStageOptions {
  readonly dimension: number;
  readonly rho: number;
  /** Not spent where bounds are given. */
  readonly delta: number;
  readonly corruption: number;
  /** Null or absent: the centre may be anywhere. */
  readonly bounds?: CentreBounds | null;
}

/** A centre that is found privately. */
export interface PrivateCentreStage extends CentreStage {
  readonly median: ExponentialEvent;
}

/**
 * The centre of privacy/stages/centre, or inside bounds of privacy/stages/range-centre, which have
 * their claims; for honest rows with light tails.
 */
export function centreStage(options: CentreStageOptions): PrivateCentreStage {
  const { dimension, rho, delta, corruption, bounds = null } = options;
  if (bounds !== null) return boundedCentre(options, bounds);
  const [bins, median] = centreEvents({ cohort: rowsCohort, dimension, rho, delta });
  const share = fullestBinShare.lightTails * (1 - corruption);
  return {
    events: [bins, median],
    median,
    cohortNeeded: Math.ceil(countToBeSeen(bins, dimension) / share),
    find: ({ mechanisms, compute }, rows, spread) =>
      privateCentreOn(compute, mechanisms, rows, dimension, spread),
  };
}

function boundedCentre(
  { rho, corruption }: CentreStageOptions, { range, spread }: CentreBounds,
): PrivateCentreStage {
  const cells = rangeCells(range, spread);
  const drawn = rangeCentreEvents({ cohort: rowsCohort, rho, cells });
  const { counts, median } = drawn;
  return {
    events: counts === null ? [median] : [counts, median],
    median,
    cohortNeeded: counts === null ? 1
      : Math.ceil(pairToBeSeen(counts) / (twoBinsShare * (1 - corruption))),
    find: ({ mechanisms, compute }, rows, unit) =>
      privateCentreInRange(compute, mechanisms, rows, unit, cells, drawn),
  };
}
