import { Released, type Sensitive } from '../../base/brands.js';
import type { MechanismEvent } from '../../privacy/accounting/events.js';
import type { Mechanisms } from '../../privacy/mechanisms/contract.js';
import { centreEvents, privateCentreOn, type Centre } from '../../privacy/stages/centre.js';
import type { RowBlock } from '../../privacy/stages/rows.js';
import type { Compute } from '../contract/estimator.js';
import { countToBeSeen, fullestBinShare } from './fullest-bin.js';
import { rowsCohort } from './pool.js';

/** What a release draws with and computes on. */
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
  /** @param scale - public or released, the unit of each column. */
  readonly find: (
    draws: Draws, rows: Sensitive<RowBlock>, scale: Float64Array,
  ) => Promise<Released<Centre>>;
}

/** A centre that is public: nothing is drawn. */
export function knownCentre(centre: Float64Array): CentreStage {
  return {
    events: [],
    cohortNeeded: 1,
    find: () => Promise.resolve(Released.all([]).map((): Centre => ({ kind: 'centre', centre }))),
  };
}

/** What a centre may cost, and the hostile share that it must withstand. */
export interface CentreStageOptions {
  readonly dimension: number;
  readonly rho: number;
  readonly delta: number;
  readonly corruption: number;
}

/** The centre of privacy/stages/centre, which has its claim, for honest rows with light tails. */
export function centreStage(
  { dimension, rho, delta, corruption }: CentreStageOptions,
): CentreStage & { readonly events: ReturnType<typeof centreEvents> } {
  const events = centreEvents({ cohort: rowsCohort, dimension, rho, delta });
  const [bins] = events;
  const share = fullestBinShare.lightTails * (1 - corruption);
  return {
    events,
    cohortNeeded: Math.ceil(countToBeSeen(bins, dimension) / share),
    find: ({ mechanisms, compute }, rows, scale) =>
      privateCentreOn(compute, mechanisms, rows, dimension, scale),
  };
}
