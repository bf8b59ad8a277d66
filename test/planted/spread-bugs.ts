import { Released, type Sensitive } from '../../src/base/brands.js';
import { openSensitive } from '../../src/base/wrappers.js';
import type { StudyFacts } from '../../src/estimators/contract/estimator.js';
import { countPairBins, zeroBin } from '../../src/numerics/kernels/column-counts.js';
import { gaussianHistogramEvent } from '../../src/privacy/accounting/calibration.js';
import { pairsOf } from '../../src/privacy/stages/spread-pairs.js';
import type { RowsToPair } from '../../src/privacy/stages/spread.js';
import type { RowBlock } from '../../src/privacy/stages/rows.js';
import type { PlantedBug } from './bugs.js';
import { smallPlan, tightGaussian } from './build.js';

/**
 * Mistakes that the private spread could hold. The spread has hundreds of bins for each column.
 * Three are enough here: a difference of 0, below 1, and from 1 on. So a trial draws three noise
 * values.
 */
const bins = 3;
const shape = { epsilon: 1, delta: 0.05, dimension: 1, cohort: 4 } as const;

const binOf = (octave: number): number => (octave === zeroBin ? 0 : octave < 0 ? 1 : 2);

/** Rows of a planted estimator come from a pool, which has their tags. */
const tagged = (block: RowBlock): RowsToPair => block as RowsToPair;

/** The pairs of the spread's slots, by their difference. */
function pairCounts(block: RowBlock): Float64Array {
  const counts = new Float64Array(bins);
  const [octaves] = countPairBins(block.values, 1, pairsOf(tagged(block), 1));
  for (const [octave, pairs] of octaves!) counts[binOf(octave)]! += pairs;
  return counts;
}

/** The noise on pairs of equal rows is half as wide as their charge says. */
const zeroBinHalf: PlantedBug = {
  name: 'pairs of equal rows at half their charge',
  ...shape,
  trials: 30_000,
  inSensitivity: true,
  make(facts, planted) {
    const weight = planted ? 2 : 1;
    const plan = smallPlan({
      facts,
      length: bins,
      events: [tightGaussian('pairs', bins, Math.SQRT2, facts.target)],
      release: (rows, mechanisms) => mechanisms.gaussian('pairs', rows('rows').map((block) =>
        pairCounts(block).map((count, bin) => (bin === 0 ? weight * count : count))))
        .map((counts) => Array.from(counts, (count, bin) => (bin === 0 ? count / weight : count))),
    });
    return { plan, dimension: 1 };
  },
};

/** A discrete column is told by the true count, which no query shows. */
const zeroBinTrue: PlantedBug = {
  name: 'pairs of equal rows by their true count',
  ...shape,
  trials: 5_000,
  inSensitivity: false,
  make(facts, planted) {
    const plan = smallPlan({
      facts,
      length: 1,
      events: [tightGaussian('pairs', bins, Math.SQRT2, facts.target)],
      release(rows, mechanisms) {
        const counts = rows('rows').map(pairCounts);
        const [truth] = openSensitive(counts);
        return mechanisms.gaussian('pairs', counts).map(([equal]) => [
          (planted ? truth! : equal!) > 0.5 ? 1 : 0,
        ]);
      },
    });
    return { plan, dimension: 1 };
  },
};

/** Rows by exact value. */
function valueCounts({ values, count }: RowBlock): Map<number, number> {
  const counts = new Map<number, number>();
  for (const value of values.subarray(0, count)) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Rows by their distance from a value: equal, below 1, from 1 on. */
function distanceCounts({ values, count }: RowBlock, from: number): Float64Array {
  const counts = new Float64Array(bins);
  for (const value of values.subarray(0, count)) {
    const distance = Math.abs(value - from);
    counts[distance === 0 ? 0 : distance < 1 ? 1 : 2]! += 1;
  }
  return counts;
}

/**
 * A value that two people have is kept, without noise. One of them fewer, and it is not: the answer
 * says which of the two it was.
 */
const trueValues: PlantedBug = {
  name: 'exact values kept by their true counts',
  ...shape,
  cohort: 2,
  trials: 5_000,
  inSensitivity: false,
  make: (facts, planted) => ({ plan: valuesPlan(facts, (counts) => {
    const [most] = [...openSensitive(counts)].sort(([, one], [, two]) => two - one);
    return most !== undefined && most[1] > 1 ? most[0] : undefined;
  }, planted), dimension: 1 }),
};

/** The commonest value, then how far the rows are from it. `planted`: by `trueValue`. */
function valuesPlan(
  facts: StudyFacts, trueValue: (counts: Sensitive<Map<number, number>>) => number | undefined,
  planted: boolean,
) {
  const { target } = facts;
  const half = { epsilon: target.epsilon / 2, deltaTotal: target.deltaTotal / 2 };
  const values = gaussianHistogramEvent({
    name: 'value', cohort: 'rows', coordinates: 1, rho: target.rho / 4, delta: target.delta / 4,
  });
  return smallPlan({
    facts,
    length: 1 + bins,
    events: [values, tightGaussian('octaves', bins, Math.SQRT2, half)],
    release(rows, mechanisms) {
      const counts = rows('rows').map(valueCounts);
      const kept = mechanisms.histogram('value', counts.map((one) => [one]));
      const value = planted ? trueValue(counts) : kept.value[0]?.[0]?.bin;
      const octaves = mechanisms.gaussian('octaves', rows('rows').map((block) =>
        distanceCounts(block, value ?? 0)));
      return Released.all<readonly [unknown, Float64Array]>([kept, octaves])
        .map(([, noisy]) => [value ?? -1e9, ...noisy]);
    },
  });
}

/** A row that differs in eight columns counts fully in each, while it is charged for two. */
const fullWeights: PlantedBug = {
  name: 'octaves with full weight in every column',
  ...shape,
  dimension: 8,
  trials: 30_000,
  inSensitivity: true,
  make(facts, planted) {
    const { dimension } = facts;
    // On the grid of the event, so rounded down.
    const weight = planted ? 1 : Math.floor(Math.sqrt(2 / dimension) * 1024) / 1024;
    const plan = smallPlan({
      facts,
      length: dimension * bins,
      events: [tightGaussian('octaves', dimension * bins, Math.sqrt(4), facts.target)],
      release: (rows, mechanisms) => mechanisms.gaussian('octaves', rows('rows').map((block) => {
        const counts = new Float64Array(dimension * bins);
        for (let at = 0; at < block.count * dimension; at++) {
          const bin = Math.abs(block.values[at]!) >= 1 ? 2 : 1;
          counts[(at % dimension) * bins + bin]! += weight;
        }
        return counts;
      })).map((counts) => Array.from(counts, (count) => count / weight)),
    });
    return { plan, dimension };
  },
};

export const spreadBugs: readonly PlantedBug[] = [
  zeroBinHalf, zeroBinTrue, trueValues, fullWeights,
];
