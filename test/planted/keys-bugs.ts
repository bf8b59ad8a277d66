import { Sensitive } from '../../src/base/brands.js';
import { openSensitive } from '../../src/base/wrappers.js';
import type { StudyFacts } from '../../src/estimators/contract/estimator.js';
import {
  gaussianEvent, groupHistogramEvent, groupSumsEvent, groupWeightsEvent,
} from '../../src/privacy/accounting/calibration.js';
import type { MechanismEvent } from '../../src/privacy/accounting/events.js';
import { groupWeightSteps } from '../../src/privacy/mechanisms/bounds.js';
import type { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { renamed } from '../../src/privacy/mechanisms/renamed.js';
import type { RowBlock } from '../../src/privacy/stages/rows.js';
import type { NoiseSource } from '../../src/random/source.js';
import { numberedKeys } from '../support/found-keys.js';
import type { PlantedBug } from './bugs.js';
import { smallPlan, sumOf } from './build.js';

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

/** Releases how many keys were kept. */
const keptKeysPlan = (facts: StudyFacts, event: MechanismEvent) => smallPlan({
  facts,
  length: 1,
  events: [event],
  release: (rows, mechanisms) => {
    const counts = rows('rows').map(countsOf);
    const keys = counts.map(() => numberedKeys(size));
    return mechanisms.groupHistogram('keys', counts, keys).map((kept) => [kept.length]);
  },
});

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
    const event = groupHistogramEvent({
      name: 'keys', cohort: 'rows', groupsMax: 2, prefilter: 1, rho: 0.01,
      delta: facts.target.deltaTotal,
    });
    const plan = keptKeysPlan(facts, event);
    return {
      plan,
      dimension: 2,
      // The noise is what was charged. Only the threshold is that of one key.
      mechanisms: (events, noise, create) => create(
        planted ? events.map((one) => ({ ...one, groupsMax: 1 })) : events, noise,
      ),
    };
  },
};

/** Shares of rho and delta that leave enough for the conversion to epsilon. */
const rhoOf = ({ target }: StudyFacts): number => target.epsilon ** 2 / 30;
const deltaOf = ({ target }: StudyFacts): number => 0.9 * target.deltaTotal;

const oneKeyEvent = (facts: StudyFacts, prefilter: number): MechanismEvent =>
  groupHistogramEvent({
    name: 'keys', cohort: 'rows', groupsMax: 1, prefilter, rho: rhoOf(facts), delta: deltaOf(facts),
  });

/**
 * Mechanisms that drop the keys below `least` as charged, and take the threshold of another
 * prefilter: 1, or 0 for none.
 */
function withThresholdOf(
  prefilter: 0 | 1, least: number, events: readonly MechanismEvent[], noise: NoiseSource,
  create: typeof createMechanisms,
) {
  const inner = create(
    events.map((event) => ({ ...event, prefilter: 1 }) as MechanismEvent), noise,
  );
  return {
    ...renamed(inner, (event) => event),
    prepare: (limit: number) => inner.prepare(limit),
    groupHistogram: ((event, counts, keys) => {
      const all = Array.from(openSensitive(counts));
      const left = all.flatMap((count, place) => (count >= least ? [place] : []));
      const lifted = left.map((place) => all[place]! + 1 - prefilter);
      return inner.groupHistogram(event, Sensitive.of(lifted), keys.map((found) => ({
        size: left.length,
        compare: (one, other) => found.compare(left[one]!, left[other]!),
        find: (parts) => left.indexOf(found.find(parts)),
        partsOf: (place) => found.partsOf(left[place]!),
      })));
    }) satisfies typeof inner.groupHistogram,
  };
}

/** One contributor brings the count of a key to the prefilter. The threshold is too low for it. */
function lowThreshold(name: string, prefilter: number, wrong: 0 | 1): PlantedBug {
  return {
    name,
    epsilon: 2,
    delta: 0.05,
    dimension: 1,
    cohort: prefilter,
    trials: 60_000,
    inSensitivity: false,
    make(facts, planted) {
      const event = oneKeyEvent(facts, prefilter);
      const plan = keptKeysPlan(facts, event);
      return {
        plan,
        dimension: 1,
        mechanisms: (events, noise, create) => (planted
          ? withThresholdOf(wrong, prefilter, events, noise, create) : create(events, noise)),
      };
    },
  };
}

const prefilterForgotten = lowThreshold('threshold without the prefilter', 4, 0);
const otherPrefilter = lowThreshold('threshold of a prefilter of 1 for one of 2', 2, 1);

/** Rows in an order of arrival: those that are farthest from 0 come first. */
const arrivals = ({ count, values }: RowBlock): readonly number[] =>
  Array.from(values.subarray(0, count)).sort((one, other) => Math.abs(other) - Math.abs(one));

/** The key of a row of one column. */
const keyOf = (value: number): number => Number(value !== 0);

/**
 * There is memory for one key. One contributor whose key comes first pushes out the key of all
 * others.
 */
const boundedByMemory: PlantedBug = {
  name: 'keys kept as long as there is memory',
  epsilon: 1,
  delta: 0.05,
  dimension: 1,
  cohort: 40,
  trials: 10_000,
  inSensitivity: true,
  make(facts, planted) {
    const room = planted ? 1 : Infinity;
    const event = oneKeyEvent(facts, 1);
    const plan = smallPlan({
      facts,
      length: 1,
      events: [event],
      release: (rows, mechanisms) => {
        const counts = rows('rows').map((block) => {
          const byKey = new Map<number, number>();
          for (const value of arrivals(block)) {
            const key = keyOf(value);
            if (byKey.has(key) || byKey.size < room) byKey.set(key, (byKey.get(key) ?? 0) + 1);
          }
          return Float64Array.of(byKey.get(0) ?? 0, byKey.get(1) ?? 0);
        });
        const keys = counts.map(() => numberedKeys(2));
        return mechanisms.groupHistogram('keys', counts, keys).map((kept) => [kept.length]);
      },
    });
    return { plan, dimension: 1 };
  },
};

/** Two keys have many contributors each. The places of keys tell whose came first. */
const orderOfArrival: PlantedBug = {
  name: 'keys shown in the order of arrival',
  epsilon: 1,
  delta: 0.05,
  dimension: 1,
  cohort: 4,
  trials: 10_000,
  inSensitivity: false,
  make(facts, planted) {
    const event = oneKeyEvent(facts, 1);
    const plan = smallPlan({
      facts,
      length: 1,
      events: [event],
      release: (rows, mechanisms) => {
        const arrived = rows('rows').map((block) =>
          arrivals(block).concat([0, 1].flatMap((value) => Array<number>(500).fill(value))));
        const counts = arrived.map((values) => Float64Array.from([0, 1], (key) =>
          values.filter((value) => keyOf(value) === key).length));
        const keys = counts.map(() => numberedKeys(2));
        const order = openSensitive(arrived.map((values) => new Set(values.map(keyOf))));
        return mechanisms.groupHistogram('keys', counts, keys).map((kept) => {
          const shown = kept.map(({ key }) => Number(key[0]));
          return [planted ? [...order].find((key) => shown.includes(key)) ?? -1 : shown[0] ?? -1];
        });
      },
    });
    return { plan, dimension: 1 };
  },
};

/** What is shown again is what the rows had, whether or not a release showed it. */
const knownFromRows: PlantedBug = {
  name: 'keys remembered that no release showed',
  epsilon: 1,
  delta: 0.05,
  dimension: 2,
  cohort: 1,
  trials: 10_000,
  inSensitivity: false,
  make(facts, planted) {
    const event = groupHistogramEvent({
      name: 'keys', cohort: 'rows', groupsMax: 2, prefilter: 1, rho: rhoOf(facts),
      delta: deltaOf(facts),
    });
    const plan = smallPlan({
      facts,
      length: 1,
      events: [event],
      release: (rows, mechanisms) => {
        const counts = rows('rows').map(countsOf);
        const keys = counts.map(() => numberedKeys(size));
        const had = Array.from(openSensitive(counts), (count, place) =>
          (count > 0 ? [[String(place)]] : [])).flat();
        // The first keys are public: a release showed them.
        const known = planted ? had : [['0'], ['1']];
        return mechanisms.groupHistogram('keys', counts, keys, known).map((kept) => [kept.length]);
      },
    });
    return { plan, dimension: 2 };
  },
};

/** Sums of one key, with noise that hardly more than suffices: (epsilon, delta) of the target. */
function sumsOfOneKey(
  facts: StudyFacts, added: (row: Float64Array) => number, sumsSigma = 1,
) {
  const event = groupSumsEvent({
    name: 'keys', cohort: 'rows', groupsMax: 1, prefilter: 1, values: 1, sumsGrid: 2 ** -20,
    // Many others have the key, so nearly all of delta is left for the conversion to epsilon.
    rho: facts.target.epsilon ** 2 / 7, delta: deltaOf(facts),
  });
  const plan = smallPlan({
    facts,
    length: 1,
    events: [event],
    release: (rows, mechanisms) => {
      const table = rows('rows').map((block) => {
        const sum = sumOf(block, 1, (row, all) => {
          all[0]! += Math.round(added(row) * 2 ** 20) / 2 ** 20;
        });
        return { counts: [500 + block.count], sumsOf: () => sum };
      });
      const keys = table.map(() => numberedKeys(1));
      return mechanisms.groupSums('keys', table, keys)
        .map(([kept]) => [kept === undefined ? 0 : kept.noisySums[0]!]);
    },
  });
  return {
    plan,
    dimension: facts.dimension,
    mechanisms: (
      events: readonly MechanismEvent[], noise: NoiseSource, create: typeof createMechanisms,
    ) => create(
      events.map((one) => ({ ...one, sumsSigma: sumsSigma * event.sumsSigma }) as MechanismEvent),
      noise,
    ),
  };
}

const clipped = (value: number): number => Math.min(1, Math.max(-1, value));
const sums = { epsilon: 2, delta: 0.05, dimension: 1, cohort: 4, trials: 30_000 } as const;

/** What a contributor may change from one end of the range to the other moves the sum by 2. */
const halfTheNoise: PlantedBug = {
  name: 'sums of discovered keys as if a value moved by half the range',
  ...sums,
  inSensitivity: false,
  make: (facts, planted) =>
    sumsOfOneKey(facts, ([value]) => clipped(value!), planted ? 0.5 : 1),
};

/** The columns of a row are two records of one contributor under one key. */
const recordsClipped: PlantedBug = {
  name: 'records of a discovered key clipped before they are added up',
  ...sums,
  dimension: 2,
  inSensitivity: true,
  make: (facts, planted) => sumsOfOneKey(facts, ([one, two]) => (planted
    ? 2 * (clipped(one!) + clipped(two!)) : clipped(one! + two!))),
};

/**
 * A contributor has the first two keys or the last two. So each gets the weight 1 / sqrt(2), and
 * with 1 the contributor has L2 norm sqrt(2). Many others have all four keys.
 */
const wholeWeights: PlantedBug = {
  name: 'weight 1 for each of two discovered keys',
  ...sums,
  inSensitivity: true,
  make(facts, planted) {
    const event = groupWeightsEvent({
      name: 'keys', cohort: 'rows', groupsMax: 2, rho: facts.target.epsilon ** 2 / 7,
      delta: deltaOf(facts),
    });
    const weight = (planted ? 1 / event.grid : groupWeightSteps(2, event.grid)) * event.grid;
    const plan = smallPlan({
      facts,
      length: 1,
      events: [event],
      release: (rows, mechanisms) => {
        const weights = rows('rows').map(({ count, values }) => {
          const first = values.subarray(0, count).filter((value) => value > 0).length;
          return [first, first, count - first, count - first].map((own) => 500 + own * weight);
        });
        const keys = weights.map(() => numberedKeys(4));
        return mechanisms.groupHistogram('keys', weights, keys).map((kept) =>
          [kept.reduce((sum, { key: [key], noisyCount }) =>
            sum + (Number(key) < 2 ? noisyCount : -noisyCount), 0)]);
      },
    });
    return { plan, dimension: 1 };
  },
};

/** A key for each column that is not 0, and one of them counts. A contributor may lose four. */
const lostKeysCounted: PlantedBug = {
  name: 'keys that are cut counted in place of people who lose some',
  ...sums,
  dimension: 5,
  inSensitivity: true,
  make(facts, planted) {
    const event = gaussianEvent({
      name: 'truncated', cohort: 'rows', dimension: 1, sensitivity: 1,
      rho: facts.target.epsilon ** 2 / 7, grid: 1 / 16,
    });
    const plan = smallPlan({
      facts,
      length: 1,
      events: [event],
      release: (rows, mechanisms) => mechanisms.gaussian('truncated', rows('rows').map((block) =>
        sumOf(block, 1, (row, all) => {
          const lost = Math.max(0, row.filter((value) => value !== 0).length - 1);
          all[0]! += planted ? lost : Number(lost > 0);
        }))).map((noisy) => Array.from(noisy)),
    });
    return { plan, dimension: 5 };
  },
};

export const keysBugs: readonly PlantedBug[] = [
  lostKeysCounted, wholeWeights, halfTheNoise, recordsClipped, oneKeyThreshold,
  prefilterForgotten, otherPrefilter, boundedByMemory, orderOfArrival, knownFromRows,
];
