import type { Plan, StudyFacts } from '../../src/estimators/contract/estimator.js';
import type { RowBlock } from '../../src/privacy/stages/rows.js';
import type { PlantedBug } from './bugs.js';
import { intoBall, smallPlan, sumOf, tightGaussian } from './build.js';

const shape = {
  epsilon: 1, delta: 0.05, dimension: 2, cohort: 4, trials: 60_000, inSensitivity: true,
} as const;

/** Products of rows after a map that is larger than 1, with noise for rows in the unit ball. */
const unclippedMap: PlantedBug = {
  name: 'second moments after a map, without clipping',
  ...shape,
  make: (facts, planted) => ({ plan: momentsPlan(facts, (block) => productsOf(block, (row) => {
    const image = intoBall(row).map((entry) => 2 * entry);
    return planted ? image : intoBall(image);
  })), dimension: facts.dimension }),
};

/**
 * Second moments about the mean of the rows themselves: a changed row moves the images of all
 * others, which no noise covers. A released mean is the same for neighbours.
 */
const aboutTrueMean: PlantedBug = {
  name: 'second moments about the true mean, not a released one',
  ...shape,
  make: (facts, planted) => ({ plan: momentsPlan(facts, (block) => {
    const mean = sumOf(block, 2, (row, sum) =>
      row.forEach((entry, j) => (sum[j]! += entry / block.count)));
    return productsOf(block, (row) =>
      intoBall(planted ? row.map((entry, j) => entry - mean[j]!) : row));
  }), dimension: facts.dimension }),
};

function momentsPlan(facts: StudyFacts, momentsOf: (block: RowBlock) => Float64Array): Plan {
  return smallPlan({
    facts,
    length: 4,
    events: [{
      ...tightGaussian('moments', 2, Math.SQRT2, facts.target), kind: 'symmetric-gaussian',
    }],
    release: (rows, mechanisms) =>
      mechanisms.symmetricGaussian('moments', rows('rows').map(momentsOf))
        .map((moments) => Array.from(moments)),
  });
}

/** Sum of z z^T over the images z of two columns. */
function productsOf(block: RowBlock, image: (row: Float64Array) => Float64Array): Float64Array {
  return sumOf(block, 4, (row, sum) => {
    const [x = 0, y = 0] = image(row);
    [x * x, x * y, x * y, y * y].forEach((entry, at) => (sum[at]! += entry));
  });
}

export const momentsBugs: readonly PlantedBug[] = [unclippedMap, aboutTrueMean];
