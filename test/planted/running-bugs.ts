import { openSensitive } from '../../src/base/wrappers.js';
import { factorStep } from '../../src/base/root-factor.js';
import type { StudyFacts } from '../../src/estimators/contract/estimator.js';
import { runningFactor } from '../../src/privacy/running/running-factor.js';
import type { PlantedBug } from './bugs.js';
import { smallPlan, sumOf, tightGaussian } from './build.js';

/** Mistakes in totals over epochs. */
const running = {
  epsilon: 1, delta: 0.05, dimension: 1, cohort: 4, trials: 20_000,
} as const;

const epochs = 6;

/** C x where x counts, in every epoch, the rows that are at least 0. */
function mixed(column: Float64Array, counted: number): Float64Array {
  return Float64Array.from({ length: epochs }, (_, p) => {
    let steps = 0;
    for (let k = 0; k <= p && k < column.length; k++) steps += column[k]! * counted;
    return steps * factorStep;
  });
}

const countOf = (values: Float64Array): number =>
  values.reduce((count, value) => count + (value >= 0 ? 1 : 0), 0);

/**
 * Everybody is in all of six epochs. With band 1 this costs six participations; a band of six needs
 * participations that are six epochs apart.
 */
const wideBand: PlantedBug = {
  name: 'bands of a running total wider than the separation',
  ...running,
  inSensitivity: true,
  make(facts: StudyFacts, planted) {
    const { column, norm } = runningFactor(planted ? epochs : 1);
    const event =
      tightGaussian('running', epochs, norm * Math.sqrt(epochs), facts.target);
    const plan = smallPlan({
      facts,
      length: epochs,
      events: [{ ...event, grid: factorStep }],
      release: (rows, mechanisms) => mechanisms.gaussian('running', rows('rows').map((block) =>
        mixed(column, countOf(block.values)))).map((noisy) => Array.from(noisy)),
    });
    return { plan, dimension: 1 };
  },
};

/**
 * The first epoch had its noise when the server stopped, and its release got out. The next one has
 * the same contributors and one that is known, and takes the noise again, so the difference of the
 * two is exact.
 */
const noiseAgain: PlantedBug = {
  name: 'noise of a running total reused after a crash',
  ...running,
  inSensitivity: false,
  make(facts: StudyFacts, planted) {
    const { column } = runningFactor(2);
    const half = { epsilon: facts.target.epsilon / 2, deltaTotal: facts.target.deltaTotal / 2 };
    const [first, second] = ['first', 'second'].map((name) =>
      ({ ...tightGaussian(name, 1, 1, half), grid: factorStep }));
    const plan = smallPlan({
      facts,
      length: 2,
      events: [first!, { ...second!, sensitivity: 1.5, sigma: second!.sigma * 1.5 }],
      release(rows, mechanisms) {
        const count = rows('rows').map((block) => sumOf(block, 1, ([value], sum) => {
          sum[0]! += value! >= 0 ? 1 : 0;
        }));
        const before = mechanisms.gaussian('first', count);
        // The value of the interrupted epoch is folded into the next one.
        const folded = count.map((all) =>
          all.map((each) => each * (column[0]! + column[1]!) * factorStep));
        const again = mechanisms.gaussian('second', folded).value[0]!;
        const reused = before.value[0]! - openSensitive(count)[0]! + openSensitive(folded)[0]!;
        // Anybody may subtract what is published.
        return before.map(([noisy]) => [noisy!, (planted ? reused : again) - noisy!]);
      },
    });
    return { plan, dimension: 1 };
  },
};

export const runningBugs: readonly PlantedBug[] = [wideBand, noiseAgain];
