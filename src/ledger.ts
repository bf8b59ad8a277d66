import { InvalidParameterError } from './base/errors.js';
import { checkObject } from './base/given.js';
import { checkParticipation } from './estimators/contract/given.js';
import type { Infeasible, Participation, PrivacyTarget } from './estimators/contract/estimator.js';
import {
  amountAtLeast, amountOf, amountToNumber, amountUnit, ratioOfDouble, type Amount,
} from './privacy/accounting/amount.js';
import {
  admits, chargeUnder, freshBalance, plusCharge, releasesThatFit, type Balance, type Charge,
} from './privacy/accounting/budget.js';
import { orderForApproximateZcdp, rhoOfPure } from './privacy/accounting/conversion.js';
import type { PrivacyCost } from './privacy/accounting/cost.js';
import { epsilonOfSpent } from './privacy/accounting/spent.js';
import {
  capsOf, epsilonRange, privacyTarget, resolvePureTarget, type BudgetCaps, type Statement,
} from './privacy/accounting/target.js';

/**
 * A ledger has one budget for all answers about some data, whoever asks and however often.
 *
 * Claim: whatever is asked after seeing earlier answers, all answers that a ledger pays for are
 * together (epsilon, delta)-DP, for the neighbours that its answers have in common.
 * Source: the claim of `accounting/budget`, which is that of a study's budget as well, and the
 * filter of one Renyi order (Feldman and Zrnic 2021).
 * Why: `charge` returns true only for an entry that fits by `admits` after all entries that count
 * before it, under caps that are fixed when the ledger is made. It is called before the first draw
 * of the answer, with the cost of the plan that is then run, and no entry is ever taken back. Costs
 * follow from public facts, so that neither the entries nor a refusal depend on the rows.
 *
 * The sum beside that of pure epsilons holds all answers, pure or not. An answer counts there for
 * the smaller of its rho and its pure epsilon over `order`, a fixed order a > 1. Its divergence at
 * this order is at most a rho, and at most its pure epsilon, since that bounds divergences of every
 * order. So the divergence of all answers is at most a rhoCap. That is (epsilon, delta)-DP, as a is
 * the order by which the conversion of rhoCap is within epsilon (accounting/conversion).
 */
export interface Ledger {
  readonly terms: LedgerTerms;
  readonly caps: LedgerCaps;
  /** The charges that count, oldest first. */
  entries(): readonly LedgerEntry[];
  /**
   * Charges an answer. What it charges stays charged, also if the answer is never drawn.
   * @returns false when it does not fit. Then it does not count.
   */
  charge(entry: LedgerEntry): boolean;
}

/** The caps of a ledger. */
export interface LedgerCaps extends BudgetCaps {
  /** Absent without a delta, and in a ledger of before there was one: answers count by rho. */
  readonly order?: number;
}

/** The facts that a ledger is made with. All of them are public. */
export interface LedgerTerms {
  /** The name of the data. Nothing compares it with the data themselves. */
  readonly data: string;
  /** The budget, from 1e-6 to 100; 1 to 10 is usual. */
  readonly epsilon: number;
  /** Far below 1 / people; 0 for a budget of pure epsilons. */
  readonly delta: number;
  /** `secret`: each answer must protect whether a person takes part. */
  readonly participation: Participation;
  /** The column with the ids of people. Absent: every row is one person. */
  readonly contributor?: string;
}

/** One charge. */
export interface LedgerEntry {
  /** The estimator, or a study and its questions. */
  readonly answer: string;
  /** The statement that was asked for. */
  readonly asked: Statement;
  readonly charge: Charge;
  /** The data sets that the answer makes hard to tell apart. */
  readonly neighbours: string;
  /** ISO 8601; absent where nobody has a clock. */
  readonly at?: string;
}

/** A summary of a ledger, for people. */
export interface LedgerState {
  readonly data: string;
  readonly answers: number;
  /** The epsilon of all answers so far at `delta`, and the most that it may be. */
  readonly epsilon: { readonly spent: number; readonly budget: number };
  readonly delta: number;
  /** How many more counts of this epsilon it pays for, each asked with this delta. */
  readonly counts: { readonly epsilon: number; readonly delta: number; readonly left: number };
  /** The largest epsilon of one more count; 0 if there is none. */
  readonly epsilonLeft: number;
}

const nameBytesMost = 200;

/** @throws InvalidParameterError for terms that make no ledger. */
export function ledgerCaps(terms: LedgerTerms): LedgerCaps {
  checkObject(terms, 'the terms of a ledger are { data, epsilon, delta, participation }');
  const { data, epsilon, delta, participation, contributor = 'id' } = terms;
  checkParticipation(participation);
  for (const [name, text] of Object.entries({ data, contributor })) {
    if (typeof text === 'string' && /^[^\p{Cc}]+$/u.test(text) && text.length <= nameBytesMost) {
      continue;
    }
    throw new InvalidParameterError(
      `${name} is a name of 1 to ${nameBytesMost} characters on one line`, { name });
  }
  if (delta === 0) return capsOf({ epsilon, delta, rule: 'pure' });
  const order = orderForApproximateZcdp(epsilon, delta / 2, delta);
  return { ...capsOf({ epsilon, delta, rule: 'zcdp' }), order };
}

/** A ledger that ends with its process. */
export function memoryLedger(terms: LedgerTerms): Ledger {
  const caps = ledgerCaps(terms);
  const entries: LedgerEntry[] = [];
  return {
    terms, caps,
    entries: () => [...entries],
    charge(entry) {
      const after = plusCharge(spentOf(caps, entries), countedCharge(caps, entry.charge));
      const fits = admits(limitsOf(caps), after);
      if (fits) entries.push(entry);
      return fits;
    },
  };
}

const limitsOf = ({ rhoCap, deltaCap, pureCap }: BudgetCaps) =>
  ({ rho: rhoCap, delta: deltaCap, pure: pureCap });

const nothing: Charge = { rho: amountOf(0), delta: amountOf(0), pure: amountOf(0) };

const sumOf = (charges: readonly Charge[]): Charge => charges.reduce(plusCharge, nothing);

/** A charge as it counts in the sums of a ledger: the claim of `Ledger`. */
export function countedCharge({ order }: LedgerCaps, charge: Charge): Charge {
  if (order === undefined || charge.pure === null) return charge;
  const { numerator, denominator } = ratioOfDouble(order);
  const atOrder = amountAtLeast({
    numerator: charge.pure * denominator, denominator: amountUnit * numerator,
  });
  return { ...charge, rho: atOrder < charge.rho ? atOrder : charge.rho };
}

function spentOf(caps: LedgerCaps, entries: readonly LedgerEntry[]): Charge {
  return sumOf(entries.map(({ charge }) => countedCharge(caps, charge)));
}

/** The entries that count: each that fits after those before it that do. */
export function countingEntries<Entry extends LedgerEntry>(
  caps: LedgerCaps, entries: readonly Entry[],
): readonly Entry[] {
  let spent = nothing;
  return entries.filter(({ charge }) => {
    const after = plusCharge(spent, countedCharge(caps, charge));
    const fits = admits(limitsOf(caps), after);
    if (fits) spent = after;
    return fits;
  });
}

/**
 * The target of one answer. Its events may have the part of the delta left that it takes of the rho
 * left, so that delta does not run out first. Less of either than `asked` allows keeps the answer
 * within `asked`.
 * @throws InvalidParameterError for numbers out of range, or a delta where the ledger has none.
 */
export function targetUnder(ledger: Ledger, asked: Statement): PrivacyTarget {
  const { terms, caps } = ledger;
  if (asked.delta === 0) return resolvePureTarget(asked);
  if (terms.delta > 0) {
    const spent = spentOf(caps, ledger.entries());
    const [rho, delta] = [leftOf(caps.rhoCap, spent.rho), leftOf(caps.deltaCap, spent.delta)];
    const half = privacyTarget(asked);
    const deltaChargeable = Math.min(half.delta, delta * Math.min(1, half.rho / rho));
    const target = privacyTarget({ ...asked, deltaChargeable });
    return half.rho <= rho && target.rho > rho ? { ...target, rho } : target;
  }
  throw new InvalidParameterError(
    `the ledger of ${terms.data} has delta 0, so each answer must have: leave delta out`,
    { delta: asked.delta });
}

/** A double that is at most what is left, and at least 0. */
function leftOf(cap: Amount, spent: Amount): number {
  return spent >= cap ? 0 : (Number(cap - spent) / Number(amountUnit)) * (1 - 2 ** -50);
}

/** The cost of an answer, for `payFrom`. */
export interface LedgerAsk extends Pick<LedgerEntry, 'answer' | 'asked'> {
  readonly participation: Participation;
  /** The neighbours of the plans. */
  readonly neighbours: string;
  /** The costs of its plans. Several are about different people each. */
  readonly costs: readonly PrivacyCost[];
  /** The costs within another target; null where there is no plan. For the remedy. */
  again(this: void, target: PrivacyTarget): readonly PrivacyCost[] | null;
}

/**
 * Charges an answer before it is drawn.
 *
 * Claim: plans about different people cost as much as the largest of them in each amount.
 * Why: neighbours differ in one person, who is in one of them and stays there, so that only its
 * plan sees the difference; which one it is, nobody needs to know.
 * @returns null when it is charged, else why not and what would fit. Nothing is charged then.
 * @throws InvalidParameterError when the answer would protect less than the ledger promises.
 */
export function payFrom(ledger: Ledger, ask: LedgerAsk): Infeasible | null {
  const { answer, asked, neighbours, costs } = ask;
  const { data, participation } = ledger.terms;
  if (participation === 'secret' && ask.participation === 'public') {
    throw new InvalidParameterError(
      `the ledger of ${data} protects who takes part, and this answer would not: ask with `
      + 'participation "secret" and the public number of contributors (cohort)');
  }
  const charge = chargeOf(ledger.caps, costs);
  if (charge === null) {
    return {
      kind: 'infeasible',
      reason: `a ledger ${ledger.terms.delta === 0 ? 'with delta 0 ' : ''}cannot hold the cost of `
        + `the noise of ${answer}`,
      remedy: 'choose another estimator; "keelson estimators" lists them',
    };
  }
  if (ledger.charge({ answer, asked, charge, neighbours })) return null;
  return refusal(ledger, ask, charge);
}

/** The charge of plans about different people; null where the rule cannot express it. */
function chargeOf({ rule }: BudgetCaps, costs: readonly PrivacyCost[]): Charge | null {
  const isHeld = costs.every(({ renyi, epsilon, delta }) =>
    renyi === undefined && (rule.rule !== 'pure' || (epsilon !== null && delta === 0n)));
  if (!isHeld) return null;
  return costs.map((cost) => chargeUnder(rule, cost)).reduce((left, right) => ({
    rho: larger(left.rho, right.rho), delta: larger(left.delta, right.delta),
    pure: left.pure === null || right.pure === null ? null : larger(left.pure, right.pure),
  }));
}

const larger = (left: Amount, right: Amount): Amount => (left > right ? left : right);

function refusal(ledger: Ledger, ask: LedgerAsk, charge: Charge): Infeasible {
  const { caps, terms } = ledger;
  const entries = ledger.entries();
  const spent = spentOf(caps, entries);
  const most = largestEpsilon(caps, spent, ask.asked.epsilon, (epsilon) => {
    const costs = ask.again(targetUnder(ledger, { ...ask.asked, epsilon }));
    return costs === null ? null : chargeOf(caps, costs);
  });
  return {
    kind: 'infeasible',
    reason: `the ledger of ${terms.data} does not pay for this answer: epsilon ${shown(epsilonOf(ledger, entries))} of `
      + `${terms.epsilon} is spent at delta ${terms.delta}, and this answer would cost ${
        caps.rule.rule === 'pure' ? 'epsilon' : 'rho'} ${
        shown(amountToNumber(countedCharge(caps, charge).rho))} more`,
    remedy: most === 0
      ? 'no answer of this kind fits any more; what was released may be used further at no cost'
      : `it pays for this answer with epsilon ${most} or less`,
  };
}

const [stepsDown, rounds] = [30, 6];

/**
 * The largest epsilon, in two digits and up to `most`, whose charge fits; 0 if none was found. It
 * is looked for from above, since far below there are no plans.
 */
function largestEpsilon(
  caps: LedgerCaps, spent: Charge, most: number, chargeAt: (epsilon: number) => Charge | null,
): number {
  const limits = limitsOf(caps);
  const fits = (epsilon: number): boolean => {
    const charge = chargeAt(epsilon);
    return charge !== null && admits(limits, plusCharge(spent, countedCharge(caps, charge)));
  };
  let [low, high] = [most, most];
  for (let step = 0; step < stepsDown && !fits(low); step++) [low, high] = [low * 0.75, low];
  for (let round = 0; round < rounds; round++) {
    const middle = (low + high) / 2;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  const rounded = roundedDown(low);
  return rounded >= epsilonRange.atLeast && fits(rounded) ? rounded : 0;
}

function roundedDown(value: number): number {
  const near = Number(value.toPrecision(2));
  return near <= value ? near : Number((value * 0.95).toPrecision(2));
}

const shown = (value: number): string => String(Number(value.toPrecision(3)));

/**
 * The summary of a ledger.
 * @param epsilon - of the counts that are still to be asked. Default: of the newest answer; a tenth
 *   of the budget where there is none.
 */
export function ledgerState(ledger: Ledger, epsilon?: number): LedgerState {
  const { terms, caps } = ledger;
  const entries = ledger.entries();
  const spent = spentOf(caps, entries);
  const each = epsilon ?? entries.at(-1)?.asked.epsilon
    ?? Math.max(terms.epsilon / 10, epsilonRange.atLeast);
  return {
    data: terms.data,
    answers: entries.length,
    epsilon: { spent: epsilonOf(ledger, entries), budget: terms.epsilon },
    delta: terms.delta,
    counts: { epsilon: each, ...countsLeft(ledger, spent, each) },
    epsilonLeft: Math.max(...countCharges(ledger).map(({ charge }) =>
      largestEpsilon(caps, spent, terms.epsilon, charge))),
  };
}

/**
 * The epsilon of answers, never below the true one: that of all of them, or the pure epsilons of
 * those that are pure beside that of the others. The second bound holds since the privacy loss of
 * pure answers is never more than the sum of their epsilons.
 */
function epsilonOf({ caps, terms }: Ledger, entries: readonly LedgerEntry[]): number {
  const charges = entries.map(({ charge }) => charge);
  const of = (some: readonly Charge[]): number => {
    const { rho, delta, pure } = sumOf(some);
    return epsilonOfSpent(caps.rule, rho, delta, terms.delta, pure);
  };
  const others = of(charges.filter(({ pure }) => pure === null));
  const { pure } = sumOf(charges.filter((charge) => charge.pure !== null));
  return Math.min(of(charges), (others + amountToNumber(pure!)) * (1 + 2 ** -50));
}

function countsLeft(
  ledger: Ledger, { rho, delta, pure }: Charge, epsilon: number,
): Omit<LedgerState['counts'], 'epsilon'> {
  const balance: Balance = {
    ...freshBalance(ledger.caps), rhoSpent: rho, deltaSpent: delta, pureSpent: pure,
  };
  const ways = countCharges(ledger).map(({ charge, ...way }) => {
    const counted = countedCharge(ledger.caps, charge(epsilon));
    return { ...way, left: releasesThatFit(balance, counted).count };
  });
  return ways.reduce((best, way) => (way.left > best.left ? way : best));
}

/** The ways to count, and their charges by epsilon. */
function countCharges(ledger: Ledger): readonly {
  readonly delta: number; charge(this: void, epsilon: number): Charge;
}[] {
  const { delta } = ledger.terms;
  const { rule } = ledger.caps.rule;
  const pure = {
    delta: 0,
    charge: (epsilon: number): Charge => ({
      rho: amountOf(rule === 'pure' ? epsilon : rhoOfPure(epsilon)), delta: amountOf(0),
      pure: amountOf(epsilon),
    }),
  };
  if (delta === 0) return [pure];
  const gaussian = {
    delta,
    charge: (epsilon: number): Charge => ({
      rho: amountOf(targetUnder(ledger, { epsilon, delta }).rho), delta: amountOf(0), pure: null,
    }),
  };
  return [gaussian, pure];
}

/** The summary in one sentence. */
export function ledgerText({ data, epsilon, delta, counts, epsilonLeft }: LedgerState): string {
  const pure = counts.delta === 0 && delta > 0 ? ' with delta 0' : '';
  const lasts = epsilonLeft === 0 ? 'it is used up'
    : counts.left > 0
      ? `it lasts for ${counts.left} more count${counts.left === 1 ? '' : 's'} of epsilon `
        + `${shown(counts.epsilon)}${pure}`
      : `one more count may have epsilon ${epsilonLeft} or less`;
  return `ledger of ${data}: epsilon ${shown(epsilon.spent)} of ${epsilon.budget} is spent at `
    + `delta ${delta}; ${lasts}`;
}
