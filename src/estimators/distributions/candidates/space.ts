import { ln } from '../../../base/elementary.js';
import { InvalidParameterError } from '../../../base/errors.js';
import { utf8 } from '../../../base/bytes.js';
import type { WorkRandom } from '../../../random/source.js';
import { seededRandom } from '../../../random/work.js';
import { countDenser, type SpaceContestants } from './contests.js';
import { drawIndex, lineDistribution, logOfMixture, normalDraw, sharesOf } from './line.js';
import type { SpaceShape } from './shapes.js';

/** A distribution of rows that a hypothesis names. All of it is public. */
export interface SpaceDistribution {
  /** -Infinity where there is nothing; the same for the same row. */
  logDensity(row: Float64Array): number;
  sample(work: WorkRandom): Float64Array;
}

/** @throws InvalidParameterError when a covariance is not positive definite. */
export function spaceDistribution(shape: SpaceShape, path: string): SpaceDistribution {
  if (shape.kind === 'normal') return normalOf(shape.mean, shape.covariance, path);
  if (shape.kind === 'columns') {
    const columns = shape.columns.map(lineDistribution);
    return {
      logDensity: (row) => columns.reduce((sum, column, j) => sum + column.logDensity(row[j]!), 0),
      sample: (work) => Float64Array.from(columns, (column) => column.sample(work)),
    };
  }
  const weights = sharesOf(shape.weights);
  const parts = shape.parts.map((part) => spaceDistribution(part, path));
  return {
    logDensity: logOfMixture(weights, parts),
    sample: (work) => parts[drawIndex(weights, work)]!.sample(work),
  };
}

function normalOf(
  mean: readonly number[], covariance: readonly (readonly number[])[], path: string,
): SpaceDistribution {
  const d = mean.length;
  const root = lowerRoot(covariance);
  if (root === null) {
    throw new InvalidParameterError(
      `parameters.${path}: covariance is not positive definite: give one whose eigenvalues are `
      + 'above 0',
      { path: `parameters.${path}` },
    );
  }
  let constant = -0.5 * d * ln(2 * Math.PI);
  for (let j = 0; j < d; j++) constant -= ln(root[j * d + j]!);
  const solved = new Float64Array(d);
  return {
    logDensity(row) {
      let squares = 0;
      for (let i = 0; i < d; i++) {
        let rest = row[i]! - mean[i]!;
        for (let j = 0; j < i; j++) rest -= root[i * d + j]! * solved[j]!;
        solved[i] = rest / root[i * d + i]!;
        squares += solved[i]! ** 2;
      }
      // A row so far out that its square is no double is nowhere likely.
      return squares < Infinity ? constant - squares / 2 : -Infinity;
    },
    sample(work) {
      const [row, z] = [new Float64Array(d), new Float64Array(d)];
      for (let i = 0; i < d; i++) {
        z[i] = normalDraw(work);
        row[i] = mean[i]!;
        for (let j = 0; j <= i; j++) row[i]! += root[i * d + j]! * z[j]!;
      }
      return row;
    },
  };
}

/** The lower triangular root (Cholesky), row-major, or null. */
function lowerRoot(matrix: readonly (readonly number[])[]): Float64Array | null {
  const d = matrix.length;
  const root = new Float64Array(d * d);
  for (let i = 0; i < d; i++) {
    for (let j = 0; j <= i; j++) {
      let rest = matrix[i]![j]!;
      for (let k = 0; k < j; k++) rest -= root[i * d + k]! * root[j * d + k]!;
      if (i === j && !(rest > 0)) return null;
      root[i * d + j] = i === j ? Math.sqrt(rest) : rest / root[j * d + j]!;
    }
  }
  return root;
}

const workMaximum = 1e8;

/**
 * Points per hypothesis that the probabilities of contests are counted on: as many as a few seconds
 * allow.
 */
export function pointsPerHypothesis(hypotheses: number): number {
  return Math.min(8192, Math.max(1000, Math.floor(workMaximum / hypotheses ** 2)));
}

/** Draws the points, always the same ones, and counts on them. */
export function spaceContestants(
  distributions: readonly SpaceDistribution[], dimension: number,
): SpaceContestants {
  const m = distributions.length;
  const points = pointsPerHypothesis(m);
  const densities = (row: Float64Array, into: Float64Array): void => {
    for (let i = 0; i < m; i++) into[i] = distributions[i]!.logDensity(row);
  };
  const work = seededRandom(utf8('points of hypotheses'));
  const wins = new Float64Array(m * m);
  const losses = new Float64Array(m * m);
  for (let from = 0; from < m; from++) {
    const drawn = new Float64Array(points * dimension);
    for (let s = 0; s < points; s++) drawn.set(distributions[from]!.sample(work), s * dimension);
    const denser = countDenser({ hypotheses: m, densities }, drawn, points, dimension);
    for (let k = from + 1; k < m; k++) wins[from * m + k] = denser[from * m + k]! / points;
    for (let i = 0; i < from; i++) losses[i * m + from] = denser[i * m + from]! / points;
  }
  return { hypotheses: m, densities, wins, losses };
}
