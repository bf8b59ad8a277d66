import {
  groupMapEvents, privateGroupMap,
} from '../../src/estimators/covariance/subsample-covariance/group-map.js';
import type { PlantedBug } from './bugs.js';
import { smallPlan } from './build.js';

/**
 * Groups brought to one size by the largest of all of them, before the histograms of a map. One
 * group then moves all others from bin to bin.
 */
export const trueSpreadOfGroups: PlantedBug = {
  name: 'groups scaled by the true largest of them',
  epsilon: 4,
  delta: 0.05,
  dimension: 1,
  cohort: 40,
  trials: 10_000,
  inSensitivity: true,
  make(facts, planted) {
    const { dimension, target: { rho, delta } } = facts;
    const events = groupMapEvents({ cohort: 'rows', dimension, rho, delta });
    const design = { ...events, pivotWidth: 1, coefficientWidth: 1 };
    const plan = smallPlan({
      facts,
      length: 1,
      events: [events.pivots],
      release: (rows, mechanisms) => {
        const groups = rows('rows').map(({ count, values }) => {
          // Each row is a group of one column. Rows at 0 count as at 1.
          const sizes = Array.from(values.subarray(0, count), (entry) => Math.abs(entry) || 1);
          const largest = planted ? Math.max(1, ...sizes) : 1;
          return sizes.map((size) => ({ factor: Float64Array.of(size / largest) }));
        });
        return privateGroupMap(mechanisms, groups, design)
          .map((map) => [map === null ? 0 : map.inverse[0]!]);
      },
    });
    return { plan, dimension };
  },
};
