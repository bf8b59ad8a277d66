import { Released } from '../../src/base/brands.js';
import { countColumnCells } from '../../src/numerics/kernels/column-counts.js';
import type { Mechanisms } from '../../src/privacy/mechanisms/contract.js';
import {
  fullestCells, placesOf, publicCounts, rangeCells,
} from '../../src/privacy/stages/range-centre.js';
import type { PlantedBug } from './bugs.js';
import { smallPlan, tightGaussian } from './build.js';

/**
 * The fullest public cell is drawn a second time, as one would who does not like the first, and
 * charged once.
 */
export const twiceDrawnCells: PlantedBug = {
  name: 'fullest cell drawn twice at one charge',
  epsilon: 1,
  delta: 0.05,
  dimension: 1,
  cohort: 4,
  trials: 240_000,
  inSensitivity: false,
  make(facts, planted) {
    const unit = Float64Array.of(1);
    const cells = rangeCells({ low: Float64Array.of(-4), high: Float64Array.of(4) }, unit);
    const places = placesOf(cells, unit);
    let again: Mechanisms;
    const plan = smallPlan({
      facts,
      length: 4,
      events: [tightGaussian('cells', cells.cells, Math.SQRT2, facts.target)],
      release(rows, mechanisms) {
        const counts = rows('rows').map(({ values, dimension, count }) =>
          publicCounts(countColumnCells(values, dimension, count, places), cells));
        const first = mechanisms.gaussian('cells', counts);
        const second = planted ? again.gaussian('cells', counts) : first;
        return Released.all<readonly Float64Array[]>([first, second]).map((both) =>
          both.flatMap((drawn) => {
            const [cell] = fullestCells(drawn, cells.cells);
            return [cell!, drawn[cell!]!];
          }));
      },
    });
    return {
      plan,
      dimension: facts.dimension,
      mechanisms(events, noise, create) {
        again = create(events, noise);
        return create(events, noise);
      },
    };
  },
};
