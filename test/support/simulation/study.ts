import type { Estimator, Plan, StudyFacts } from '../../../src/estimators/contract/estimator.js';
import { findEstimator as findRegistered } from '../../../src/estimators/registry.js';
import { StateReader, StateWriter } from '../../../src/estimators/summaries/codec.js';
import { fromUtf8, utf8 } from '../../../src/base/bytes.js';
import type { ColumnType } from '../../../src/base/columns.js';
import type { Question } from '../../../src/base/questions.js';
import {
  ofShortFacts, type SharedFacts, type StudyDocument,
} from '../../../src/wire/study-document.js';
import { defineStudy, type StudyDefinition } from '../../../server/studies/definition.js';
import type { FindEstimator } from '../../../server/epochs/engine.js';

/**
 * Column 0 holds the contributor's number, column 1 the number of the row, the others are one-hot
 * by the latter.
 */
export const cells = 14;
export const columnCount = cells + 2;

/**
 * Rows that one contributor may give to one epoch: fewer than cells, so that no two of them share
 * one.
 */
export const rowsMax = 6;

/** The unmistakable row: no other has the same first two entries. */
export function rowOf(contributor: number, counter: number): number[] {
  const row = new Array<number>(columnCount).fill(0);
  row[0] = contributor;
  row[1] = counter;
  row[2 + (counter % cells)] = 1;
  return row;
}

/** A contributor's row as it reached its group. */
export interface SeenRow {
  readonly values: Float64Array;
  /** The keyed hash of its contributor that also chooses its group. */
  readonly tag: bigint;
}

/** How the rows of a question are split. */
export type SeenBy =
  'nothing' | 'public keys' | 'discovered keys' | 'remembered keys' | 'keys alone';
type OnDraw = (rows: readonly SeenRow[], by: SeenBy) => void;

/** The estimators, unchanged, whose summaries also tell what rows they were given. */
export function watchedEstimator(onDraw: OnDraw): FindEstimator {
  return (name): Estimator => {
    const inner = findRegistered(name);
    return {
      ...inner,
      plan(parameters, facts) {
        const plan = inner.plan(parameters, facts);
        return plan.kind === 'infeasible' ? plan
          : watchedPlan(plan, (rows) => onDraw(rows, splitOf(facts)));
      },
    };
  };
}

function splitOf({ keys }: StudyFacts): SeenBy {
  if (keys === undefined) return 'nothing';
  if (keys.list === 'public') return 'public keys';
  if (keys.answer === 'groups') return 'keys alone';
  return keys.remember === undefined ? 'discovered keys' : 'remembered keys';
}

function watchedPlan(plan: Plan, onDraw: (rows: readonly SeenRow[]) => void): Plan {
  const rows: SeenRow[] = [];
  return {
    ...plan,
    summary(cohort) {
      const summary = plan.summary(cohort);
      const watched: { -readonly [Key in keyof typeof summary]: (typeof summary)[Key] } = {
        ...summary,
        add(state, row, tag) {
          rows.push({ values: row.slice(), tag });
          return summary.add(state, row, tag);
        },
        // The rows travel with the first state of a slice, and come with it.
        encode: (state) => new StateWriter().block(summary.encode(state))
          .block(rowsToBytes(rows.splice(0))).finish(),
        decode(bytes) {
          const reader = new StateReader(bytes);
          const state = summary.decode(reader.block());
          rows.push(...rowsFromBytes(reader.block()));
          return state;
        },
      };
      // The judge looks at tags also where the estimator does not.
      delete watched.untagged;
      return watched;
    },
    release(...given) {
      onDraw(rows);
      return plan.release(...given);
    },
  };
}

const rowsToBytes = (rows: readonly SeenRow[]): Uint8Array =>
  utf8(JSON.stringify(rows.map(({ values, tag }) => [[...values], String(tag)])));

const rowsFromBytes = (bytes: Uint8Array): readonly SeenRow[] =>
  (JSON.parse(fromUtf8(bytes)) as [number[], string][])
    .map(([values, tag]) => ({ values: Float64Array.from(values), tag: BigInt(tag) }));

export type SimulatedScope = 'study' | 'contributor' | 'population';

export const everyMs = 1_000;

/** What worlds differ in. */
export interface SimulatedFacts {
  readonly scope: SimulatedScope;
  readonly late: 'next' | 'drop';
  readonly epsilon: number;
  /** Default: zcdp. */
  readonly rule?: StudyDocument['budget']['rule'];
  /** Default: a budget that does not renew. */
  readonly perMs?: number;
  /** The study counts, which a study of the pure rule always does. */
  readonly counts?: true;
  /** The study lists questions. Under contributor scope one of them is a running total. */
  readonly lists?: true;
}

/** A budget of the pure rule takes pure noise only. */
const estimators = {
  mean: { spread: new Array<number>(columnCount).fill(1), corruption: 0.05, 'centre-part': 0.2 },
  count: { column: 0, threshold: 0, side: 'at-least' },
};

/** The column that is added up by discovered keys: a cell, so 0 or 1. */
export const summed = 3;

/** The column by whose cells, 0 or 1, people are counted under keys that the study remembers. */
export const remembered = 4;
/** How many keys it remembers. */
export const keysRemembered = 2;

/** How many keys of one contributor count where keys are shown alone: fewer than some have. */
export const keysAlone = 3;

/** A contributor of a running total takes part in one of so many epochs. */
export const separation = 2;

/**
 * Everything as it is; a count by the first cell, which is 0 or 1; the sums of the second cell by
 * the numbers of rows, which nobody listed; a count by the third cell, whose keys are shown
 * again once they were shown; and which numbers of rows many have, without counts.
 */
function listsOf({ scope }: SimulatedFacts, columns: readonly string[]) {
  const question = (name: string, part: number) =>
    ({
      name, part, estimator: 'count', parameters: { side: 'at-least' }, columns: [], where: [],
      reduce: 'one',
    }) as const;
  const types: readonly ColumnType[] = columns.map((_, i) => (i === 1
    ? { type: 'integer', low: 0, high: 1_023 } : i === 2 || i === remembered
      ? { type: 'integer', low: 0, high: 1 } : { type: 'number' }));
  const questions: readonly Question[] = [
    { ...question('rows', 10), estimator: 'mean', parameters: estimators.mean, columns,
      reduce: 'mean' },
    { ...question('halves', 5), by: { columns: [columns[2]!], groupsMax: 2 } },
    { ...question('numbers', 5), estimator: 'sum', parameters: { cap: [1] },
      columns: [columns[summed]!], reduce: 'sum',
      by: { columns: [columns[1]!], groupsMax: rowsMax, discover: { top: 10, prefilter: 1 } } },
    { ...question('shown', 75), by: {
      columns: [columns[remembered]!], groupsMax: 2,
      discover: { top: 3, prefilter: 1, remember: keysRemembered },
    } },
    { ...question('alone', 5), by: {
      columns: [columns[1]!], groupsMax: keysAlone,
      discover: { top: 10, prefilter: 1, answer: 'groups' },
    } },
  ];
  return {
    types, questions, version: 2 as const, contribution: { rowsMax },
    ...(scope === 'contributor' && { running: { separation, questions: ['halves'] } }),
  };
}

function documentOf(name: string, facts: SimulatedFacts): StudyDocument {
  const { scope, late, epsilon, rule = 'zcdp', perMs, counts, lists } = facts;
  const isPure = rule === 'pure';
  const estimator = isPure || counts === true ? 'count' : 'mean';
  const columns = Array.from({ length: columnCount }, (_, i) => `c${i}`);
  const shared: Omit<SharedFacts, 'version'> = {
    study: name,
    columns,
    cohort: 100_000, peopleMax: 100_000,
    participation: 'secret',
    epoch: { everyMs },
    privacy: { epsilon: 1, delta: isPure ? 0 : 1e-6 },
    budget: {
      epsilon, delta: isPure ? 0 : 1e-4, rule, scope,
      ...(perMs !== undefined && { perMs }),
      ...(scope === 'population' && { population: 'everybody' }),
    },
    admission: { kind: 'open' },
    late,
    retention: { kind: 'release' },
  };
  if (lists === true) {
    // So much that a key is shown when four people have it, and a few such releases.
    const privacy = { epsilon: 8, delta: 0.01 };
    const budget = { ...shared.budget, epsilon: 4 * epsilon, delta: 0.4 };
    // The keys of so many people fit half an epoch.
    const people = { cohort: 2_000, peopleMax: 2_000 };
    return { ...shared, ...people, privacy, budget, ...listsOf(facts, columns) };
  }
  return ofShortFacts({
    ...shared, version: 1, contribution: { reduce: 'mean', rowsMax }, estimator,
    parameters: estimators[estimator],
  });
}

const defined = new Map<string, StudyDefinition>();

/** The study of a simulation; the same facts are worked out once. */
export function studyOf(name: string, facts: SimulatedFacts): StudyDefinition {
  const key = `${name} ${JSON.stringify(facts)}`;
  let found = defined.get(key);
  if (found === undefined) defined.set(key, found = defineStudy(documentOf(name, facts)));
  return found;
}
