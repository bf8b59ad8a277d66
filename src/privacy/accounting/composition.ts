import { InvalidParameterError } from '../../base/errors.js';
import { canonicalJson } from '../../base/canonical-json.js';
import { checkObject } from '../../base/given.js';
import { amountAtLeast, type Amount, type Ratio, ratioOfDouble } from './amount.js';
import type { ArmComposition, PrivacyCost } from './cost.js';
import type {
  AffineMaskEvent, LaplaceEvent, MechanismEvent, WishartMaskEvent,
} from './events.js';
import { checkEvents, placeInMenu } from './event-check.js';
import { halfSquareOf } from './gaussian-curve.js';
import { rhoOfLaplace } from './laplace-rho.js';
import { maskDivergence } from './masking.js';

/**
 * The exact cost of events. Every number of an event is a double, so it is a dyadic rational. Every
 * formula below but one is rational in these numbers, and only the total is rounded, once, up. The
 * rho of Laplace noise is rounded up before, by about 2^-190.
 *
 * Neighbours: one contributor's row is replaced by anything, including nothing.
 * Unit: (rho, delta), delta-approximate rho-zCDP (Bun and Steinke 2016, definition 8.1), pure
 * epsilon if every event is pure, and half a squared mu if every event has one. All of them add up
 * under adaptive composition.
 * If one of the events is a mask, there is no rho. Then the divergences at the mask's order add up.
 * An event of rho zCDP has divergence a rho at order a, outside the event's delta (Mironov 2017).
 */
interface ExactCost {
  readonly rho: Ratio;
  readonly delta: Ratio;
  /** Null when the event is not pure. */
  readonly epsilon: Ratio | null;
  /** Half a squared mu; null when the event has none. */
  readonly gaussian: Ratio | null;
  /** Renyi divergence at the order of the masks; 0 if there are no masks. */
  readonly divergence: Ratio;
}

const nothing: Ratio = { numerator: 0n, denominator: 1n };
const noCost: ExactCost = {
  rho: nothing, delta: nothing, epsilon: nothing, gaussian: nothing, divergence: nothing,
};

function ratio(numerator: bigint, denominator: bigint): Ratio {
  // Doubles have denominators that are powers of two, so a shift keeps sums of many events short.
  let [top, bottom] = [numerator, denominator];
  while ((top & 0xffn) === 0n && (bottom & 0xffn) === 0n && bottom > 0xffn && top !== 0n) {
    top >>= 8n;
    bottom >>= 8n;
  }
  return { numerator: top, denominator: bottom };
}

function add(left: Ratio, right: Ratio): Ratio {
  if (left.numerator === 0n) return right;
  if (right.numerator === 0n) return left;
  if (left.denominator === right.denominator) {
    return ratio(left.numerator + right.numerator, left.denominator);
  }
  return ratio(
    left.numerator * right.denominator + right.numerator * left.denominator,
    left.denominator * right.denominator,
  );
}

function larger(left: Ratio, right: Ratio): Ratio {
  return left.numerator * right.denominator >= right.numerator * left.denominator ? left : right;
}

function quotient(top: number, bottom: number): Ratio {
  const [over, under] = [ratioOfDouble(top), ratioOfDouble(bottom)];
  return ratio(over.numerator * under.denominator, over.denominator * under.numerator);
}

function product(left: Ratio, right: Ratio): Ratio {
  return ratio(left.numerator * right.numerator, left.denominator * right.denominator);
}

/** factor * (top / bottom)^2 / divisor. */
function scaledSquare(top: number, bottom: number, factor: bigint, divisor: bigint): Ratio {
  const over = ratioOfDouble(top);
  const under = ratioOfDouble(bottom);
  const numerator = over.numerator * under.denominator;
  const denominator = over.denominator * under.numerator;
  return ratio(factor * numerator * numerator, divisor * denominator * denominator);
}

/**
 * The exact cost of one event.
 * - gaussian, symmetric-gaussian: sensitivity^2 / (2 sigma^2), for discrete noise as for
 *   continuous.
 * - laplace: epsilon = sensitivity / scale, and rho by laplace-rho.
 * - gaussian-threshold: sensitivity^2 / (2 sigma^2), and the delta that set the threshold.
 * - gaussian-histogram: in each coordinate two counts change by 1, so coordinates * 2 / (2
 *   sigma^2).
 * - group-histogram: at most 2 groupsMax counts change by 1, so 2 groupsMax / (2 sigma^2).
 * - group-weights: the weights of a contributor have L2 norm at most 1 before and after, and none
 *   is below 0. So the squared distance is at most 2, and the cost 2 / (2 sigma^2).
 * - group-sums: let r be 1 / sigma^2, and R be values / sumsSigma^2. A key that the contributor
 *   keeps costs 4 R / 2, and one that it gains or loses (r + R) / 2. There are j of the one kind
 *   and at most 2 (groupsMax - j) of the other, so the cost is at most groupsMax (R + the larger of
 *   R and r).
 * - exponential: `times` * epsilon, and `times` * epsilon^2 / 8, since its log-ratios have a range
 *   of epsilon.
 */
function zcdpOfEvent(
  event: Exclude<MechanismEvent, MaskEvent>,
): Omit<ExactCost, 'gaussian' | 'divergence'> {
  switch (event.kind) {
    case 'gaussian':
    case 'symmetric-gaussian':
      return {
        rho: scaledSquare(event.sensitivity, event.sigma, 1n, 2n), delta: nothing, epsilon: null,
      };
    case 'laplace': {
      const epsilon = quotient(event.sensitivity, event.scale);
      return { rho: rhoOfLaplace(epsilon, stepsOf(event)), delta: nothing, epsilon };
    }
    case 'gaussian-threshold':
      return {
        rho: scaledSquare(event.sensitivity, event.sigma, 1n, 2n),
        delta: ratioOfDouble(event.delta),
        epsilon: null,
      };
    case 'gaussian-histogram':
      return {
        rho: scaledSquare(1, event.sigma, BigInt(event.coordinates), 1n),
        delta: ratioOfDouble(event.delta),
        epsilon: null,
      };
    case 'group-histogram':
      return {
        rho: scaledSquare(1, event.sigma, BigInt(event.groupsMax), 1n),
        delta: ratioOfDouble(event.delta),
        epsilon: null,
      };
    case 'group-weights':
      return {
        rho: scaledSquare(1, event.sigma, 1n, 1n), delta: ratioOfDouble(event.delta), epsilon: null,
      };
    case 'group-sums': {
      const { groupsMax, values, sigma, sumsSigma } = event;
      const sums = scaledSquare(1, sumsSigma, BigInt(groupsMax) * BigInt(values), 1n);
      const counts = scaledSquare(1, sigma, BigInt(groupsMax), 1n);
      return {
        rho: add(sums, larger(sums, counts)), delta: ratioOfDouble(event.delta), epsilon: null,
      };
    }
    case 'exponential': {
      const epsilon = ratioOfDouble(event.epsilon);
      return {
        rho: scaledSquare(event.epsilon, 1, BigInt(event.times), 8n),
        delta: nothing,
        epsilon: ratio(epsilon.numerator * BigInt(event.times), epsilon.denominator),
      };
    }
  }
}

/** The grid in scales. */
function stepsOf({ grid, scale }: LaplaceEvent): Ratio {
  return quotient(grid, scale);
}

type MaskEvent = WishartMaskEvent | AffineMaskEvent;

/** True for noise that has a cost at one Renyi order only. */
export function isMask(event: MechanismEvent): event is MaskEvent {
  return event.kind === 'wishart-mask' || event.kind === 'affine-mask';
}

/** The exact cost of one event, with its divergence at `order` unless that is null. */
function costOfEvent(event: MechanismEvent, order: number | null): ExactCost {
  if (isMask(event)) {
    return {
      rho: nothing, delta: nothing, epsilon: null, gaussian: null,
      divergence: ratioOfDouble(maskDivergence(event)),
    };
  }
  const cost = zcdpOfEvent(event);
  return {
    ...cost, gaussian: halfSquareOf(event), divergence: divergenceOf(cost.rho, order),
  };
}

/** At the order of masks; 0 if there are none. */
function divergenceOf(rho: Ratio, order: number | null): Ratio {
  return order === null ? nothing : product(rho, ratioOfDouble(order));
}

function combine(
  left: ExactCost, right: ExactCost, rule: (left: Ratio, right: Ratio) => Ratio,
): ExactCost {
  return {
    rho: rule(left.rho, right.rho),
    delta: rule(left.delta, right.delta),
    epsilon: ofBoth(left.epsilon, right.epsilon, rule),
    gaussian: ofBoth(left.gaussian, right.gaussian, rule),
    divergence: rule(left.divergence, right.divergence),
  };
}

/**
 * The cost of all events. Within an arm, costs add up; of a menu of keyed events (`costsOfMenus`)
 * those of one choice count. Arms in `disjoint` share no contributor, and the data do not decide
 * which of them a contributor is in. So a neighbour changes only one of them, and together they
 * cost the largest rho and the largest delta among them. All other arms add up.
 * @throws InvalidParameterError when an event is malformed, two events share a name, or masks have
 *   different orders.
 */
export function costOfEvents(
  events: readonly MechanismEvent[], arms: ArmComposition,
): PrivacyCost {
  checkEvents(events);
  checkObject(arms, 'the second argument is { disjoint }, names of arms');
  const order = orderOf(events);
  const byCohort = new Map<string, ExactCost>();
  const charge = (cohort: string, cost: ExactCost): void => {
    byCohort.set(cohort, combine(byCohort.get(cohort) ?? noCost, cost, add));
  };
  for (const event of events) {
    if (event.keyed === undefined) charge(event.cohort, costOfEvent(event, order));
  }
  for (const { cohort, cost } of costsOfMenus(events, order)) charge(cohort, cost);
  const disjoint = new Set(arms.disjoint);
  let parallel = noCost;
  let total = noCost;
  for (const [cohort, cost] of byCohort) {
    if (disjoint.has(cohort)) parallel = combine(parallel, cost, larger);
    else total = combine(total, cost, add);
  }
  total = combine(total, parallel, add);
  return {
    rho: amountAtLeast(total.rho),
    delta: amountAtLeast(total.delta),
    epsilon: total.epsilon === null ? null : amountAtLeast(total.epsilon),
    gaussian: total.gaussian === null ? null : amountAtLeast(total.gaussian),
    ...(order !== null && { renyi: { order, amount: amountAtLeast(total.divergence) } }),
  };
}

/**
 * The cost of each menu of keyed events, from the dearest choice for one key.
 *
 * Claim. Neighbours: one contributor's rows, in at most K of the m keys, are replaced by rows in at
 * most K keys, or by none. Let a key's events cost r whatever happens to one row of the key, and a
 * if the row only comes or goes. All keys together cost the largest j r + min(2 (K - j), m - j) a
 * over j in 0..min(K, m); rho, delta, epsilon, squared mu and divergence alike. That is min(2 K, m)
 * r where a is r, and K max(r, 2 a) where m is at least 2 K.
 * Why: the list of keys and the choice for each key are public or released before. So the keys draw
 * independently, each from its own rows. Only keys in which the contributor is before or after
 * differ. Let j keys have it on both sides: each costs r. It is on one side only in at most K - j
 * others before and K - j others after, at most m - j together: each costs a. These costs add up.
 * The choices of one menu exclude each other for a key (`createMechanisms` checks it), so r and a
 * are the largest costs of a choice, in each unit.
 */
function costsOfMenus(
  events: readonly MechanismEvent[], order: number | null,
): { readonly cohort: string; readonly cost: ExactCost }[] {
  const menus = new Map<string, Menu>();
  for (const event of events) {
    if (event.keyed === undefined) continue;
    const { keys, groupsMax } = event.keyed;
    const { menu, choice } = placeInMenu(event.name);
    const place = canonicalJson([event.cohort, menu]);
    const found = menus.get(place) ?? { cohort: event.cohort, factors: [], both: [], one: [] };
    found.factors.push(...factorsOf(keys, groupsMax));
    const cost = costOfEvent(event, order);
    found.both[choice] = combine(found.both[choice] ?? noCost, cost, add);
    found.one[choice] = combine(
      found.one[choice] ?? noCost, costOfPresence(event, order, cost), add,
    );
    menus.set(place, found);
  }
  return [...menus.values()].map(({ cohort, factors, both, one }) => {
    const largest = (costs: readonly ExactCost[]): ExactCost =>
      costs.reduce((left, right) => combine(left, right, larger), noCost);
    const [r, a] = [largest(both), largest(one)];
    return {
      cohort,
      cost: largest(factors.map(([kept, moved]) =>
        combine(r, a, (left, right) => add(times(left, kept), times(right, moved))))),
    };
  });
}

interface Menu {
  readonly cohort: string;
  /** Where the cost may be largest: keys with the contributor on both sides, and on one. */
  readonly factors: (readonly [both: number, one: number])[];
  /** For each choice, the cost of one key with the contributor on both sides, and on one. */
  readonly both: ExactCost[];
  readonly one: ExactCost[];
}

/**
 * The cost is linear in j up to 2 K - m, where it rises since a is at most r, and linear from
 * there on. So it is largest at that j, or at the largest.
 */
function factorsOf(keys: number, groupsMax: number): readonly (readonly [number, number])[] {
  const most = Math.min(groupsMax, keys);
  return [Math.min(most, Math.max(0, 2 * groupsMax - keys)), most]
    .map((j) => [j, Math.min(2 * (groupsMax - j), keys - j)] as const);
}

/**
 * The cost of a row that only comes or goes. It moves the values by a share of the sensitivity:
 * epsilon is proportional to that, and rho to its square, but for Laplace noise, whose rho is
 * computed anew. Delta is not lowered.
 */
function costOfPresence(event: MechanismEvent, order: number | null, cost: ExactCost): ExactCost {
  const share = ratioOfDouble(event.presence ?? 1);
  const lowered = (amount: Ratio): Ratio => product(amount, share);
  const epsilon = cost.epsilon === null ? null : lowered(cost.epsilon);
  const gaussian = cost.gaussian === null ? null : halfSquareOf(event, event.presence);
  if (event.kind === 'laplace') {
    const rho = rhoOfLaplace(epsilon!, stepsOf(event));
    return { rho, delta: cost.delta, epsilon, gaussian, divergence: divergenceOf(rho, order) };
  }
  return {
    rho: lowered(lowered(cost.rho)),
    delta: cost.delta,
    epsilon,
    gaussian,
    divergence: lowered(lowered(cost.divergence)),
  };
}

function times({ numerator, denominator }: Ratio, factor: number): Ratio {
  return ratio(numerator * BigInt(factor), denominator);
}

/** The order of the masks; null if there are none. */
function orderOf(events: readonly MechanismEvent[]): number | null {
  const orders = [...new Set(events.filter(isMask).map(({ order }) => order))];
  if (orders.length > 1) {
    throw new InvalidParameterError(
      'masks of one release state their divergence at one order', { orders },
    );
  }
  return orders[0] ?? null;
}

/** The sum of two costs. Neither is known at one Renyi order only. */
export function plusCost(left: PrivacyCost, right: PrivacyCost): PrivacyCost {
  const sum = (one: Amount, other: Amount): Amount => (one + other) as Amount;
  return {
    rho: sum(left.rho, right.rho),
    delta: sum(left.delta, right.delta),
    epsilon: ofBoth(left.epsilon, right.epsilon, sum),
    gaussian: ofBoth(left.gaussian, right.gaussian, sum),
  };
}

/** A cost that is known where it is known on both sides. */
function ofBoth<T>(left: T | null, right: T | null, rule: (left: T, right: T) => T): T | null {
  return left === null || right === null ? null : rule(left, right);
}

/**
 * True if `cost` is within both limits, compared in ledger units (2^-64, both rounded up). A cost
 * without a zCDP figure never is.
 */
export function chargeFits(
  cost: PrivacyCost, limit: { readonly rho: number; readonly delta: number },
): boolean {
  checkObject(cost, 'cost is the cost of a plan or of its events');
  checkObject(limit, 'the limit is { rho, delta }');
  return cost.renyi === undefined && cost.rho <= roundedUp(limit.rho)
    && cost.delta <= roundedUp(limit.delta);
}

function roundedUp(value: number): Amount {
  return amountAtLeast(ratioOfDouble(value));
}
