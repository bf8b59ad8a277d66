import type { ColumnType } from '../../src/base/columns.js';
import type { Question } from '../../src/base/questions.js';
import type { StudyFacts } from '../../src/estimators/contract/estimator.js';
import { boundsOf, stepsOf, stepsPerUnit } from '../../src/estimators/counts/sum/bounds.js';
import { rootAbove } from '../../src/estimators/counts/tables/key-places.js';
import type { RowBlock } from '../../src/privacy/stages/rows.js';
import { QuestionReduction } from '../../src/questions/reduction.js';
import type { PlantedBug } from './bugs.js';
import { smallPlan, tightGaussian } from './build.js';

/** Mistakes on the way from a contributor's records to what an estimator sees of it. */
const shape = {
  epsilon: 1, delta: 0.05, dimension: 1, cohort: 40, trials: 10_000, inSensitivity: true,
} as const;

const names = Array.from({ length: 8 }, (_, i) => `key ${i}`);
const types: readonly ColumnType[] = [{ type: 'category', of: names }, { type: 'number' }];
const columns = ['key', 'amount'];
const question: Question = {
  name: 'q', estimator: 'sum', parameters: {}, columns: ['amount'], where: [], reduce: 'sum',
  part: 100, by: { columns: ['key'], groupsMax: 1 },
};
const secrets = { keySecret: () => new Uint8Array(16).fill(7) };

/** Above, at and below 0: three sets of keys that no two sides share. */
const sideOf = (value: number): number => (value > 0 ? 1 : value < 0 ? 2 : 0);

/**
 * The rows that a question sees of each contributor: a key and an amount each.
 * @param records of a contributor, by its row.
 */
function reducedRows(
  asked: Question, { count, dimension, values }: RowBlock,
  records: (row: Float64Array) => readonly (readonly [number, number])[],
): readonly (readonly Float64Array[])[] {
  const reduction = new QuestionReduction(asked, { columns, types });
  return Array.from({ length: count }, (_, i) => {
    const sent = records(values.subarray(i * dimension, (i + 1) * dimension));
    const rows = reduction.empty(null);
    reduction.add(
      rows, { values: Float64Array.from(sent.flat()), rows: sent.length, ranks: null },
      columns.length, secrets,
    );
    return reduction.rowsOf(rows);
  });
}

/** Each column of a row is a record under a key of its own. A contributor may count under one. */
const oneKeyTooMany: PlantedBug = {
  name: 'one key more kept than groupsMax',
  ...shape,
  dimension: 2,
  cohort: 4,
  trials: 40_000,
  make(facts, planted) {
    const by = { columns: ['key'], groupsMax: planted ? 2 : 1 };
    const plan = smallPlan({
      facts,
      length: names.length,
      events: [tightGaussian('keys', names.length, rootAbove(2), facts.target)],
      release: (rows, mechanisms) => mechanisms.gaussian('keys', rows('rows').map((block) => {
        const counts = new Float64Array(names.length);
        const reduced = reducedRows({ ...question, by }, block, (row) =>
          Array.from(row, (value, record) => [2 * sideOf(value) + record, 1]));
        for (const [key] of reduced.flat()) counts[key!]! += 1;
        return counts;
      })).map((counts) => Array.from(counts)),
    });
    return { plan, dimension: facts.dimension };
  },
};

const amounts = boundsOf(0, 1);

/**
 * Everybody adds 0.25 under one key. Only amounts of at least 0.5 should count. If the test comes
 * after the rows of the key were added up, one contributor decides whether all of them count.
 */
const whereAfterReduction: PlantedBug = {
  name: '`where` tested after rows were added up',
  ...shape,
  cohort: 20,
  make(facts, planted) {
    const least = 0.5;
    const test = { column: 'amount', atLeast: least };
    const asked: Question = { ...question, where: planted ? [] : [test] };
    // Public amounts: the total without the contributor who changes is just below the test's.
    const known = least - 0.25 * (facts.cohort - 0.5);
    const plan = smallPlan({
      facts,
      length: 1,
      events: [tightGaussian('total', 1, 1, facts.target)],
      release: (rows, mechanisms) => mechanisms.gaussian('total', rows('rows').map((block) => {
        const reduced = reducedRows(asked, block, (row) => [[0, sideOf(row[0]!) + 0.25]]);
        const total = reduced.flat().reduce((sum, [, amount]) =>
          sum + stepsOf(amount!, amounts) / stepsPerUnit, 0);
        return Float64Array.of(planted && total + known < least ? 0 : total);
      })).map((total) => Array.from(total)),
    });
    return { plan, dimension: facts.dimension };
  },
};

/**
 * A total of 2^25 is known, and everybody adds a number from -3 to 3. Numbers of 32 bits are 4
 * apart above 2^25 and 2 apart below. So whether the first to come adds 3 decides how the numbers
 * of all others are rounded. Whole steps are added without rounding.
 */
const floatSums: PlantedBug = {
  name: 'floating-point sums in the order of arrival',
  ...shape,
  make(facts: StudyFacts, planted) {
    const known = 2 ** 25;
    const bounds = boundsOf(-3, 3);
    const plan = smallPlan({
      facts,
      length: 1,
      events: [tightGaussian('total', 1, 6, facts.target)],
      release: (rows, mechanisms) => mechanisms.gaussian('total', rows('rows').map((block) => {
        // The largest comes first.
        const sent = Array.from(block.values.subarray(0, block.count), (value) =>
          Math.min(3, Math.max(-3, value - 1.5))).sort((one, other) => other - one);
        const total = planted
          ? sent.reduce((sum, value) => Math.fround(sum + value), known)
          : known + sent.reduce((sum, value) => sum + stepsOf(value, bounds), 0)
            * (bounds.unit / stepsPerUnit);
        return Float64Array.of(total);
      })).map(([total]) => [total! - known]),
    });
    return { plan, dimension: facts.dimension };
  },
};

export const reductionBugs: readonly PlantedBug[] = [
  oneKeyTooMany, whereAfterReduction, floatSums,
];
