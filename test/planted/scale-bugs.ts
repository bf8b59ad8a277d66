import { countPairBins, doublings, zeroBin } from '../../src/numerics/kernels/column-counts.js';
import { atomEvents, privateAtoms } from '../../src/privacy/stages/atoms.js';
import type { RowsToPair } from '../../src/privacy/stages/scale.js';
import { pairsOf } from '../../src/privacy/stages/scale-pairs.js';
import type { RowBlock } from '../../src/privacy/stages/rows.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { smallPlan, tightGaussian } from './build.js';
import type { PlantedBug } from './bugs.js';

/** Mistakes that the private scale could hold. */

const slots = 2;

/** A pair of equal rows leaves its bin with two counts, and enters another with one. */
export const zeroBinTwice: PlantedBug = {
  name: 'pairs of equal rows counted twice',
  epsilon: 1, delta: 0.05, dimension: 1, cohort: 4, trials: 60_000, inSensitivity: true,
  make(facts, planted) {
    const plan = smallPlan({
      facts,
      length: 2,
      events: [tightGaussian('pairs', doublings, Math.SQRT2, facts.target)],
      release: (rows, mechanisms) => mechanisms.gaussian('pairs', rows('rows').map((block) => {
        const [bins] = countPairBins(block.values, 1, pairsOf(tagged(block), slots));
        const counts = new Float64Array(doublings);
        for (const [bin, count] of bins!) counts[bin - zeroBin] = count;
        if (planted) counts[0]! *= 3;
        return counts;
      })).map((counts) => [counts[0]!, counts.reduce((sum, count) => sum + count, 0)]),
    });
    return { plan, dimension: 1 };
  },
};

/** Rows of a planted estimator come from a pool, which has their tags. */
const tagged = (block: RowBlock): RowsToPair => block as RowsToPair;

/** The threshold of exact values is that of another delta: a value of one person may be shown. */
export const lowThreshold: PlantedBug = {
  name: 'exact values shown from too low a threshold',
  epsilon: 1, delta: 1e-6, dimension: 1, cohort: 4, trials: 10_000, inSensitivity: false,
  make(facts, planted) {
    const { rho, delta } = facts.target;
    const { value, octaves } = atomEvents({
      cohort: 'rows', dimension: 1, rho: { value: rho / 2, octaves: rho / 2 }, delta,
    });
    const plan = smallPlan({
      facts,
      length: 1,
      events: [value, octaves],
      release: (rows, mechanisms) =>
        privateAtoms(mechanisms, rows('rows'), 1, [0], { value, octaves }, 0.05)
          .map(([atom]) => [atom?.kind === 'one-value' ? atom.value : -1e9]),
    });
    return {
      plan, dimension: 1,
      mechanisms: (events, noise) => createMechanisms(planted
        ? events.map((event) => (event.name === value.name ? { ...event, delta: 0.4 } : event))
        : events, noise),
    };
  },
};

/** Counts are multiplied as if one column were asked about, while all are. */
export const multipliedCounts: PlantedBug = {
  name: 'octaves multiplied for too few columns',
  epsilon: 1, delta: 0.05, dimension: 4, cohort: 4, trials: 20_000, inSensitivity: true,
  make(facts, planted) {
    const { dimension } = facts;
    const length = dimension * doublings;
    const name = 'octaves';
    const octaves = tightGaussian(name, length, Math.sqrt(2 * dimension), facts.target);
    const plan = smallPlan({
      facts,
      length: 1,
      events: [octaves],
      release: (rows, mechanisms) => mechanisms.gaussian(name, rows('rows').map((block) => {
        const counts = new Float64Array(length);
        const multiple = planted ? Math.sqrt(dimension) : 1;
        for (let i = 0; i < block.count; i++) {
          for (let j = 0; j < dimension; j++) {
            const isFar = Math.abs(block.values[i * dimension + j]!) >= 1;
            counts[j * doublings + (isFar ? 200 : 100)]! += multiple;
          }
        }
        return counts;
      })).map((counts) => [
        Array.from({ length: dimension }, (_, j) => counts[j * doublings + 200]!)
          .reduce((sum, count) => sum + count, 0),
      ]),
    });
    return { plan, dimension };
  },
};
