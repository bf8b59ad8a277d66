import { admits, plusCharge, type Charge } from '../../../src/privacy/accounting/budget.js';
import type { Debit } from './admission-list.js';
import type { StoredFacts } from './admission-facts.js';

/** A store's access for debits. All writes are in the transaction of the list. */
export interface DebitSource {
  /** The spending that counts at this time. */
  spent(study: StoredFacts, contributorId: bigint, nowMs: number): Charge;
  /** Adds the cost of the open epoch. */
  spend(study: StoredFacts, contributorId: bigint): void;
  /** For a study with running totals: the newest epoch that the contributor was in. */
  lastEntered(study: StoredFacts, contributorId: bigint): bigint | undefined;
  /** Notes that the contributor is in the open epoch. */
  enter(study: StoredFacts, contributorId: bigint): void;
}

/**
 * Under contributor scope: debits the epoch's cost if it fits, and if a running total may count
 * the contributor again. A refusal is final for this epoch. Null under other scopes.
 *
 * Where the budget renews, spending is computed at a time v: the present, but at most the
 * scheduled close of the epoch, because an epoch may stay open longer. Claim: take the charges
 * that a contributor takes part in, and a half-open period of the window's length W. Those of
 * these charges with stamps in the period (budget-window.ts) are together what `admits` allows.
 * Proof: let j be the one of them that was debited last, at v. Its stamp s is not before that
 * close, nor before any earlier stamp, so s >= v. Every other one was either not charged yet then,
 * or had a stamp later than s - W >= v - W. In both cases it counted when j was debited under the
 * check. An epoch that closes on a count gets its stamp at its close, after its rows.
 *
 * Running totals. Claim: a contributor is in at most one of any `separation` successive epochs of a
 * study. Proof. A first row is journalled only after the check here, and `enter` is in the same
 * transaction. So the epochs that a contributor enters are `separation` apart, as long as its row
 * is there. `leaveRunning` deletes the row of an epoch whose rows the contributor took back: no
 * release uses them. The row before was of an epoch at least `separation` earlier, so it refuses no
 * later epoch. Rows that refuse no epoch from the next one on are swept.
 */
export function debitOf(
  source: DebitSource, study: StoredFacts, contributorId: bigint, nowMs: number,
): Debit | null {
  if (study.debit === null) return null;
  const { cost, caps, closesAtMs } = study.debit;
  const spent = source.spent(study, contributorId, Math.min(nowMs, closesAtMs));
  const { separation } = study;
  const last = separation === null ? undefined : source.lastEntered(study, contributorId);
  const mayEnter = last === undefined || study.open!.epoch - last >= separation!;
  if (!mayEnter || !admits(caps, plusCharge(spent, cost))) return { fits: false, spend: spent };
  if (separation !== null) source.enter(study, contributorId);
  source.spend(study, contributorId);
  return { fits: true, spend: plusCharge(spent, cost) };
}
