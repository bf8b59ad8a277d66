import type { RobustNormal } from '../../../robust/normal-of-rows.js';

/**
 * A check that rows are about normal, from robust groups. A group's variance is that of the normal
 * law that has the median length of its rows. Rows of another law have another variance, up to
 * twice as large, which no interval of normal rows holds. In each column a group says which share
 * of its rows is farther out than nine in ten normal rows. The groups' shares are added up, with
 * noise.
 *
 * Claim. Neighbours: the estimate of one group replaced, gone or new. The sums change by at most
 * `beyondMost` sqrt(dimension) in L2, and are multiples of `beyondStep`. Why: each share is a
 * function of its group alone, is cut at `beyondMost`, a multiple of the step, and rounded to one.
 */
export const beyondMost = 0.25;
export const beyondStep = 2 ** -10;

/** @param dimension - planned: sums past the rank of the rows are 0. */
export function sumsBeyond(estimates: readonly RobustNormal[], dimension: number): Float64Array {
  const sums = new Float64Array(dimension);
  for (const { beyond } of estimates) {
    beyond.forEach((share, j) => {
      sums[j]! += Math.round(Math.min(share, beyondMost) / beyondStep) * beyondStep;
    });
  }
  return sums;
}

/** A fit to few rows of one column adds this to the tenth, in rows; of more columns, far less. */
const ofFewRows = 0.4;
/** The shares of simulated normal groups of 20 rows and more, 1 to 10 columns, were within .004. */
const slack = 0.01;
const noiseDeviations = 3;

/**
 * True if the groups' mean shares are ones that normal rows can have, with hostile ones among them.
 * Post-processing. It finds columns that are uniform or have a few values. It misses a skewed or
 * long-tailed column whose share hostile rows could also have caused: that of an exponential column
 * beside others is larger by .03, as much as is allowed where 2 % are planned to be hostile. Normal
 * rows alone are refused where noise takes it all: 8 deviations at 24,000 people and epsilon 2.
 * @param sums - released, for each column. @param groups - released, positive.
 */
export function areNormal(
  sums: Float64Array, { sigma, groups, rowsPerGroup, corruption }: {
    readonly sigma: number; readonly groups: number; readonly rowsPerGroup: number;
    readonly corruption: number;
  },
): boolean {
  const usual = 0.1 + ofFewRows / (sums.length ** 2 * rowsPerGroup);
  const allowed = slack + corruption + (noiseDeviations * sigma) / groups;
  return sums.every((sum) => Math.abs(sum / groups - usual) <= allowed);
}
