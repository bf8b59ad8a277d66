import type { ReleaseBody, StudyDocument } from '../../client/index.js';
import { promiseOf } from '../../client/sealed-promise.js';
import { counted, duration } from './format.js';

/** The owner of the budget. */
export type BudgetScope = StudyDocument['budget']['scope'];

/**
 * The state of a study's privacy budget, from its newest release. Shares are of the cap, 0 to 1.
 */
export interface BudgetState {
  readonly epsilonSpent: number;
  readonly epsilonCap: number;
  readonly spentShare: number;
  /** Reserved for the open epoch; 0 if none is open. */
  readonly reservedShare: number;
  readonly leftShare: number;
  /** For one release alone. */
  readonly epsilonPerRelease: number;
  /** The number of epochs that fit after the open one; null if a release costs nothing. */
  readonly epochsLeft: number | null;
  /** The budget renews: a charge counts for this long. Null if it does not renew. */
  readonly windowMs: number | null;
}

/** @param isOpen an epoch is open, so its cost is reserved already. */
export function budgetOf({ ledger, cost }: ReleaseBody, isOpen: boolean): BudgetState {
  // The bar shows the part that runs out first.
  const units = [
    { spent: ledger.rhoSpent, cap: ledger.rhoCap, cost: cost.rhoAmount },
    { spent: ledger.deltaSpent, cap: ledger.deltaCap, cost: cost.deltaAmount },
  ].filter((unit) => unit.cap > 0n && unit.cost > 0n);
  const places = units.map(({ spent, cap, cost: each }) => ({
    spentShare: ratio(spent, cap), costShare: ratio(each, cap),
    fits: spent >= cap ? 0n : (cap - spent) / each,
  }));
  const tightest = places.reduce<(typeof places)[number] | null>(
    (least, place) => (least === null || place.fits < least.fits ? place : least), null,
  );
  const spentShare = Math.min(1, tightest?.spentShare ?? 0);
  const reserves = isOpen && tightest !== null && tightest.fits > 0n;
  const reservedShare = reserves ? Math.min(1 - spentShare, tightest.costShare) : 0;
  return {
    epsilonSpent: ledger.epsilonSpent,
    epsilonCap: ledger.epsilonCap,
    spentShare, reservedShare,
    leftShare: Math.max(0, 1 - spentShare - reservedShare),
    epsilonPerRelease: cost.epsilon,
    epochsLeft: tightest === null ? null : Number(tightest.fits) - (reserves ? 1 : 0),
    windowMs: ledger.windowMs === undefined ? null : Number(ledger.windowMs),
  };
}

/** How long a budget lasts, in words. @param state of the study. */
export function lastsFor(
  { epochsLeft, windowMs }: BudgetState, everyMs: number | null, state: string, scope: BudgetScope,
): string {
  if (state !== 'open') return 'no further epoch';
  if (epochsLeft === null) return 'as long as you like';
  if (epochsLeft <= 0) {
    // Each contributor has a budget of its own. The study goes on without those who spent theirs.
    if (scope === 'contributor') return 'contributors who were in fewer epochs';
    return windowMs === null ? 'no epoch after this one' : 'no epoch until some of it renews';
  }
  const epochs = counted(epochsLeft, 'more epoch');
  return everyMs === null ? epochs : `${epochs}, about ${duration(epochsLeft * everyMs)}`;
}

/**
 * These amounts are exact integers above 2^53 but far below 2^1024, so their ratio is as exact as a
 * double.
 */
function ratio(part: bigint, all: bigint): number {
  return Number(part) / Number(all);
}

/** The promise, from public facts, in words that need no glossary: for whom, and how strong. */
export function guaranteeInWords(
  { budget, participation, privacy, sealed }: StudyDocument,
): {
  readonly sentence: string; readonly notAgainst: string; readonly oddsPerRelease: number;
  readonly oddsInAll: number;
} {
  const what = participation === 'public'
    ? 'what any one contributor sent (but not that it took part)'
    : budget.scope === 'contributor'
      ? 'what any one contributor sent, and whether it ever took part'
      : 'what any one contributor sent, and whether it took part at all';
  return {
    sentence: 'A reader of these answers who knows everybody else’s data still learns only '
      + `little about ${what}.`,
    notAgainst: promiseOf({ sealed })
      ?? 'The answers do not protect anybody from the operator of this server. The operator holds '
        + 'the rows until their epoch closes.',
    oddsPerRelease: Math.exp(privacy.epsilon),
    oddsInAll: Math.exp(budget.epsilon),
  };
}
