import type { Released, Sensitive } from '../../../base/brands.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import { slotOf } from '../../../privacy/stages/scale.js';
import { normalOfRows, type RobustNormal } from '../../../robust/normal-of-rows.js';
import type { PooledRows } from '../../contract/estimator.js';
import type { BoundedMoments } from '../../covariance/covariance/bounded.js';
import { flooredAt, mapOfRounds } from '../../covariance/moments/preconditioner.js';
import { leadingBlock, padded, product, transposed } from '../../covariance/moments/matrices.js';
import type { GroupCovarianceDesign } from './group-design.js';

/**
 * Variance after the map, below which nothing was resolved: what is lower is answered as this much.
 */
const leastMoment = 2 ** -10;

/**
 * Robust estimates of groups of rows. A row's group is a function of its tag, and a group's
 * estimate of its rows: so a row replaced, gone or added changes one estimate, removes it or adds
 * it. Groups without an estimate are left out.
 * @param groups - from the public cohort, never from the rows present.
 */
export function estimatesOf(
  { count, dimension, values, tags }: PooledRows, groups: number,
): readonly RobustNormal[] {
  const found: RobustNormal[] = [];
  let first = 0;
  for (let row = 1; row <= count; row++) {
    if (row < count && slotOf(tags[row]!, groups) === slotOf(tags[first]!, groups)) continue;
    const own = values.subarray(first * dimension, row * dimension);
    const estimate = normalOfRows({ count: row - first, dimension, values: own });
    if (estimate !== null) found.push(estimate);
    first = row;
  }
  return found;
}

/**
 * The sum over groups of B B^T, B = matrix factor, each scaled down to Frobenius norm at most
 * `radius`. A product B B^T is positive semidefinite but for the last digits of its own size,
 * however far apart the variances are.
 */
export function sumOfMatrices(
  estimates: readonly RobustNormal[], matrix: Float64Array, dimension: number, radius: number,
): Float64Array {
  const sum = new Float64Array(dimension ** 2);
  for (const { factor } of estimates) {
    const root = product(matrix, factor, dimension);
    const whole = product(root, transposed(root, dimension), dimension);
    const norm = Math.hypot(...whole);
    // A norm that is no number belongs to this group alone, which then says nothing.
    if (!Number.isFinite(norm)) continue;
    const scale = norm > radius ? radius / norm : 1;
    for (let at = 0; at < sum.length; at++) sum[at]! += whole[at]! * scale;
  }
  return sum;
}

/**
 * Second moments of groups: the rounds of covariance/preconditioner and the last moments after
 * them, both of group matrices in place of rows.
 *
 * Claim: what the events of `design` cost, for one group's estimate replaced, gone or new: the
 * number of groups changes by at most 1, each sum as `groupCovarianceDesign` says, for every map,
 * hence for released ones.
 */
export async function privateGroupMoments(
  mechanisms: Mechanisms, estimates: Sensitive<readonly RobustNormal[]>, dimension: number,
  design: GroupCovarianceDesign & { readonly varianceHigh: number },
): Promise<Released<BoundedMoments>> {
  const { count, rounds, final, radius, varianceHigh, groupsNeeded } = design;
  const counted = mechanisms.gaussian(count.name, estimates.map((list) =>
    Float64Array.of(list.length)));
  const present = counted.value[0]!;
  if (present < groupsNeeded) return counted.map(() => ({ kind: 'too-few-pairs' }));
  const draw = (matrix: Float64Array, event: string): Promise<Released<Float64Array>> => {
    const sums = estimates.map((list) =>
      padded(sumOfMatrices(list, matrix, dimension, radius), dimension, final.dimension));
    return Promise.resolve(mechanisms.symmetricGaussian(event, sums));
  };
  const map = await mapOfRounds({
    events: rounds, rank: dimension, varianceHigh, pairs: present, draw,
  });
  const last = await draw(map.matrix, final.name);
  return last.map((total) => {
    const mean = leadingBlock(total, final.dimension, dimension).map((entry) => entry / present);
    return {
      kind: 'moments', ...map, moments: flooredAt(mean, dimension, leastMoment).floored,
      pairs: present,
    };
  });
}

/** Group means as rows. */
export function meansOf(estimates: readonly RobustNormal[], dimension: number): RowBlock {
  const values = new Float64Array(estimates.length * dimension);
  estimates.forEach(({ mean }, i) => { values.set(mean, i * dimension); });
  return { count: estimates.length, dimension, values };
}
