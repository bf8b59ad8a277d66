import { openSensitive } from '../../src/base/wrappers.js';
import { factorStep } from '../../src/base/root-factor.js';
import type { StudyFacts } from '../../src/estimators/contract/estimator.js';
import {
  factored, rootFactor, type RootFactor,
} from '../../src/estimators/counts/distribution/factor.js';
import { boundsOf, stepsOf, stepsPerUnit } from '../../src/estimators/counts/sum/bounds.js';
import {
  capLadder, capsTried, cellsOf, ladderAdder, ladderCells, ladderEntries, sumsUnder,
} from '../../src/estimators/counts/sum/cap-ladder.js';
import type { RowBlock } from '../../src/privacy/stages/rows.js';
import type { PlantedBug } from './bugs.js';
import { smallPlan, sumOf, tightGaussian } from './build.js';

/** Mistakes in totals and in running counts. */
const counts = {
  epsilon: 1, delta: 0.05, dimension: 1, cohort: 6, trials: 10_000, inSensitivity: true,
} as const;

/** The total of what each contributor adds, in units of one, with noise that just suffices. */
function total(
  facts: StudyFacts, sensitivity: number, steps: (row: Float64Array) => number,
) {
  const plan = smallPlan({
    facts,
    length: 1,
    events: [tightGaussian('total', 1, sensitivity, facts.target)],
    release: (rows, mechanisms) => mechanisms.gaussian('total', rows('rows').map((block) =>
      sumOf(block, facts.dimension, (row, sum) => { sum[0]! += steps(row); }).slice(0, 1)
        .map((all) => all / stepsPerUnit))).map((noisy) => Array.from(noisy)),
  });
  return { plan, dimension: facts.dimension };
}

const unit = boundsOf(0, 1);

/** The columns of a row are two records of one contributor. */
const clippedFirst: PlantedBug = {
  name: 'records clipped before they are added up',
  ...counts,
  dimension: 2,
  make: (facts, planted) => total(facts, 1, ([one, two]) => (planted
    ? stepsOf(one!, unit) + stepsOf(two!, unit)
    : stepsOf(one! + two!, unit))),
};

const bothSides = boundsOf(-1, 1);

/** Values of both signs: a row replaced moves the total by high - low, not by high. */
const halfRange: PlantedBug = {
  name: 'half the sensitivity of a range',
  ...counts,
  make: (facts, planted) =>
    total(facts, planted ? 0.5 : 1, ([value]) => stepsOf(value!, bothSides)),
};

/** The cap with the best score, taken without noise and without a charge. */
const freeCap: PlantedBug = {
  name: 'cap found without a charge',
  ...counts,
  // Given the cap, the total is as charged. What shows is the cap.
  inSensitivity: false,
  make(facts, planted) {
    const { epsilon, deltaTotal } = facts.target;
    const half = { epsilon: epsilon / 2, deltaTotal };
    const ladder = capLadder(64);
    const add = ladderAdder([ladder]);
    const entriesOf = (block: RowBlock): Float64Array => sumOf(block, ladderEntries, add);
    const plan = smallPlan({
      facts,
      length: 2,
      events: [
        tightGaussian('cells', ladderCells, Math.SQRT2, half), tightGaussian('total', 1, 1, half),
      ],
      release(rows, mechanisms) {
        const entries = rows('rows').map(entriesOf);
        const cells = entries.map(cellsOf);
        const drawn = mechanisms.gaussian('cells', cells).value;
        const seen = (planted ? openSensitive(cells) : drawn).subarray(0, capsTried);
        const cap = seen.indexOf(Math.max(...seen));
        return mechanisms.gaussian('total', entries.map((all) =>
          sumsUnder(all, [cap]).map((steps) => steps / stepsPerUnit)))
          .map((noisy) => [cap, noisy[0]!]);
      },
    });
    return { plan, dimension: 1 };
  },
};

const cells = 16;

/** C x for counts of the cells 0, 1 .. 15 of the first column, with noise that just suffices. */
function running(facts: StudyFacts, sensitivityOf: (factor: RootFactor) => number) {
  const factor = rootFactor(cells);
  const event = tightGaussian('cells', cells, sensitivityOf(factor), facts.target);
  const plan = smallPlan({
    facts,
    length: cells,
    events: [{ ...event, grid: factorStep }],
    release: (rows, mechanisms) => mechanisms.gaussian('cells', rows('rows').map((block) =>
      factored(factor, sumOf(block, cells, ([value], sum) => {
        sum[Math.min(cells - 1, Math.max(0, Math.floor(value!)))]! += 1;
      })))).map((noisy) => Array.from(noisy)),
  });
  return { plan, dimension: 1 };
}

/** Of the last column of C, which has one entry. */
const lastColumn: PlantedBug = {
  name: 'sensitivity of the wrong column of the square root',
  ...counts,
  make: (facts, planted) => running(facts, ({ column, sensitivity }) =>
    (planted ? column[0]! * factorStep : sensitivity)),
};

/** The norm of the first column of the inverse of C: 1, -1/2, -1/8 and so on. */
const inverseCharged: PlantedBug = {
  name: 'sensitivity of the inverse of the square root',
  ...counts,
  make: (facts, planted) => running(facts, ({ sensitivity }) => {
    if (!planted) return sensitivity;
    let [entry, squares] = [1, 0];
    for (let k = 0; k < cells; k++) {
      squares += entry * entry;
      entry *= (2 * k - 1) / (2 * k + 2);
    }
    return Math.sqrt(squares);
  }),
};

export const countsBugs: readonly PlantedBug[] = [
  clippedFirst, halfRange, freeCap, lastColumn, inverseCharged,
];
