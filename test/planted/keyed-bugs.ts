import { openSensitive } from '../../src/base/wrappers.js';
import type { StudyFacts } from '../../src/estimators/contract/estimator.js';
import { boundsOf, stepsOf, stepsPerUnit } from '../../src/estimators/counts/sum/bounds.js';
import {
  keyPlacesOf, mostMoved, placeOf, rootAbove,
} from '../../src/estimators/counts/tables/key-places.js';
import { rowsOfKeys } from '../../src/estimators/keyed/rows-of-keys.js';
import { gaussianEvent } from '../../src/privacy/accounting/calibration.js';
import type { MechanismEvent } from '../../src/privacy/accounting/events.js';
import type { PlantedBug } from './bugs.js';
import { smallPlan, sumOf, tightGaussian } from './build.js';

/** Sizes that a key may be planned for. */
const ladder = [1, 2, 4];

/** Mistakes in answers that are split by keys. */
const keyed = {
  epsilon: 1, delta: 0.05, dimension: 1, cohort: 6, trials: 10_000, inSensitivity: true,
  keys: { list: 'public', groupsMax: 2, count: 6 },
} as const;

/** What a row adds to its key, with noise that just suffices. */
function addedByKey(
  facts: StudyFacts, sensitivity: number, added: (row: Float64Array) => number,
  read: (noisy: Float64Array, exact: Float64Array) => readonly number[] = (noisy) => [...noisy],
) {
  const places = keyPlacesOf(facts);
  const plan = smallPlan({
    facts,
    length: places.count,
    events: [tightGaussian('keys', places.count, sensitivity, facts.target)],
    release(rows, mechanisms) {
      const sums = rows('rows').map((block) => sumOf(block, places.count, (row, sum) => {
        const place = placeOf(row, places);
        if (place !== null) sum[place]! += added(row);
      }));
      return mechanisms.gaussian('keys', sums).map((noisy) => read(noisy, openSensitive(sums)));
    },
  });
  return { plan, dimension: facts.dimension };
}

const right = (facts: StudyFacts): number =>
  rootAbove(mostMoved(keyPlacesOf(facts), { both: 1, one: 1 }));

/** A contributor leaves K keys and comes to K others. */
const newKeysOnly: PlantedBug = {
  name: 'counts by key with the sensitivity of the new keys alone',
  ...keyed,
  trials: 40_000,
  make: (facts, planted) =>
    addedByKey(facts, planted ? Math.sqrt(keyed.keys.groupsMax) : right(facts), () => 1),
};

const unit = boundsOf(0, 1);

/** As if which key a row is in were public, so that releases of keys compose in parallel. */
const membershipOnce: PlantedBug = {
  name: 'totals by key with membership charged once',
  ...keyed,
  trials: 40_000,
  dimension: 2,
  keys: { ...keyed.keys, groupsMax: 1 },
  make: (facts, planted) => addedByKey(facts, planted ? 1 : right(facts), ([, value]) =>
    stepsOf(value!, unit) / stepsPerUnit),
};

/** The columns of a row are two records of a contributor under its key. */
const clippedBeforeReduced: PlantedBug = {
  name: 'records under a key clipped before they are reduced',
  ...keyed,
  dimension: 3,
  make: (facts, planted) => addedByKey(facts, right(facts), ([, one, two]) =>
    (planted ? stepsOf(one!, unit) + stepsOf(two!, unit) : stepsOf(one! + two!, unit))
      / stepsPerUnit),
};

/** Which keys have an answer: a key with nobody, or with somebody. */
const answeredExactly: PlantedBug = {
  name: 'a key answered or not by its exact count',
  ...keyed,
  inSensitivity: false,
  make: (facts, planted) => addedByKey(facts, right(facts), () => 1, (noisy, exact) =>
    [...planted ? exact : noisy].map((people, key) => (people >= 1 ? noisy[key]! : 0))),
};

/**
 * A key is answered with the plan for its size. The left side's count and the right side's lie on
 * two sides of a size, so which draws there are tells which side it is.
 */
const sizeFromExactCount: PlantedBug = {
  name: 'size of a key chosen from the exact count',
  ...keyed,
  dimension: 2,
  keys: { ...keyed.keys, groupsMax: 1 },
  make(facts, planted) {
    const places = keyPlacesOf(facts);
    const { target } = facts;
    // A third of rho for the sizes, and a third of it for each of the two keys that can move.
    const rho = (target.epsilon / 6) ** 2 / 2;
    const events = [
      gaussianEvent({
        name: 'sizes', cohort: 'rows', dimension: places.count, sensitivity: Math.SQRT2, rho,
        grid: 2 ** -16,
      }),
      ...ladder.map((size): MechanismEvent => ({
        ...gaussianEvent({
          name: `each@${ladder.indexOf(size)}/sum`, cohort: 'rows', dimension: 1,
          sensitivity: 2, rho: rho / 2, grid: 2 ** -16,
        }),
        keyed: { keys: places.count, groupsMax: 1 },
      })),
    ];
    const plan = smallPlan({
      facts, length: places.count, events,
      release(rows, mechanisms) {
        const byKey = rows('rows').map((block) => rowsOfKeys(
          { ...block, tags: new BigUint64Array(block.count) }, places.count,
        ));
        const counts = byKey.map((each) => each.counts);
        const noisy = mechanisms.gaussian('sizes', counts);
        const sizes = planted ? openSensitive(counts) : noisy.value;
        return noisy.map(() => Array.from(sizes, (size, key) => {
          const at = ladder.findLastIndex((least) => least <= size);
          if (at < 0) return 0;
          const sum = byKey.map((each) => sumOf(each.rows[key]!, 1, ([value], into) => {
            into[0]! += Math.min(1, Math.max(-1, value!));
          }));
          // As a mean: the size of the plan divides the sum.
          return mechanisms.gaussian(`each@${at}/sum#${key}`, sum).value[0]! / ladder[at]!;
        }));
      },
    });
    return { plan, dimension: facts.dimension };
  },
};

export const keyedBugs: readonly PlantedBug[] = [
  newKeysOnly, membershipOnce, clippedBeforeReduced, answeredExactly,
  sizeFromExactCount,
];
