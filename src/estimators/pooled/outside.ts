import type { Released, Sensitive } from '../../base/brands.js';
import { normalUpperQuantile } from '../../numerics/normal.js';
import { countGrid, gaussianEvent } from '../../privacy/accounting/calibration.js';
import type { GaussianEvent } from '../../privacy/accounting/events.js';
import { shareOf } from '../../privacy/accounting/target.js';
import type { Mechanisms } from '../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../privacy/stages/rows.js';
import type { StudyFacts } from '../contract/estimator.js';
import { countOutside, outsideShare, reportedFromOf, sides } from '../contract/outside.js';
import type { ColumnRange } from '../contract/values.js';

/** Public bounds that rows are moved into, and the noise of how many people are beyond them. */
export interface OutsideDesign {
  readonly range: ColumnRange;
  readonly event: GaussianEvent;
  /** A number of people on one side of a column is reported when it is above this. */
  readonly reportedFrom: number;
}

/**
 * How many rows are below and above the public bounds of each of d columns: 2 d noisy numbers.
 *
 * Claim. `outsideShare` of rho zCDP, no delta.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Why. A row adds 1 to at most one of the two numbers of a column, by a function of this row and of
 * public bounds. One row replaced by another moves at most two numbers of each column by 1 each, so
 * all 2 d by sqrt(2 d) in L2: a row below the bounds of all columns in place of one above them. A
 * row that only comes or goes moves them by sqrt(d). Numbers are whole, and pass once through the
 * discrete Gaussian of the event.
 * Together with a sum S that moves by D this is one Gaussian draw of a joint vector. Its squared
 * distance in units of the noise is D^2 / sigma_S^2 + 2 d / sigma^2 at most, which is what the two
 * events charge. The bound of the joint vector is not smaller: the row that goes from below all
 * bounds to above them moves both parts as far as they go.
 */
export function outsideDesign(
  { dimension, target }: StudyFacts, range: ColumnRange, cohort: string,
): OutsideDesign {
  const rho = shareOf(target.rho, outsideShare);
  const event = gaussianEvent({
    name: 'outside', cohort, dimension: sides * dimension, rho,
    sensitivity: Math.sqrt(2 * dimension) * (1 + 2 ** -50),
    grid: countGrid(Math.sqrt(dimension / rho)),
  });
  return {
    range, event,
    reportedFrom: reportedFromOf(event.dimension, {
      upperQuantile: (probability) => event.sigma * normalUpperQuantile(probability),
    }),
  };
}

/** The facts of a study without the part of rho that these numbers take. */
export function withoutOutside(facts: StudyFacts): StudyFacts {
  const { target } = facts;
  return { ...facts, target: { ...target, rho: shareOf(target.rho, 1 - outsideShare) } };
}

/** Draws the numbers, as `countOutside` adds them. O(rows * columns). @param rows - data units. */
export function releaseOutside(
  mechanisms: Mechanisms, rows: Sensitive<RowBlock>, { event, range }: OutsideDesign,
): Released<Float64Array> {
  return mechanisms.gaussian(event.name, rows.map((block) => outsideOf(block, range)));
}

function outsideOf(
  { count, dimension, values }: RowBlock, { low, high }: ColumnRange,
): Float64Array {
  const numbers = new Float64Array(sides * dimension);
  for (let i = 0; i < count * dimension; i++) {
    const j = i % dimension;
    countOutside(values[i]!, low[j]!, high[j]!, numbers, sides * j);
  }
  return numbers;
}
