import { gaussianVector } from '../data/gaussian.js';
import type { AttackContext, RowAttack } from './contract.js';

/** A new array with `change(value, column)` of every entry. */
function mapped(
  rows: Float64Array, columns: number, change: (value: number, column: number) => number,
): Float64Array {
  return rows.map((value, i) => change(value, i % columns));
}

/** The direction that the hostile contributors share: a uniform point of the unit sphere. */
function agreedDirection({ columns, shared }: AttackContext): Float64Array {
  const vector = gaussianVector(columns, shared.fork('direction'));
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/**
 * Every column moves by `strength` spreads: the whole hostile group is one tight cloud beside the
 * honest one.
 */
export const shift: RowAttack = {
  name: 'shift',
  title: 'all move together by some spreads in every column; tests removal of a coordinated group',
  defaultStrength: 4,
  apply: (rows, { columns, spread, strength }) =>
    mapped(rows, columns, (value, column) => value + strength * spread[column]!),
};

/**
 * All move together by `strength` spreads along one secret direction. So in high dimension no
 * single column looks unusual.
 */
export const direction: RowAttack = {
  name: 'direction',
  title: 'all move together along one secret direction; tests defences that look at one column at '
    + 'a time',
  defaultStrength: 4,
  apply(rows, context) {
    const unit = agreedDirection(context);
    const { columns, spread, strength } = context;
    return mapped(rows, columns, (value, column) =>
      value + strength * spread[column]! * unit[column]!);
  },
};

/** All rows become one point, `strength` spreads from the centre in the agreed direction. */
const onePoint: RowAttack['apply'] = (rows, context) => {
  const unit = agreedDirection(context);
  const { columns, centre, spread, strength } = context;
  return mapped(rows, columns, (_, column) =>
    centre[column]! + strength * spread[column]! * unit[column]!);
};

/**
 * All rows are one point, `strength` spreads away: enough to move any unclipped mean arbitrarily
 * far.
 */
export const far: RowAttack = {
  name: 'far',
  title: 'one point very far out; tests clipping, and overflow in sums of squares',
  defaultStrength: 1e6,
  apply: onePoint,
};

/**
 * Rows stay inside the honest cloud, but all on its upper side: each value is reflected about the
 * centre. No outlier test can detect one of them. The bias that remains is the one that theory
 * allows.
 */
export const inliers: RowAttack = {
  name: 'inliers',
  title: 'within the cloud, all on one side; measures the bias that no defence can remove',
  defaultStrength: 1,
  apply: (rows, { columns, centre, strength }) =>
    mapped(rows, columns, (value, column) =>
      centre[column]! + strength * Math.abs(value - centre[column]!)),
};

/**
 * Independent noise of `strength` spreads, as from broken sensors: no bias on average, but a large
 * spread.
 */
export const noise: RowAttack = {
  name: 'noise',
  title: 'independent wide noise, as from broken sensors; tests that spread alone does not spoil '
    + 'the answer',
  defaultStrength: 10,
  apply(rows, { columns, spread, strength, own }) {
    const noises = gaussianVector(rows.length, own);
    return rows.map((value, i) => value + strength * spread[i % columns]! * noises[i]!);
  },
};

/** One column moves by `strength` spreads, the same for all; the others stay honest. */
export const coordinate: RowAttack = {
  name: 'coordinate',
  title: 'one column moves, the others stay honest; tests that a defence looks at each column too',
  defaultStrength: 4,
  apply(rows, { columns, spread, strength, shared }) {
    const chosen = Math.floor(shared.fork('coordinate').uniform() * columns);
    return mapped(rows, columns, (value, column) =>
      (column === chosen ? value + strength * spread[column]! : value));
  },
};

/**
 * All rows are one point inside the honest cloud. They are closer to each other than honest rows
 * ever are. So a defence that keeps the rows with the nearest neighbours (Krum and similar ones)
 * keeps them.
 */
export const krumEvader: RowAttack = {
  name: 'krum-evader',
  title: 'one point inside the honest cloud; tests defences that trust what lies close together',
  defaultStrength: 1,
  apply: onePoint,
};

/**
 * Moves by `strength` more spreads in every epoch, along one direction. So rows are never far from
 * those of the last epoch.
 */
export const slowDrift: RowAttack = {
  name: 'slow-drift',
  title: 'a little further in every epoch; tests defences that learn where rows lie from earlier '
    + 'answers',
  defaultStrength: 0.25,
  apply(rows, context) {
    const unit = agreedDirection(context);
    const { columns, spread, strength, age } = context;
    return mapped(rows, columns, (value, column) =>
      value + (age + 1) * strength * spread[column]! * unit[column]!);
  },
};

/** One person with many keys, who sends the same with all of them. */
export const sybil: RowAttack = {
  name: 'sybil',
  title: 'one person with many keys, all saying the same; only admission bounds how many there are',
  defaultStrength: 2,
  apply(rows, { columns, centre, spread, strength, shared }) {
    const said = gaussianVector(columns, shared.fork('person'))
      .map((value) => Math.sign(value) * strength);
    return mapped(rows, columns, (_, column) => centre[column]! + said[column]! * spread[column]!);
  },
};

/** NaN and infinities in place of numbers. The server must refuse the batch and continue. */
export const notFinite: RowAttack = {
  name: 'nan',
  title: 'NaN and infinities; tests that one bad value neither counts nor spreads',
  defaultStrength: 1,
  unchecked: true,
  apply(rows, { own }) {
    const bad = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    const chosen = Math.floor(own.uniform() * rows.length);
    const changed = rows.slice();
    changed[chosen] = bad[Math.floor(own.uniform() * bad.length)]!;
    return changed;
  },
};
