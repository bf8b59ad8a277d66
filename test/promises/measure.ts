import { makeRows } from '../../bench/accuracy/data.js';
import { chooseWithin } from '../../src/choose.js';
import type { Plan } from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { planWithin } from '../../src/plan.js';
import { targetAlone } from '../../src/privacy/accounting/target.js';
import type { Interval95, ValueOutcome } from '../../src/base/outcome.js';
import { factsOf, planOf, releaseOf } from '../support/offline.js';
import { noiseNameOf, settingsOf, type Cell } from './cells.js';
import { stones } from './stones.js';
import { truthOf, type MadeRows } from './truths.js';

/** What the releases of a cell were. */
export interface Figures {
  /** Median distance of the answers from the truth; null: no release answers. */
  readonly error: number | null;
  /** Share of the releases that answer. */
  readonly answered: number;
  /** Of the intervals with both ends finite, how many hold the truth; null: no such interval. */
  readonly held: number | null;
  /** How many intervals have both ends finite. */
  readonly closed: number;
  /** Share of the intervals that have both ends finite; null: there are no intervals. */
  readonly finite: number | null;
  /** Median width of those; null: there are none. */
  readonly width: number | null;
  /** Median share of the rows left out, as the releases say. */
  readonly removed: number;
}

/** Of a list that is not empty, the lower one of two in the middle. */
export function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[(values.length - 1) >> 1]!;
}

/**
 * The rows of a cell. A line holds whole numbers in one subspace; all other rows have deviation 1
 * in every column.
 */
function rowsOf({ rows, attack, columns, people, corruption }: Cell, seed: number): MadeRows {
  if (rows === 'line') {
    const values = Float64Array.from({ length: people * columns }, (_, at) =>
      (1 + (Math.floor(at / columns) * 7 + seed) % 50) * (1 + at % columns));
    return aboutItself(values, new Float64Array(columns));
  }
  if (rows === 'stones') {
    const { values, mean } = stones(people, seed);
    return aboutItself(values, mean);
  }
  return makeRows(attack, {
    rows, dimension: columns, contributors: people, corruption, seed: `promises ${seed}`,
  });
}

/** Cells with the same name of their rows are about the same rows. */
export const nameOfRows = ({ rows, attack, columns, people, corruption }: Cell): string =>
  [rows, attack, columns, people, corruption].join(' ');

let kept = { name: '', made: new Map<number, MadeRows>() };

/** Makes rows once for cells that follow each other. Nobody may change them. */
function keptRowsOf(cell: Cell, seed: number): MadeRows {
  const name = nameOfRows(cell);
  if (kept.name !== name) kept = { name, made: new Map() };
  const made = kept.made.get(seed) ?? rowsOf(cell, seed);
  kept.made.set(seed, made);
  return made;
}

/** Rows of which nothing is known but themselves. */
function aboutItself(values: Float64Array, mean: Float64Array): MadeRows {
  return {
    values, truth: mean, honestMean: mean, inDeviations: (entries) => Array.from(entries),
  };
}

function* lists(values: Float64Array, columns: number): Generator<Float64Array> {
  for (let at = 0; at < values.length; at += columns) yield values.subarray(at, at + columns);
}

/** The interval that a cell is about: hostile rows have one of their own. */
function intervalOf(cell: Cell, outcome: ValueOutcome): Interval95 | undefined {
  return cell.attack === 'none' ? outcome.interval95 : outcome.intervalIfFalse95;
}

function leftOutOf({ findings = [] }: ValueOutcome): number {
  return findings.find(({ reason }) => reason === 'cluster-apart')?.amounts[0] ?? 0;
}

/** Counts and what is made of them have less noise where they are asked alone. */
const ofCounts: ReadonlySet<string> =
  new Set(['count', 'share', 'histogram', 'median', 'quantile', 'sum', 'ratio']);

/**
 * Those of `ofCounts` are planned as one release alone, as `estimate` does; others as a release of
 * a study. `auto` is what is recommended for a covariance.
 */
function planFor(cell: Cell): Plan {
  const facts = factsOf(cell.columns, cell.people, cell.epsilon);
  if (ofCounts.has(cell.estimator)) {
    const { epsilon, deltaTotal: delta } = facts.target;
    const estimator = findEstimator(cell.estimator);
    const parameters = parseParameters(estimator.parameters, settingsOf(cell), facts);
    const plan =
      planWithin(estimator, parameters, { ...facts, target: targetAlone({ epsilon, delta }) });
    if (plan.kind === 'infeasible') throw new Error(`infeasible: ${plan.reason}`);
    return plan;
  }
  if (cell.estimator !== 'auto') return planOf(cell.estimator, settingsOf(cell), facts);
  const choice = chooseWithin('covariance', settingsOf(cell), facts);
  if (choice.kind !== 'choice') throw new Error(choice.reason);
  return choice.plan;
}

/** Runs every release of a cell. The same cell gives the same figures. */
export async function figuresOf(cell: Cell): Promise<Figures> {
  const plan = planFor(cell);
  const [errors, widths, leftOut]: [number[], number[], number[]] = [[], [], []];
  let [asked, held] = [0, 0];
  for (let seed = 0; seed < cell.seeds; seed++) {
    const made = keptRowsOf(cell, seed);
    const outcome = await releaseOf(
      plan, cell.columns, lists(made.values, cell.columns), `${noiseNameOf(cell)} ${seed}`,
    );
    if (outcome.kind === 'refused') continue;
    const truth = truthOf(cell, made);
    errors.push(truth.errorOf(outcome.estimate));
    leftOut.push(leftOutOf(outcome));
    const interval = intervalOf(cell, outcome);
    if (interval === undefined || truth.numbers === null) continue;
    for (const [j, right] of truth.numbers.entries()) {
      const [low, high] = [interval.low[j]!, interval.high[j]!];
      asked += 1;
      if (!Number.isFinite(low) || !Number.isFinite(high)) continue;
      widths.push((high - low) / truth.unitOf(j));
      if (low <= right && right <= high) held += 1;
    }
  }
  return {
    error: errors.length === 0 ? null : medianOf(errors),
    answered: errors.length / cell.seeds,
    held: widths.length === 0 ? null : held / widths.length,
    closed: widths.length,
    finite: asked === 0 ? null : widths.length / asked,
    width: widths.length === 0 ? null : medianOf(widths),
    removed: leftOut.length === 0 ? 0 : medianOf(leftOut),
  };
}
