import type Database from 'better-sqlite3';
import { assert } from '../../../src/base/assert.js';
import { parseAmount } from '../../../src/privacy/accounting/amount.js';
import { journalTable } from './epoch-tables.js';
import { minus, noSpend, plus, within, type Spend } from './budgets.js';

/** A budget of contributor scope, as the hot path needs it. */
export interface OwnBudget {
  readonly budgetId: bigint;
  /** Null when a debit counts for ever. */
  readonly windowMs: bigint | null;
  /** For a budget that renews: its time is never before this (budget-window.ts). */
  readonly notBeforeMs: bigint;
  /** Debits of epochs charged up to this time may be deleted. */
  readonly forgottenMs: bigint;
}

/** Debits deleted in one step, so that batches are admitted between steps. */
const sweepRows = 1_024;

interface Amounts {
  readonly rho: string;
  readonly delta: string;
}

/**
 * What each contributor has spent of a budget of contributor scope. The debit is in the transaction
 * that journals the contributor's first row of an epoch, so a row that could influence a release is
 * paid for before it is durable.
 *
 * Claim: no contributor's spending passes the cap; where the budget renews, within every half-open
 * period of its length by the times of the charges. `admit` debits only what fits together with
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
 * Charges that an accepted rollback made (rollback.ts) count for every contributor, because it is
 * no longer known who took part in the lost epochs.
 */
export class ContributorSpending {
  readonly #read: Database.Statement<[bigint, bigint], Amounts>;
  readonly #write: Database.Statement<[bigint, bigint, string, string]>;
  readonly #counting: Database.Statement<[bigint, bigint, bigint], Amounts>;
  readonly #debit: Database.Statement<[bigint, bigint, bigint, string, string]>;
  readonly #oldest: Database.Statement<[bigint], { epoch_key: bigint; at_ms: bigint | null }>;
  readonly #forget: Database.Statement<{ budget: bigint; epoch: bigint; limit: number }>;
  readonly #charged: Database.Statement<[bigint, bigint, bigint], Amounts>;
  readonly #lost: Database.Statement<[bigint, bigint], Amounts>;
  readonly #database: Database.Database;

  constructor(database: Database.Database) {
    this.#read = database.prepare(
      'SELECT rho, delta FROM contributor_spend WHERE budget_id = ? AND contributor_id = ?');
    this.#write = database.prepare(
      'INSERT OR REPLACE INTO contributor_spend (budget_id, contributor_id, rho, delta) VALUES (?, '
        + '?, ?, ?)');
    this.#counting =
      database.prepare(`SELECT debit.rho, debit.delta FROM contributor_debits AS debit
      JOIN epochs USING (epoch_key)
      LEFT JOIN ledger AS charge ON charge.study_key = epochs.study_key AND charge.epoch = epochs.epoch
        AND charge.kind = 'charged'
      WHERE debit.budget_id = ? AND debit.contributor_id = ? AND (charge.at_ms IS NULL OR charge.at_ms > ?)`);
    this.#charged = database.prepare(`SELECT rho, delta FROM ledger
      WHERE budget_id = ? AND kind = 'charged' AND at_ms > ? AND at_ms <= ?`);
    this.#debit = database.prepare(
      `INSERT INTO contributor_debits (budget_id, contributor_id, epoch_key, rho, delta)
      VALUES (?, ?, ?, ?, ?)`,
    );
    this.#oldest =
      database.prepare(`SELECT debit.epoch_key, charge.at_ms FROM contributor_debits AS debit
      JOIN epochs USING (epoch_key)
      LEFT JOIN ledger AS charge ON charge.study_key = epochs.study_key AND charge.epoch = epochs.epoch
        AND charge.kind = 'charged'
      WHERE debit.budget_id = ? ORDER BY debit.epoch_key LIMIT 1`);
    this.#forget = database.prepare(`DELETE FROM contributor_debits
      WHERE budget_id = @budget AND epoch_key = @epoch AND contributor_id IN (
        SELECT contributor_id FROM contributor_debits WHERE budget_id = @budget AND epoch_key = @epoch LIMIT @limit)`);
    this.#lost = database.prepare(`SELECT rho, delta
      FROM rollback_charges JOIN ledger USING (entry_id)
      WHERE budget_id = ? AND at_ms > ?`);
    this.#database = database;
  }

  /** The spending that counts at `nowMs`. */
  spent(budget: OwnBudget, contributorId: bigint, nowMs: number): Spend {
    const { budgetId, windowMs } = budget;
    if (windowMs === null) {
      return this.#lost.all(budgetId, -1n).reduce(sum, this.#running(budgetId, contributorId));
    }
    const through = cutoff(budget, nowMs);
    const { forgottenMs } = budget;
    const forAll = this.#lost.all(budgetId, through).reduce(sum, noSpend);
    if (forgottenMs <= through) {
      return this.#counting.all(budgetId, contributorId, through).reduce(sum, forAll);
    }
    const forgotten = this.#charged.all(budgetId, through, forgottenMs).reduce(sum, forAll);
    return this.#counting.all(budgetId, contributorId, forgottenMs).reduce(sum, forgotten);
  }

  /** Adds `cost` for an epoch. @param spent what `spent` just returned. */
  debit(
    budget: OwnBudget, contributorId: bigint, epochKey: bigint, cost: Spend, spent: Spend,
  ): Spend {
    const { budgetId, windowMs } = budget;
    if (windowMs === null) {
      this.#set(budgetId, contributorId, plus(this.#running(budgetId, contributorId), cost));
    } else {
      this.#debit.run(budgetId, contributorId, epochKey, String(cost.rho), String(cost.delta));
    }
    return plus(spent, cost);
  }

  /**
   * Gives an epoch's cost back to its contributors. Only for a lapsed epoch, which drew no noise.
   */
  refund(epochKey: bigint, budgetId: bigint, windowed: boolean, cost: Spend): void {
    if (windowed) {
      this.#database.prepare('DELETE FROM contributor_debits WHERE budget_id = ? AND epoch_key = ?')
        .run(budgetId, epochKey);
      return;
    }
    const participants = this.#database.prepare<[], { contributor_id: bigint }>(
      `SELECT DISTINCT contributor_id FROM ${journalTable(epochKey)}
        EXCEPT SELECT contributor_id FROM withdrawals WHERE epoch_key = ${epochKey}`).all();
    for (const { contributor_id: contributorId } of participants) {
      const left = minus(this.#running(budgetId, contributorId), cost);
      assert(within(noSpend, left), 'a contributor was debited for every epoch it is in');
      this.#set(budgetId, contributorId, left);
    }
  }

  /**
   * Gives an epoch's cost back to one contributor that was debited for it. No release may use its
   * rows.
   */
  refundOne(budget: OwnBudget, contributorId: bigint, epochKey: bigint, cost: Spend): void {
    if (budget.windowMs !== null) {
      this.#database.prepare('DELETE FROM contributor_debits WHERE budget_id = ? AND '
        + 'contributor_id = ? AND epoch_key = ?')
        .run(budget.budgetId, contributorId, epochKey);
      return;
    }
    const left = minus(this.#running(budget.budgetId, contributorId), cost);
    assert(within(noSpend, left), 'a contributor was debited for every epoch it is in');
    this.#set(budget.budgetId, contributorId, left);
  }

  /** Deletes a bounded number of debits that no longer count. @returns false when none was left. */
  sweep(budget: OwnBudget, nowMs: number): boolean {
    if (budget.windowMs === null) return false;
    const oldest = this.#oldest.get(budget.budgetId);
    if (oldest === undefined || oldest.at_ms === null || oldest.at_ms > cutoff(budget, nowMs)) {
      return false;
    }
    if (oldest.at_ms > forgottenThrough(this.#database, budget.budgetId)) {
      noteForgotten(this.#database, budget.budgetId, oldest.at_ms);
    }
    this.#forget.run({ budget: budget.budgetId, epoch: oldest.epoch_key, limit: sweepRows });
    return true;
  }

  /** Of a budget that does not renew: the sum of the contributor's own debits. */
  #running(budgetId: bigint, contributorId: bigint): Spend {
    const row = this.#read.get(budgetId, contributorId);
    return row === undefined ? noSpend : sum(noSpend, row);
  }

  #set(budgetId: bigint, contributorId: bigint, total: Spend): void {
    this.#write.run(budgetId, contributorId, String(total.rho), String(total.delta));
  }
}

const forgottenName = (budgetId: bigint): string => `forgotten_through_ms ${budgetId}`;

/** The newest charge of a budget of which some or all debits were deleted; 0 when there is none. */
export function forgottenThrough(database: Database.Database, budgetId: bigint): bigint {
  return database.prepare<[string], { value: bigint }>('SELECT value FROM meta WHERE name = ?')
    .get(forgottenName(budgetId))?.value ?? 0n;
}

export function noteForgotten(database: Database.Database, budgetId: bigint, atMs: bigint): void {
  database.prepare('INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)')
    .run(forgottenName(budgetId), atMs);
}

function sum(total: Spend, { rho, delta }: Amounts): Spend {
  return plus(total, { rho: parseAmount(rho), delta: parseAmount(delta) });
}

/** Charges up to this time no longer count. */
function cutoff({ windowMs, notBeforeMs }: OwnBudget, nowMs: number): bigint {
  const now = BigInt(Math.round(nowMs));
  return (now > notBeforeMs ? now : notBeforeMs) - windowMs!;
}
