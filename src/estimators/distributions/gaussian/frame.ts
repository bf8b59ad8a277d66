import type { Released, Sensitive } from '../../../base/brands.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import { slotOf } from '../../../privacy/stages/spread.js';
import type { PooledRows } from '../../contract/estimator.js';
import { multipleOfUnit } from '../../covariance/moments/matrices.js';
import { basisOfLabel, Echelon } from '../../covariance/subspace/echelon.js';
import { projectorOf, ratio } from '../../covariance/subspace/projector.js';
import { stepsMax } from '../../covariance/subspace/summary.js';
import type { FrameDesign } from './design.js';

/**
 * Coordinates of an affine subspace: rank orthonormal rows of length dimension, and a point of it.
 */
export interface Frame {
  readonly dimension: number;
  readonly rank: number;
  readonly basis: Float64Array;
  readonly origin: Float64Array;
}

/** The coordinates of the whole space. */
export function wholeFrame(dimension: number): Frame {
  return {
    dimension, rank: dimension, basis: multipleOfUnit(dimension, 1),
    origin: new Float64Array(dimension),
  };
}

/**
 * The affine subspace that most groups of rows span, exactly; null when none leads by enough.
 *
 * Claim. Neighbours: one row replaced by anything, including nothing, or added. Cost: that of the
 * event.
 * Why: a row's group is a function of its tag. A group's label is a function of its own rows and
 * number. It is the affine span of the rows, as a text of whole numbers and fractions in lowest
 * terms; entries are rounded to whole units once, and nothing is rounded after. Where rows say
 * nothing, the label is the group's number. So one label of a fixed number of labels changes, and
 * privacy/mechanisms/mode gives the cost. Offset and directions are one label, so the offset costs
 * nothing more.
 */
export function privateFrame(
  mechanisms: Mechanisms, pool: Sensitive<PooledRows>, dimension: number,
  { event, groups, unit }: FrameDesign,
): Released<Frame | null> {
  const labels = pool.map((rows) => labelsOf(rows, groups, unit));
  return mechanisms.mode(event.name, labels).map((label) =>
    (label === null ? null : frameOf(label, dimension, unit)));
}

/** One label per group. Exported for its tests. */
export function labelsOf(
  { count, dimension, values, tags }: PooledRows, groups: number, unit: number,
): string[] {
  const labels = Array.from({ length: groups }, (_, group) => `${silent}${group}`);
  let row = 0;
  while (row < count) {
    const group = slotOf(tags[row]!, groups);
    const members: bigint[][] = [];
    for (; row < count && slotOf(tags[row]!, groups) === group; row++) {
      const steps = Array.from(values.subarray(row * dimension, (row + 1) * dimension), (entry) =>
        Math.round(entry / unit));
      if (steps.every((entry) => Math.abs(entry) <= stepsMax)) {
        members.push(steps.map((entry) => BigInt(entry)));
      }
    }
    // A group of one row knows a point, which must not look like a subspace that others find.
    if (members.length > 1) labels[group] = affineLabel(members, dimension);
  }
  return labels;
}

const silent = '!';

/** Two sets of rows have the same text exactly when they have the same affine span. */
function affineLabel(rows: readonly (readonly bigint[])[], dimension: number): string {
  const [origin] = rows;
  const echelon = new Echelon(dimension);
  for (const row of rows) echelon.add(row.map((entry, j) => entry - origin![j]!));
  return `${echelon.label()}|${pointAtPivots(origin!, echelon.basis()).map(([over, under]) =>
    `${over.toString(36)}/${under.toString(36)}`).join(' ')}`;
}

/**
 * The one point of origin + span whose entries in the pivot columns are zero, as fractions in
 * lowest terms.
 */
function pointAtPivots(
  origin: readonly bigint[], basis: readonly (readonly bigint[])[],
): readonly (readonly [bigint, bigint])[] {
  const pivots = basis.map((row) => row.findIndex((entry) => entry !== 0n));
  const common = basis.reduce((product, row, i) => product * row[pivots[i]!]!, 1n);
  return origin.map((entry, j) => {
    const over = basis.reduce((sum, row, i) =>
      sum - origin[pivots[i]!]! * row[j]! * (common / row[pivots[i]!]!), entry * common);
    const divisor = greatestDivisor(over < 0n ? -over : over, common);
    return [over / divisor, common / divisor] as const;
  });
}

function greatestDivisor(left: bigint, right: bigint): bigint {
  let [a, b] = [left, right];
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

/** Post-processing of a released label. */
function frameOf(label: string, dimension: number, unit: number): Frame | null {
  if (label.startsWith(silent)) return null;
  const [directions = '', point = ''] = label.split('|');
  const rows = basisOfLabel(directions);
  const rank = rows.length;
  const { vectors } = ownKernels().eigenSymmetric(projectorOf(rows, dimension), dimension);
  // Eigenvalues ascend: those of the span come last.
  const basis = vectors.slice((dimension - rank) * dimension);
  const origin = Float64Array.from(point.split(' '), (fraction) => {
    const [[over], [under]] = basisOfLabel(fraction.replace('/', ';')) as [[bigint], [bigint]];
    return ratio(over, under) * unit;
  });
  return { dimension, rank, basis, origin };
}

/** Rows in the coordinates of a frame: a function of each row alone. */
export function rowsInFrame(
  rows: PooledRows, { dimension, rank, basis, origin }: Frame,
): PooledRows {
  if (rank === dimension) return rows;
  const moved = rows.values.map((entry, at) => entry - origin[at % dimension]!);
  const columns = new Float64Array(dimension * rank);
  for (let k = 0; k < rank;
      k++) for (let j = 0; j < dimension; j++) columns[j * rank + k] = basis[k * dimension + j]!;
  const values = ownKernels().product(moved, columns, rows.count, dimension, rank);
  return { ...rows, dimension: rank, values };
}

/** The rows extended by zeros, for events that were planned before the rank was known. */
export function paddedRows({ count, dimension, values }: RowBlock, wanted: number): RowBlock {
  if (dimension === wanted) return { count, dimension, values };
  const whole = new Float64Array(count * wanted);
  for (let row = 0; row < count;
      row++) whole.set(values.subarray(row * dimension, (row + 1) * dimension), row * wanted);
  return { count, dimension: wanted, values: whole };
}

/**
 * A map from frame coordinates into data space (dimension x rank, row-major) after a square one
 * between the former.
 */
export function outOfFrame({ dimension, rank, basis }: Frame, square: Float64Array): Float64Array {
  if (rank === dimension) return square;
  const outward = new Float64Array(dimension * rank);
  for (let k = 0; k < rank;
      k++) for (let j = 0; j < dimension; j++) outward[j * rank + k] = basis[k * dimension + j]!;
  return ownKernels().product(outward, square, dimension, rank, rank);
}
