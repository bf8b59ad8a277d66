import { Released, Sensitive } from '../../src/base/brands.js';
import { openSensitive } from '../../src/base/wrappers.js';
import type { StudyFacts } from '../../src/estimators/contract/estimator.js';
import {
  exponentialEvent, gaussianThresholdEvent, laplaceEvent,
} from '../../src/privacy/accounting/calibration.js';
import type { MechanismEvent } from '../../src/privacy/accounting/events.js';
import type { RowBlock } from '../../src/privacy/stages/rows.js';
import type { PlantedBug } from './bugs.js';
import { intoCube, smallPlan, sumOf, tightGaussian } from './build.js';

/**
 * Mistakes that sampling hardly sees: a few percent of a charge, or an output that is rare. They
 * are checked call by call (test/planted/exact.test.ts) and not by the audit.
 */
const fine = {
  epsilon: 1, delta: 0.05, dimension: 1, cohort: 4, trials: 0, inSensitivity: true,
} as const;

/** A sum over rows of one number each, with noise for this sensitivity. */
function oneSum(facts: StudyFacts, sensitivity: number, of: (row: Float64Array) => number) {
  const plan = smallPlan({
    facts,
    length: 1,
    events: [tightGaussian('sum', 1, sensitivity, facts.target)],
    release: (rows, mechanisms) => mechanisms.gaussian('sum', rows('rows').map((block) =>
      sumOf(block, 1, (row, sum) => { sum[0]! += of(row); }))).map((sum) => [...sum]),
  });
  return { plan, dimension: facts.dimension };
}

const twoPercent: PlantedBug = {
  name: 'a sensitivity 2 % too small',
  ...fine,
  make: (facts, planted) => oneSum(facts, planted ? 2 / 1.02 : 2, (row) => intoCube(row)[0]!),
};

const lowerEnd: PlantedBug = {
  name: 'values clipped above and not below',
  ...fine,
  make: (facts, planted) => oneSum(facts, 2, ([value]) =>
    (planted ? Math.min(1, value!) : Math.min(1, Math.max(-1, value!)))),
};

/** The columns of a row are two records of one contributor, who counts once. */
const surplus: PlantedBug = {
  name: 'a count that is not clipped at the surplus',
  ...fine,
  dimension: 2,
  make: (facts, planted) => oneSum(facts, 1, (row) => {
    const records = row.filter((value) => value >= 0).length;
    return planted ? records : Math.min(1, records);
  }),
};

/** A value that is 0 is on the edge of two bins of three: it may leave both for the third. */
const bothBins: PlantedBug = {
  name: 'a row on an edge counted in both bins: >= for >',
  ...fine,
  landmarks: [0, 1, 2],
  make(facts, planted) {
    const plan = smallPlan({
      facts,
      length: 3,
      events: [tightGaussian('bins', 3, Math.SQRT2, facts.target)],
      release: (rows, mechanisms) => mechanisms.gaussian('bins', rows('rows').map((block) =>
        sumOf(block, 3, ([value], sum) => {
          if (value! <= 0) sum[0]! += 1;
          if ((planted ? value! >= 0 : value! > 0) && value! <= 1) sum[1]! += 1;
          if (value! > 1) sum[2]! += 1;
        }))).map((bins) => [...bins]),
    });
    return { plan, dimension: 1 };
  },
};

/** A pass is twice as likely as was charged where a neighbour is below the floor. */
const twiceDelta: PlantedBug = {
  name: 'a delta off by a factor of 2',
  ...fine,
  landmarks: [0.999, 0],
  make(facts, planted) {
    const event = gaussianThresholdEvent({
      name: 'test', cohort: 'rows', sensitivity: 1, rho: 0.05, delta: 0.01, floor: 3,
    });
    const plan = smallPlan({
      facts,
      length: 1,
      events: [event],
      release: (rows, mechanisms) => mechanisms.threshold('test', rows('rows').map((block) =>
        sumOf(block, 1, ([value], sum) => { sum[0]! += Math.min(1, Math.max(0, value!)); })[0]!))
        .map((passes) => [Number(passes)]),
    });
    return {
      plan,
      dimension: 1,
      mechanisms: (events, noise, create) => create(
        planted ? events.map((one) => ({ ...one, delta: 0.02 }) as MechanismEvent) : events, noise,
      ),
    };
  },
};

const signs = (block: RowBlock): Float64Array =>
  sumOf(block, 2, ([value], sum) => { sum[value! > 0 ? 1 : 0]! += 1; });

/** Counts of two bins on whole numbers: they are often equal. */
function fuller(
  facts: StudyFacts, tie: (block: Sensitive<RowBlock>, noisy: Float64Array) => number,
) {
  const plan = smallPlan({
    facts,
    length: 1,
    events: [laplaceEvent({
      name: 'bins', cohort: 'rows', dimension: 2, sensitivity: 2, epsilon: 2 / 3, grid: 1,
    })],
    release(rows, mechanisms) {
      const block = rows('rows');
      return mechanisms.laplace('bins', block.map(signs)).map((noisy) =>
        [noisy[0] === noisy[1] ? tie(block, noisy) : Number(noisy[1]! > noisy[0]!)]);
    },
  });
  return { plan, dimension: 1 };
}

const tieByOrder: PlantedBug = {
  name: 'a tie broken by the order of arrival',
  ...fine,
  inSensitivity: false,
  make: (facts, planted) => fuller(facts, (block) =>
    (planted ? Number(openSensitive(block).values[0]! > 0) : 0)),
};

/** A release of one number, which refuses with a number of its own. */
const exactRefusal: PlantedBug = {
  name: 'refused by the exact number of rows',
  ...fine,
  inSensitivity: false,
  make(facts, planted) {
    const plan = smallPlan({
      facts,
      length: 1,
      events: [tightGaussian('count', 1, 1, facts.target)],
      release(rows, mechanisms) {
        const counts = rows('rows').map(({ count }) => Float64Array.of(count));
        return mechanisms.gaussian('count', counts).map(([noisy]) =>
          [(planted ? openSensitive(counts)[0]! : noisy!) < 2 ? -1 : noisy!]);
      },
    });
    return { plan, dimension: 1 };
  },
};

/** Shares are steeper where fewer people came. */
const trueNumber: PlantedBug = {
  name: 'scores divided by the true number of rows',
  ...fine,
  make(facts, planted) {
    const plan = smallPlan({
      facts,
      length: 1,
      events: [exponentialEvent({
        name: 'choice', cohort: 'rows', candidates: 2, sensitivity: 1 / facts.cohort, epsilon: 1,
      })],
      release: (rows, mechanisms) => mechanisms.exponential('choice', rows('rows').map((block) =>
        signs(block).map((count) => count / (planted ? Math.max(1, block.count) : facts.cohort))))
        .map((index) => [index]),
    });
    return { plan, dimension: 1 };
  },
};

/** The second number has the noise of the first. */
const oneNoise: PlantedBug = {
  name: 'one noise for two numbers',
  ...fine,
  inSensitivity: false,
  make(facts, planted) {
    const plan = smallPlan({
      facts,
      length: 2,
      events: ['first', 'second'].map((name) => tightGaussian(name, 1, 1, facts.target)),
      release(rows, mechanisms) {
        const counts = rows('rows').map(signs);
        const [one, other] = [0, 1].map((at) => counts.map((all) => all.slice(at, at + 1)));
        const first = mechanisms.gaussian('first', one!);
        if (!planted) {
          const second = mechanisms.gaussian('second', other!).value[0]!;
          return first.map(([noisy]) => [noisy!, second]);
        }
        return first.map(([noisy]) =>
          [noisy!, noisy! - openSensitive(one!)[0]! + openSensitive(other!)[0]!]);
      },
    });
    return { plan, dimension: 1 };
  },
};

/** Two cohorts cost as much as one, if no value decides who is in which. */
const cohortByValue: PlantedBug = {
  name: 'cohorts that a value decides, charged as disjoint',
  ...fine,
  make(facts, planted) {
    const cohorts = ['one', 'other'];
    const plan = smallPlan({
      facts,
      cohorts,
      length: 2,
      events: cohorts.map((name) => tightGaussian(name, 1, 1, facts.target, name)),
      release(rows, mechanisms) {
        const all = cohorts.map((name) => openSensitive(rows(name).map(signs)));
        return Released.all<readonly Float64Array[]>(cohorts.map((name, at) =>
          mechanisms.gaussian(name, Sensitive.of(
            Float64Array.of(planted ? all[0]![at]! + all[1]![at]! : all[at]![0]!),
          )))).map((noisy) => noisy.flatMap((each) => [...each]));
      },
    });
    return { plan, dimension: 1 };
  },
};

export const fineBugs: readonly PlantedBug[] = [
  twoPercent, lowerEnd, surplus, bothBins, twiceDelta, tieByOrder, exactRefusal, trueNumber,
  oneNoise, cohortByValue,
];
