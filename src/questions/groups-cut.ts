import { assert } from '../base/assert.js';
import { Sensitive } from '../base/brands.js';
import { findingsMax } from '../base/findings.js';
import type { Finding, Outcome, ValueOutcome } from '../base/outcome.js';
import { groupsCutName } from '../base/public-keys.js';
import { withIntervals } from '../estimators/contract/outcomes.js';
import { outsideShare, reportedFromOf } from '../estimators/contract/outside.js';
import type { Plan, Reach } from '../estimators/contract/estimator.js';
import { countNoise } from '../estimators/counts/tables/count-noise.js';
import { costOfEvents, plusCost } from '../privacy/accounting/composition.js';
import { epsilonOfApproximateZcdp } from '../privacy/accounting/conversion.js';
import type { PrivacyCost } from '../privacy/accounting/cost.js';
import type { MechanismEvent } from '../privacy/accounting/events.js';
import { resolvePureTarget, shareOf, type PrivacyTarget } from '../privacy/accounting/target.js';
import type { Mechanisms } from '../privacy/mechanisms/contract.js';

/**
 * The noisy number of contributors who had more than `groupsMax` keys, in one release or
 * several.
 */
export interface CutPeople {
  readonly noisy: number;
  /** How many releases it adds up. */
  readonly releases: number;
}

/** How a question counts the contributors who lose keys, and what its answer says of them. */
export interface GroupsCut {
  readonly event: MechanismEvent;
  readonly standardDeviation: number;
  /** A noisy number of one release is reported when it is above this. */
  readonly reportedFrom: number;
  readonly cost: PrivacyCost;
  /** @param contributors - the exact number. */
  draw(mechanisms: Mechanisms, contributors: number): CutPeople;
  /**
   * The answer in the light of that number: post-processing.
   * @param reach - of the plan of the answer.
   */
  withCut(outcome: Outcome, people: CutPeople, reach: Plan['reach']): Outcome;
}

/**
 * The noisy number of contributors who lost keys because only `groupsMax` of them count.
 *
 * Claim. Neighbours: one contributor's rows replaced by anything or by nothing. It costs at most
 * `outsideShare` of the question's rho, no delta; or of its pure epsilon.
 * Why: whether a contributor has more than `groupsMax` keys follows from its own rows. So it adds 0
 * or 1 to the number, which moves by at most 1. It gets noise of sensitivity 1 (count-noise), drawn
 * once and beside the answer, so its cost adds to that of the answer's plan.
 *
 * Claim of accuracy. Where the number stands out of its noise, the intervals hold for all pairs of
 * a person and a key, with at least 95 %, if the numbers have a `reach`. Otherwise they are open.
 * Why: let N people lose keys, and let the answer count a number c where all pairs give c + b. One
 * person is left out of a number at most once, so -N down <= b <= N up. With noise X of deviation s
 * on c and Y of deviation t on N, an end that is 1.96 s away is moved by up (N + Y + 1.96 t). It
 * misses c + b only if X + up Y < -1.96 (s + up t). That is at most as likely as a normal variable
 * being 1.96 of its deviations below 0, since that of X + up Y is at most s + up t. Ends of Laplace
 * noise are 3.0 of its scales away, and the same holds for their sum.
 * Nobody is reported in 999 of 1,000 releases in which nobody loses keys. Where fewer people do
 * than `reportedFrom`, it may not be seen, and the intervals are about the pairs that count.
 * @param target - what the whole question may cost.
 */
export function planGroupsCut(target: PrivacyTarget, groupsMax: number): GroupsCut {
  const noise =
    countNoise({ name: groupsCutName, counts: 1, l1: 1, l2: 1, target, share: outsideShare });
  // No cohort of the answer: their costs always add up.
  const event = { ...noise.event, cohort: groupsCutName };
  const reportedFrom = reportedFromOf(1, noise);
  const [half] = noise.interval95([0]).high;
  return {
    event, reportedFrom,
    standardDeviation: noise.standardDeviation,
    cost: costOfEvents([event], { disjoint: [] }),
    draw(mechanisms, contributors) {
      const exact = Sensitive.of(Float64Array.of(contributors));
      return { noisy: noise.draw(mechanisms, exact).value[0]!, releases: 1 };
    },
    withCut(outcome, { noisy, releases }, reach) {
      const spread = Math.sqrt(releases);
      if (outcome.kind === 'refused' || noisy <= spread * reportedFrom) return outcome;
      const finding: Finding =
        { reason: 'groups-cut', columns: [], amounts: [noisy, spread * half!, groupsMax] };
      return {
        ...withEndsMoved(outcome, noisy + spread * half!, reach),
        findings: [finding, ...(outcome.findings ?? [])].slice(0, findingsMax),
      };
    },
  };
}

/** @param people - left out of a number, at most. */
function withEndsMoved(
  outcome: ValueOutcome, people: number,
  reach: readonly Reach[] = [{ down: Infinity, up: Infinity }],
): ValueOutcome {
  const of = (place: number): Reach => reach[place % reach.length]!;
  return withIntervals(outcome, ({ low, high }) => ({
    low: low.map((end, place) => end - people * of(place).down),
    high: high.map((end, place) => end + people * of(place).up),
  }));
}

/** The part of a target that is left for the answer itself. */
export function besideGroupsCut(target: PrivacyTarget): PrivacyTarget {
  assert(target.isAlone !== true, 'a target alone is not divided');
  const { delta, deltaTotal } = target;
  if (target.isPure === true) {
    // A plan may pass a pure target by a factor of 1 + 2^-40; see planWithin.
    const epsilon = shareOf(target.epsilon, 1 - outsideShare) * (1 - 2 ** -39);
    return resolvePureTarget({ epsilon, delta: deltaTotal });
  }
  const rho = shareOf(target.rho, 1 - outsideShare);
  return { ...target, rho, epsilon: epsilonOfApproximateZcdp(rho, delta, deltaTotal) };
}

/** The plan of the answer with the draw and the cost of the count. */
export function withGroupsCut(
  plan: Plan, { event, cost, standardDeviation, reportedFrom }: GroupsCut,
): Plan {
  return {
    ...plan,
    events: [...plan.events, event],
    cost: plusCost(plan.cost, cost),
    facts: {
      ...plan.facts, noiseOfGroupsCut: standardDeviation, groupsCutReportedFrom: reportedFrom,
    },
  };
}
