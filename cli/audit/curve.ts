import { provedAt, type Claim, type KnownNoise } from '../../src/audit/index.js';
import type { Plan } from '../../src/estimators/contract/estimator.js';
import { formatNumber } from '../base/output.js';
import { claimAt } from './claim.js';

/** The claimed epsilon at a delta, and the epsilon that exact losses prove there. */
export interface CurvePoint {
  readonly delta: number;
  readonly claimed: number;
  readonly proved: number;
}

/** Deltas of the curve, besides the claim's own. */
const deltas = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9];
const width = 40;

/**
 * Epsilon against delta: for each delta the claim, by the cost of the events alone, and the bound.
 * Deltas for which the events' own delta leaves no room are left out.
 */
export function curveOf(
  plan: Plan, events: readonly string[] | null, claim: Claim, { curve }: KnownNoise,
): readonly CurvePoint[] {
  const all = [...new Set([...deltas, ...(claim.delta > 0 ? [claim.delta] : [])])]
    .sort((one, other) => other - one);
  return all.flatMap((delta): CurvePoint[] => {
    const claimed = delta === claim.delta ? claim.epsilon : claimAt(plan, events, delta);
    return claimed === null ? [] : [{ delta, claimed, proved: provedAt(curve, delta) }];
  });
}

/** Rows of a chart: `=` up to the bound, `-` up to the claim, both on one scale. */
export function chartOf(points: readonly CurvePoint[]): readonly (readonly string[])[] {
  const most = Math.max(...points.flatMap(({ claimed, proved }) => [claimed, proved]));
  const columns = (epsilon: number): number => Math.round((width * epsilon) / most);
  const text = (epsilon: number): string => formatNumber(Number(epsilon.toPrecision(3)));
  return points.map(({ delta, claimed, proved }) => [
    formatNumber(delta), text(claimed), text(proved),
    '='.repeat(columns(proved)).padEnd(columns(claimed), '-'),
  ]);
}
