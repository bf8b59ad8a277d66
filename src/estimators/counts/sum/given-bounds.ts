import type { Plan, StudyFacts } from '../../contract/estimator.js';
import { countOutside, outsideShare, sides } from '../../contract/outside.js';
import { makePlan } from '../../contract/planning.js';
import { wholeArm } from '../tables/counts.js';
import { corruptionMax } from '../tables/noisy-counts.js';
import {
  keyPlacesOf, mostMoved, placeOf, rootAbove, type KeyPlaces,
} from '../tables/key-places.js';
import { wholeSumsOf, wholeSumsSummary, type AddWhole } from '../tables/whole-sums.js';
import { farthestOf, reachOf, stepsOf, stepsPerUnit, type Bounds } from './bounds.js';
import {
  errorOfTotals, releaseTotals, sizeOfColumns, totalsNoise, type TotalsNoise,
  type TotalsSize,
} from './totals.js';

/**
 * Totals of values that are clipped to public bounds, one pair for each column.
 *
 * Claim. Neighbours: one row replaced by any other row, or by nothing, or added. Cost: rho zCDP, no
 * delta; or pure epsilon, where the budget asks for it.
 * Why: a row adds a whole number of steps to each total, and whole numbers add up exactly
 * (whole-sums). What two rows add, or a row and nothing, is at most 2^20 steps apart in each column
 * (bounds). That is 1 unit, so d totals are L2 sqrt(d) and L1 d apart, on the grid of 2^-20. They
 * are drawn once, by the discrete Gaussian or Laplace, for 95 % of the cost. The numbers of values
 * below and above the bounds are those of tables/outside-noise, for 5 %. Costs add up. Units are
 * public, and the rest is post-processing.
 *
 * Split by m public keys: d totals for each key. A contributor has a row for each of at most K.
 * Claim. The same neighbours and cost. Let w_c be the most units by which a value of column c is
 * away from 0: between 1/2 and 1. One contributor moves all totals by `mostMoved` with both = d,
 * one = sum of w_c^2 in L2 squared, and with one = sum of w_c in L1. For 0..cap that is 2 K d.
 * Why: under a key that it has before and after, each of the d values moves by at most 1 unit.
 * Under a key that it has on one side only, each moves by at most w_c, from or to 0. The numbers of
 * values below and above are of the rows of all keys, of which a contributor has 0 to min(K, m).
 * A value is clipped after the rows of a contributor under a key have become one row: what is
 * bounded is the contributor, not the record.
 *
 * Hostile: L contributors move one key's total by at most L units, all totals of a column together
 * by at most 2 K L units.
 */
export function planGivenBounds(bounds: readonly Bounds[], facts: StudyFacts): Plan {
  const { dimension } = facts;
  const places = keyPlacesOf(facts);
  const size = sizeOf(bounds, facts);
  const noise = noiseOfTotals(bounds, facts);
  const units = bounds.map(({ unit }) => unit);
  const totals = size.keys * size.columns;
  const shape = facts.keys === undefined ? [dimension] : [size.keys, size.columns];
  return makePlan({
    arms: [wholeArm],
    events: [noise.totals.event, noise.outside.numbers.event],
    guarantee: {
      theorem: 'a sum of bounded whole numbers with discrete noise; '
        + 'proof in src/estimators/counts/sum/given-bounds',
      assumptions: ['for the total of unclipped values: all values are within the bounds'],
      corruptionMax,
    },
    outputShape: shape,
    reach: bounds.map(reachOf),
    noise: noise.totals.stated.map((sigma, i) => sigma * units[i % units.length]!),
    facts: {
      errorsAreIn: 'shares of the total of a cohort in which everybody is at the bound',
      noiseInBounds: noise.totals.standardDeviation,
      clippedReportedFrom: noise.outside.reportedFrom,
      ...(facts.keys !== undefined && { keys: places.count, groupsMax: places.groupsMax }),
    },
    expectedError: errorOfTotals(noise, size, facts),
    summary: () =>
      wholeSumsSummary(dimension, totals + sides * size.columns, adder(bounds, places)),
    release: async (summaries, mechanisms) => releaseTotals(
      noise,
      units,
      wholeSumsOf(summaries).map((all) => ({
        sums: all.subarray(0, totals), outside: all.subarray(totals),
      })),
      mechanisms,
      facts,
      shape,
    ),
  });
}

/** The noise that the totals of `planGivenBounds` get. */
export function noiseOfTotals(bounds: readonly Bounds[], facts: StudyFacts): TotalsNoise {
  return totalsNoise(sizeOf(bounds, facts), facts.target, 1 - outsideShare);
}

function sizeOf(bounds: readonly Bounds[], facts: StudyFacts): TotalsSize {
  return facts.keys === undefined
    ? sizeOfColumns(bounds.length) : sizeByKey(bounds, keyPlacesOf(facts));
}

function sizeByKey(bounds: readonly Bounds[], places: KeyPlaces): TotalsSize {
  const columns = bounds.length;
  const farthest = bounds.map(farthestOf);
  const added = (norm: (units: number) => number): number =>
    farthest.reduce((sum, units) => sum + norm(units), 0);
  return {
    columns,
    keys: places.count,
    l1: mostMoved(places, { both: columns, one: added((units) => units) }),
    l2: rootAbove(mostMoved(places, { both: columns, one: added(squareAbove) })),
    rows: Math.min(places.groupsMax, places.count),
  };
}

/** Rounded up to a whole multiple of 2^-20, so that squares add up exactly. */
function squareAbove(units: number): number {
  return Math.ceil(units * units * stepsPerUnit) / stepsPerUnit;
}

/** Totals in front, by key and column, then how many values are outside, as `countOutside` does. */
function adder(bounds: readonly Bounds[], places: KeyPlaces): AddWhole {
  const columns = bounds.length;
  const outsideFrom = places.count * columns;
  return (row, sums) => {
    const place = placeOf(row, places);
    if (place === null) return;
    for (let j = 0; j < columns; j++) {
      const own = bounds[j]!;
      const value = row[places.columnsFrom + j]!;
      sums[place * columns + j]! += stepsOf(value, own);
      countOutside(value, own.low, own.high, sums, outsideFrom + sides * j);
    }
  };
}
