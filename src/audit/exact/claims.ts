import { amountUnit, type Amount } from '../../privacy/accounting/amount.js';
import { deltaOfZcdp } from '../../privacy/accounting/conversion.js';
import type { PrivacyCost } from '../../privacy/accounting/cost.js';
import {
  add, divide, fraction, multiply, ofDouble, subtract, surelyAbove, toNumber, unit, type Interval,
} from './interval.js';
import { hockeyStick, renyi, type Law } from './law.js';

/** The result of one case. */
export interface CaseResult {
  readonly name: string;
  readonly contents: number;
  readonly pairs: number;
  /** The largest share of rho that a pair uses. */
  readonly share: number;
  /** The largest mass that a pair leaves out. */
  readonly tail: number;
  readonly faults: readonly string[];
}

/** How two laws compare with a claimed cost. */
export interface Comparison {
  /** Ways in which the laws are surely further apart than the claim allows; empty if none. */
  readonly faults: readonly string[];
  /** The largest share of rho that was measured: 1 says that it is used up. */
  readonly share: number;
  /** The largest mass that was left out; it would add to delta. */
  readonly tail: number;
}

/** Orders of the Renyi divergences that are compared. The first is 1 + 2^-7. */
const orders = [1.0078125, 1.5, 2, 3, 5];
const epsilons = [0, 0.5, 1, 2];
/** A tail above this would hide too much: then nothing was shown. */
const tailMaximum = fraction(1n, 1n << 40n);

/** An amount of the ledger. */
export function ofAmount(amount: Amount): Interval {
  return fraction(amount, amountUnit);
}

/**
 * Compares the laws of neighbours with a cost, in both directions: Renyi divergences of several
 * orders with rho and delta; the hockey-stick divergence at the pure epsilon with 0; and
 * hockey-stick divergences at several epsilons with the deltas that the conversion of rho reports.
 *
 * A comparison fails only if the interval of the divergence lies above that of the claim. The
 * intervals are far narrower than 2^-64, the unit of the ledger.
 * @param removed - outcomes, by their text, that the claim pays for with its delta.
 */
export function compareLaws(
  left: Law, right: Law, cost: PrivacyCost, removed?: (key: string) => boolean,
): Comparison {
  const faults: string[] = [];
  let [share, tail] = [0, 0];
  const [rho, delta] = [ofAmount(cost.rho), ofAmount(cost.delta)];
  for (const [one, other] of [[left, right], [right, left]] as const) {
    for (const order of orders) {
      const found = renyi(one, other, order, removed);
      const allowed = multiply(ofDouble(order), rho);
      tail = Math.max(tail, toNumber(found.tail));
      share = Math.max(share, toNumber(divide(found.divergence, allowed)));
      if (surelyAbove(found.divergence, allowed)) {
        faults.push(`the divergence of order ${order} is `
          + `${toNumber(found.divergence)}, and ${toNumber(allowed)} was charged`);
      }
      if (surelyAbove(found.removed, delta)) {
        faults.push(`outcomes that only delta covers have probability ${toNumber(found.removed)}, `
          + `and ${toNumber(delta)} was charged`);
      }
      if (surelyAbove(found.tail, tailMaximum)) {
        faults.push(`outcomes of one side alone have probability ${toNumber(found.tail)}`);
      }
    }
    if (cost.epsilon !== null) {
      const excess = hockeyStick(one, other, ofAmount(cost.epsilon));
      if (excess.low > 0n) {
        faults.push(`beyond epsilon ${toNumber(ofAmount(cost.epsilon))} is probability `
          + `${toNumber(excess)}`);
      }
    }
    faults.push(...sticks(one, other, cost));
  }
  return { faults: [...new Set(faults)], share, tail };
}

/** Where the (epsilon, delta) that a report would state is too small. */
function sticks(left: Law, right: Law, cost: PrivacyCost): readonly string[] {
  const rho = toNumber(ofAmount(cost.rho)) * (1 + 2 ** -50);
  const delta = ofAmount(cost.delta);
  return epsilons.flatMap((epsilon) => {
    const stated =
      add(delta, multiply(subtract(unit, delta), ofDouble(deltaOfZcdp(rho, epsilon))));
    const found = hockeyStick(left, right, ofDouble(epsilon));
    return surelyAbove(found, stated)
      ? [`at epsilon ${epsilon} delta is ${toNumber(found)}, and ${toNumber(stated)} was stated`]
      : [];
  });
}
