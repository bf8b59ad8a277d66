import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import type { GaussianEvent } from '../../../privacy/accounting/events.js';
import { clippedRows, momentsOf, type ClippedRows } from '../../pooled/clipped-rows.js';
import type { CentredPool } from '../../pooled/estimator.js';
import {
  leastThresholdAlongAxes, leastThresholdInDistance,
} from '../../pooled/projected-histogram.js';
import {
  histogramAlong, projectionsOn, removeOutside, type EntryOf,
} from '../../pooled/thresholds.js';
import { releaseMoments } from '../filters/rounds.js';
import { noiseOfSquare } from './any-design.js';
import { mapEventsOf } from './design.js';
import { answerOfLeft, filterRounds, type ProjectedRows, type RowsLeft } from './filter-rounds.js';
import { distancesOf } from './fits.js';
import { isNarrow, releaseMapped, type RobustRun } from './normal-mapped.js';
import { drawReallocated } from './reallocation.js';

/**
 * Draws every event after the spread and the centre. Claim and proof: robust-mean and design. Rows
 * are taken in the median spread, which is right for a normal shape.
 */
export async function releaseRobust(
  run: RobustRun, found: CentredPool,
): Promise<Released<Outcome>> {
  const { design, mechanisms, compute } = run;
  const { facts, ball, rowsMax, rounds: [look], mapping } = design;
  const { pool, centre, columns } = found;
  const clipped = await pool.mapAsync(async (whole) => ({
    whole,
    left: await clippedRows(compute, whole, centre, columns.medianSpread, ball, rowsMax),
  }));
  const rows = clipped.map(({ left }) => left);
  const left = rowsLeft(run, rows);
  const first = look === undefined ? null : await left.look(look);
  if (first !== null && mapping !== null
    && isNarrow(first.moments, noiseOfSquare(look!.square, facts.cohort), columns)) {
    // The clipped rows are not used again: the map writes over them.
    const held = clipped.map(({ whole, left: { steps, alive } }) =>
      ({ whole, entries: steps, present: alive }));
    return releaseMapped(run, found, held, first.moments);
  }
  const { detected, unused, known } = await filterRounds(design, left, first);
  const moments = await rows.mapAsync((all) => momentsOf(compute, all));
  const sums = moments.map((all) => all.sums);
  const drawn = [design.sum, ...unused, ...mapEventsOf(mapping)].flatMap((event) =>
    drawReallocated(event, mechanisms, sums, ball, facts.dimension) ?? []);
  const count = mechanisms.gaussian(
    design.count.name, moments.map((all) => Float64Array.of(all.count)),
  );
  return count.map(([present = 0]): Outcome =>
    answerOfLeft(design, found, { first, detected, known, drawn, present }));
}

/** Rows that one process holds. */
function rowsLeft(run: RobustRun, rows: Sensitive<ClippedRows>): RowsLeft {
  const { mechanisms, design: { facts: { cohort }, ball } } = run;
  const projected = (
    event: GaussianEvent, entries: EntryOf, leastThreshold: number,
  ): ProjectedRows => ({
    fit: histogramAlong(mechanisms, event, rows, entries, leastThreshold),
    removeOutside: (low, high) => removeOutside(rows, entries, low, high),
  });
  return {
    look: (round) => releaseMoments(run, round, rows, ball, cohort / 2),
    byDistance: async (event, mean) =>
      projected(event, distancesOf(mean, ball.grid), leastThresholdInDistance),
    along: async (event, axis) =>
      ({ axis, ...projected(event, projectionsOn(axis, ball.grid), leastThresholdAlongAxes) }),
  };
}
