import { isUnbounded } from '../../base/findings.js';
import type { Finding, Interval95, Outcome, ValueOutcome } from '../../base/outcome.js';
import type { Released, Sensitive } from '../../base/brands.js';
import { privateAtoms, type Atom } from '../../privacy/stages/atoms.js';
import { privateSpreadOn, type ColumnSpread } from '../../privacy/stages/spread.js';
import type { PooledRows } from '../contract/estimator.js';
import type { Draws } from './centre.js';
import type { PrivateSpread } from './spread-choice.js';

/** Facts about the columns before the centre is found: public, or released with the spread. */
export interface FoundColumns {
  /** The spread that normal rows with the same median difference have. Data units. */
  readonly medianSpread: Float64Array;
  /** Columns in which many rows have exactly the same value. */
  readonly discrete: readonly boolean[];
  /**
   * Columns of which nearly all rows have one value: it, and the number of rows in one octave of
   * distance below which rows that differ are not seen. Null for all other columns. The unit of
   * such a column is so large that all rows are at one place in it.
   */
  readonly oneValue: readonly (OneValue | null)[];
  /** Columns with one value in nearly all rows, where noise hides how far out the others are. */
  readonly endUnseen: readonly boolean[];
}

/** The one value that nearly all rows have in a column. */
export interface OneValue {
  readonly value: number;
  readonly unseenBelow: number;
}

/** The facts about columns of which only the spread is known. */
export function knownColumns(spread: Float64Array): FoundColumns {
  return {
    medianSpread: spread,
    discrete: Array.from(spread, () => false),
    oneValue: Array.from(spread, () => null),
    endUnseen: Array.from(spread, () => false),
  };
}

/** `failed`: nothing shows the spread of these columns. */
export type FoundUnits =
  | { readonly kind: 'found'; readonly spread: Float64Array; readonly columns: FoundColumns }
  | { readonly kind: 'failed'; readonly coordinates: readonly number[] };

/** The unit of a column in which nearly all rows have one value, unless they are larger. */
const hugeUnit = 2 ** 400;

/**
 * Finds the spread of every column: from pairs (privacy/stages/spread), and where most pairs are
 * equal also from the distances to the commonest value (privacy/stages/atoms). Which columns those
 * are is released before, so the stages compose adaptively.
 */
export async function findUnits(
  { mechanisms, compute }: Draws, rows: Sensitive<PooledRows>, dimension: number,
  { pairing, atoms: events }: PrivateSpread,
): Promise<Released<FoundUnits>> {
  const found = await privateSpreadOn(compute, mechanisms, rows, pairing);
  const { columns } = found.value;
  const asked = columns.flatMap((column, j) => (column?.isMostlyEqual ?? true ? [j] : []));
  if (asked.length === 0) return found.map(() => unitsOf(columns, new Map()));
  const { corruption } = pairing;
  return privateAtoms(mechanisms, rows, dimension, asked, events, corruption).map((atoms) =>
    unitsOf(columns, new Map(atoms.map((atom, i) => [asked[i]!, atom]))));
}

function unitsOf(
  columns: readonly (ColumnSpread | null)[], atoms: ReadonlyMap<number, Atom>,
): FoundUnits {
  const units = columns.map((column, j) => unitOf(column, atoms.get(j)));
  const coordinates = units.flatMap((unit, j) => (unit === null ? [j] : []));
  if (coordinates.length > 0) return { kind: 'failed', coordinates };
  return {
    kind: 'found',
    spread: Float64Array.from(units, (unit) => unit!.spread),
    columns: {
      medianSpread: Float64Array.from(units, (unit) => unit!.medianSpread),
      discrete: columns.map((column) => column?.isDiscrete ?? true),
      oneValue: units.map((unit) => unit!.oneValue),
      endUnseen: units.map((unit) => unit!.endUnseen),
    },
  };
}

interface FoundUnit {
  readonly spread: number;
  readonly medianSpread: number;
  readonly oneValue: OneValue | null;
  readonly endUnseen: boolean;
}

/** Null when nothing shows the unit of a column. */
function unitOf(
  column: ColumnSpread | null, atom: Atom | undefined,
): FoundUnit | null {
  if (atom?.kind === 'spread') {
    const spread = Math.max(atom.spread, column?.spread ?? 0);
    return { spread, medianSpread: spread, oneValue: null, endUnseen: !atom.isEndSeen };
  }
  if (column !== null) return { ...column, oneValue: null, endUnseen: false };
  if (atom?.kind !== 'one-value') return null;
  const { value, unseenBelow } = atom;
  const spread = Math.max(hugeUnit, Math.abs(value));
  return { spread, medianSpread: spread, oneValue: { value, unseenBelow }, endUnseen: false };
}

const ofFarRows: ReadonlySet<string> = new Set(['end-unseen', 'cluster-far', 'interval-assumes']);

/**
 * The mean, with what the columns are: a column of one value is answered by it. It has no interval,
 * since how far the unseen rows stand nobody knows; nor has a column whose end is not seen. A
 * column without an interval always has a finding that says why. Post-processing.
 * @param outcome - of an estimator with one number for each column.
 */
export function withColumns(
  outcome: Outcome, { discrete, oneValue, endUnseen }: FoundColumns,
): Outcome {
  if (outcome.kind === 'refused') return outcome;
  const where = (isIn: (j: number) => boolean): readonly number[] =>
    Array.from(oneValue.keys()).filter(isIn);
  const several = where((j) => discrete[j]! && oneValue[j] === null);
  const { interval95 } = outcome;
  // A histogram means nothing for far rows where the unit is that of one value.
  const isOpen = (j: number): boolean => oneValue[j] !== null || endUnseen[j]!;
  const own = (outcome.findings ?? []).filter(({ reason, columns }) => {
    const about = columns.length === 0 ? where(() => true) : columns;
    return !(ofFarRows.has(reason) && about.every((j) => oneValue[j] !== null)
      || reason === 'interval-assumes' && about.every(isOpen));
  });
  // The interval also has no ends where the histogram of distances shows none (pooled/radius).
  // A release that knows how many people noise hides has said so itself.
  const isSaid = own.some(({ reason, amounts }) => reason === 'end-unseen' && amounts[1] === 0);
  const unseen = where((j) => !isSaid && (endUnseen[j]! || (oneValue[j] === null
    && interval95 !== undefined && isUnbounded(interval95.low[j]!, interval95.high[j]!))));
  const found: Finding[] = [
    ...(several.length === 0
      ? [] : [{ reason: 'discrete', columns: several, amounts: [] } as const]),
    ...oneValueFindings(oneValue),
    ...(unseen.length === 0
      ? [] : [{ reason: 'end-unseen', columns: unseen, amounts: [] } as const]),
  ];
  if (found.length === 0) return outcome;
  return {
    ...withoutIntervals(withOneValues(outcome, oneValue), isOpen),
    findings: [...own, ...found],
  };
}

/** One finding for each column of which nearly all rows have one value. */
export function oneValueFindings(oneValue: FoundColumns['oneValue']): readonly Finding[] {
  return oneValue.flatMap((one, j): Finding[] => (one === null ? [] : [{
    reason: 'mostly-one-value', columns: [j], amounts: [one.value, one.unseenBelow],
  }]));
}

function withOneValues(
  outcome: ValueOutcome, oneValue: readonly (OneValue | null)[],
): ValueOutcome {
  if (oneValue.every((one) => one === null)) return outcome;
  const { estimate, uncertainty, spread } = outcome;
  const zeroed = (list: readonly number[]): number[] =>
    list.map((entry, j) => (oneValue[j] === null ? entry : 0));
  return {
    ...outcome,
    estimate: estimate.map((entry, j) => oneValue[j]?.value ?? entry),
    uncertainty: uncertainty.kind !== 'gaussian' ? uncertainty
      : { kind: 'gaussian', standardDeviation: zeroed(uncertainty.standardDeviation) },
    ...(spread === undefined ? {} : { spread: zeroed(spread) }),
  };
}

function withoutIntervals(
  outcome: ValueOutcome, isUnknown: (column: number) => boolean,
): ValueOutcome {
  const unbounded = ({ low, high }: Interval95): Interval95 => ({
    low: low.map((end, j) => (isUnknown(j) ? -Infinity : end)),
    high: high.map((end, j) => (isUnknown(j) ? Infinity : end)),
  });
  const { interval95, intervalIfFalse95 } = outcome;
  return {
    ...outcome,
    ...(interval95 === undefined ? {} : { interval95: unbounded(interval95) }),
    ...(intervalIfFalse95 === undefined
      ? {} : { intervalIfFalse95: unbounded(intervalIfFalse95) }),
  };
}
