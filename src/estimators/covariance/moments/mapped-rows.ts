import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import type { GaussianEvent, MechanismEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { StudyFacts } from '../../contract/estimator.js';
import { centreStage, type Draws, type QueryDesign } from '../../pooled/centre.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import type { CentredPool, TooFew } from '../../pooled/estimator.js';
import { rowsCohort, surplus } from '../../pooled/pool.js';
import { binsEvent } from '../../pooled/query-events.js';
import {
  preconditionerDesign, privatePreconditioner, type Preconditioner, type PreconditionerDesign,
} from './preconditioner.js';
import { standardisedRows, type StandardisedRows } from './standardised.js';

/**
 * The first step of moments of higher order: rows in spreads about the centre, counted, and a
 * private map after which they vary alike in every direction.
 *
 * Claim. The cost of the centre, of the count and of the map (preconditioner).
 * Neighbours. One contributor's row replaced by any other, or by none, or added.
 * Why. What a row is mapped to is a function of this row and of released numbers alone: centre,
 * spread and map. A row is within reach or beyond it, so both numbers of rows change by at most
 * sqrt 2 together (binsEvent).
 */
export interface MapDesign extends Omit<QueryDesign, 'events'> {
  /** Numbers of rows within reach, and beyond it. */
  readonly present: GaussianEvent;
  readonly preconditioner: PreconditionerDesign;
  /** Upper bound on the variance of honest rows in spreads, in any direction. */
  readonly varianceHigh: number;
  /** The events of all of these, in plan order. */
  readonly mapEvents: readonly MechanismEvent[];
}

export interface MapOptions {
  readonly facts: StudyFacts;
  /** Corruption that the centre must withstand. */
  readonly corruption: number;
  /** Largest over smallest variance of honest rows in spreads, over directions. */
  readonly condition: number;
  /** Parts of rho. */
  readonly shares: { readonly centre: number; readonly present: number; readonly map: number };
}

/** The rounds of the map must also suffice when a fifth of the rows is missing. */
const turnout = 0.8;
/**
 * Variance of honest rows in spreads squared, at most: spreads that were found may be half too
 * small.
 */
export const spreadSlack = 4;

/** Null when no number of rounds makes all directions alike. */
export function mapDesign({ facts, corruption, condition, shares }: MapOptions): MapDesign | null {
  const { dimension, cohort, target: { rho, delta } } = facts;
  const rowsMax = surplus * cohort;
  const preconditioner = preconditionerDesign({
    cohort: rowsCohort, dimension, range: Math.max(1, spreadSlack * dimension * condition),
    rho: shareOf(rho, shares.map), pairs: turnout * cohort, pairsMax: rowsMax,
  });
  if (preconditioner === null) return null;
  const centre = centreStage({
    dimension, rho: shareOf(rho, shares.centre), delta, corruption,
  });
  const present = binsEvent('present', 2, shareOf(rho, shares.present));
  return {
    facts, centre, rowsMax, present, preconditioner,
    // Twice as wide as the spreads say, and all columns the same.
    varianceHigh: spreadSlack * dimension,
    mapEvents: [...centre.events, present, ...preconditioner.events],
  };
}

/** The plan when noise hides the centre or the map. */
export const mapHidden: TooFew = {
  kind: 'too-few',
  hidden: 'where the rows are, or how wide they are in some direction',
  others: 'a smaller condition, fewer columns or a larger epsilon',
};

/** Rows, and their map: both are functions of released numbers and of each row alone. */
export interface MappedRows extends Preconditioner {
  readonly rows: Sensitive<StandardisedRows>;
  /** Released number of rows within reach. */
  readonly present: number;
  /** Released number of all rows. */
  readonly all: number;
}

/**
 * Draws the count and the map, and goes on from there; refuses when too few rows are within reach.
 * @param reach - in spreads: rows farther out in some column are left out.
 */
export async function releaseMapped(
  { facts, rowsMax, present: event, preconditioner, varianceHigh }: MapDesign, reach: number,
  { mechanisms, compute }: Draws, { pool, centre, spread }: CentredPool,
  goOn: (mapped: MappedRows) => Promise<Released<Outcome>>,
): Promise<Released<Outcome>> {
  const rows = pool.map((whole) => standardisedRows(whole, centre, spread, rowsMax, reach));
  const counted = mechanisms.gaussian(event.name, rows.map(({ count, present: within }) => {
    const near = within.reduce((sum, one) => sum + one, 0);
    return Float64Array.of(near, count - near);
  }));
  const [present, beyond] = counted.value as unknown as [number, number];
  if (present < Math.max(preconditioner.pairsNeeded, facts.cohort / 4)) {
    return counted.map(() => participationBelowPlan(facts));
  }
  const { matrix, inverse } = await privatePreconditioner(
    mechanisms, compute, rows, preconditioner, { varianceHigh, pairs: present },
  );
  return goOn({ rows, present, all: present + beyond, matrix, inverse });
}
