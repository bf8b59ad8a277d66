import { keyHistogramEvent } from '../../src/privacy/accounting/calibration.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import type { RowBlock } from '../../src/privacy/stages/rows.js';
import { numberedKeys } from '../support/found-keys.js';
import type { PlantedBug } from './bugs.js';
import { smallPlan } from './build.js';

/** Keys that rows can have. Each of the two columns of a row gives one of 32. */
const size = 64;

function countsOf({ count, dimension, values }: RowBlock): Float64Array {
  const counts = new Float64Array(size);
  for (let i = 0; i < count * dimension; i++) {
    const place = 2 * Math.floor(Math.abs(values[i]!)) + (i % dimension);
    counts[Number.isFinite(place) ? place % size : i % dimension]! += 1;
  }
  return counts;
}

/** Two keys of one contributor are shown with nearly twice the probability of one. */
const oneKeyThreshold: PlantedBug = {
  name: 'threshold of one discovered key for two',
  epsilon: 1,
  delta: 0.05,
  dimension: 2,
  // Alone: what other keys show would hide what these do.
  cohort: 1,
  trials: 60_000,
  inSensitivity: false,
  make(facts, planted) {
    const event = keyHistogramEvent({
      name: 'keys', cohort: 'rows', keysMax: 2, prefilter: 1, rho: 0.01,
      delta: facts.target.deltaTotal,
    });
    const plan = smallPlan({
      facts,
      length: 1,
      events: [event],
      release: (rows, mechanisms) => {
        const counts = rows('rows').map(countsOf);
        const keys = counts.map(() => numberedKeys(size));
        return mechanisms.keyHistogram('keys', counts, keys).map((kept) => [kept.length]);
      },
    });
    return {
      plan,
      dimension: 2,
      // The noise is what was charged. Only the threshold is that of one key.
      mechanisms: (events, noise) => createMechanisms(
        planted ? events.map((one) => ({ ...one, keysMax: 1 })) : events, noise,
      ),
    };
  },
};

export const keysBugs: readonly PlantedBug[] = [oneKeyThreshold];
