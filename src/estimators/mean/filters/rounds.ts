import type { Sensitive } from '../../../base/brands.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { ClipBall } from '../../../privacy/stages/clip.js';
import type { Draws } from '../../pooled/centre.js';
import { momentsOf, type ClippedRows } from '../../pooled/clipped-rows.js';
import { countEvent, squareEvent, sumEvent } from '../../pooled/query-events.js';
import { roundMoments, type RoundMoments } from './weights.js';

/** The first events of every filter round: number, sum and second moments of the rows left. */
export interface MomentEvents {
  readonly count: GaussianEvent;
  readonly sum: GaussianEvent;
  readonly square: SymmetricGaussianEvent;
}

/** @param parts - of rho. Sensitivities: pooled/query-events. */
export function momentEvents(
  name: string, dimension: number, ball: ClipBall, rho: number,
  parts: Readonly<Record<keyof MomentEvents, number>>,
): MomentEvents {
  return {
    count: countEvent(`${name}/count`, shareOf(rho, parts.count)),
    sum: sumEvent(`${name}/sum`, dimension, ball, shareOf(rho, parts.sum)),
    square: squareEvent(`${name}/square`, dimension, ball, shareOf(rho, parts.square)),
  };
}

/** Releases the moments of the rows that are left, and their sums, in spreads. */
export async function releaseMoments(
  { mechanisms, compute }: Draws, events: MomentEvents, rows: Sensitive<ClippedRows>,
  { grid, radius }: ClipBall, countMin: number,
): Promise<{ readonly moments: RoundMoments; readonly sums: Float64Array }> {
  const exact = await rows.mapAsync((left) => momentsOf(compute, left));
  const counts = mechanisms.gaussian(
    events.count.name, exact.map(({ count }) => Float64Array.of(count)),
  ).value;
  const sums = mechanisms.gaussian(
    events.sum.name, exact.map((all) => inSpreads(all.sums, grid)),
  ).value;
  const products = mechanisms.symmetricGaussian(
    events.square.name, exact.map((all) => inSpreads(all.products, grid ** 2)),
  ).value;
  return { moments: roundMoments(counts[0]!, sums, products, radius, countMin), sums };
}

/** A power of two times integers: exact. */
export function inSpreads(steps: Float64Array, unit: number): Float64Array {
  return steps.map((entry) => entry * unit);
}
