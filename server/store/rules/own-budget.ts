import { budgetTime } from './budget-window.js';
import { budgetById } from './budgets.js';
import { plusCharge, type Charge } from '../../../src/privacy/accounting/budget.js';
import { noSpend, spendOf, type AmountRow } from './spend.js';
import { first, run, sql, type Steps } from './steps.js';

/*
 * Each contributor's spending of a budget of contributor scope. The debit is in the transaction
 * that journals the contributor's first row of an epoch, so a row that could influence a release is
 * paid for before it is durable.
 *
 * Claim: each contributor's spending is what `admits` allows, so the proof there is about it
 * alone; where the budget renews, its spending within every half-open period of its length by the
 * times of the charges. `admit` debits only what fits together with
 * everything that counts. Without a window that is a running sum. With a window there is one debit
 * per epoch. It counts from the first row until a whole window after the epoch was *charged* (not
 * after it was collected). An epoch that is not charged yet always counts. So when the last debit
 * of a period's releases was made, all of them counted. Debits show who took part in which epoch,
 * so they are deleted once they no longer count.
 *
 * A clock that was ahead and was corrected makes deleted debits count again. Who took part in those
 * epochs is no longer known, so each of them counts for every contributor. `forgottenMs` is the
 * newest charge whose debits were deleted. Charges up to it that are still in the window are added
 * whole. That is never less than what the contributor spent. While the clock is not set back, no
 * such charge is in the window.
 *
 * Charges that an accepted rollback made count for every contributor, because it is no longer known
 * who took part in the lost epochs.
 */

/** A budget of contributor scope, as the hot path needs it. */
export interface OwnBudget {
  readonly budgetId: bigint;
  /** Null when a debit counts without end. */
  readonly windowMs: bigint | null;
  /** For a budget that renews: its time is never before this (budget-window.ts). */
  readonly notBeforeMs: bigint;
  /** Debits of epochs charged up to this time may be deleted. */
  readonly forgottenMs: bigint;
}

/** A store's records of one contributor's spending and of the charges of its budget. */
export interface SpendingSource {
  /** For a budget that does not renew: the sum of the contributor's own debits. */
  running(budgetId: bigint, contributorId: bigint): Charge;
  /** The contributor's debits for epochs that are not charged, or charged after this time. */
  counting(budgetId: bigint, contributorId: bigint, afterMs: bigint): Iterable<AmountRow>;
  /** Charges of the budget after the first time, up to the second. */
  charged(budgetId: bigint, afterMs: bigint, upToMs: bigint): Iterable<AmountRow>;
  /** Charges that an accepted rollback made after this time. */
  lost(budgetId: bigint, afterMs: bigint): Iterable<AmountRow>;
}

/** The spending of a contributor that counts at `nowMs`. */
export function spentOf(
  source: SpendingSource, budget: OwnBudget, contributorId: bigint, nowMs: number,
): Charge {
  const { budgetId, windowMs, forgottenMs } = budget;
  if (windowMs === null) {
    return total(source.lost(budgetId, -1n), source.running(budgetId, contributorId));
  }
  const through = cutoff(budget, nowMs);
  const forAll = total(source.lost(budgetId, through), noSpend);
  if (forgottenMs <= through) {
    return total(source.counting(budgetId, contributorId, through), forAll);
  }
  const forgotten = total(source.charged(budgetId, through, forgottenMs), forAll);
  return total(source.counting(budgetId, contributorId, forgottenMs), forgotten);
}

function total(amounts: Iterable<AmountRow>, from: Charge): Charge {
  let spend = from;
  for (const each of amounts) spend = plusCharge(spend, spendOf(each));
  return spend;
}

/** Charges up to this time no longer count. */
export function cutoff({ windowMs, notBeforeMs }: OwnBudget, nowMs: number): bigint {
  const now = BigInt(Math.round(nowMs));
  return (now > notBeforeMs ? now : notBeforeMs) - windowMs!;
}

/** Facts that hold until the next charge. After a charge they are read again. */
export function* ownBudget(budgetId: bigint): Steps<OwnBudget> {
  const row = yield* budgetById(budgetId, 0);
  return {
    budgetId, windowMs: row.window_ms,
    notBeforeMs: row.window_ms === null ? 0n : yield* budgetTime(row, 0),
    forgottenMs: row.window_ms === null ? 0n : yield* forgottenThrough(budgetId),
  };
}

const forgottenName = (budgetId: bigint): string => `forgotten_through_ms ${budgetId}`;

/** The newest charge of a budget of which some or all debits were deleted; 0 when there is none. */
export function* forgottenThrough(budgetId: bigint): Steps<bigint> {
  const row = yield* first(sql.selectFrom('meta').select('value')
    .where('name', '=', forgottenName(budgetId)));
  return row?.value ?? 0n;
}

export function* noteForgotten(budgetId: bigint, atMs: bigint): Steps<void> {
  yield* run(sql.insertInto('meta').values({ name: forgottenName(budgetId), value: atMs })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: atMs })));
}

/**
 * The oldest epoch with debits that no longer count at `nowMs`. Notes that they may be deleted now.
 * Undefined when there is none.
 */
export function* forgettable(budget: OwnBudget, nowMs: number): Steps<bigint | undefined> {
  if (budget.windowMs === null) return undefined;
  const oldest = yield* first(sql.selectFrom('contributor_debits as debit')
    .innerJoin('epochs', 'epochs.epoch_key', 'debit.epoch_key')
    .leftJoin('ledger as charge', (join) => join
      .onRef('charge.study_key', '=', 'epochs.study_key')
      .onRef('charge.epoch', '=', 'epochs.epoch').on('charge.kind', '=', 'charged'))
    .select(['debit.epoch_key', 'charge.at_ms'])
    .where('debit.budget_id', '=', budget.budgetId).orderBy('debit.epoch_key').limit(1));
  if (oldest === undefined || oldest.at_ms === null || oldest.at_ms > cutoff(budget, nowMs)) {
    return undefined;
  }
  if (oldest.at_ms > (yield* forgottenThrough(budget.budgetId))) {
    yield* noteForgotten(budget.budgetId, oldest.at_ms);
  }
  return oldest.epoch_key;
}
