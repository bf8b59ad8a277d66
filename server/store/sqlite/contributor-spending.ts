import { assert } from '../../../src/base/assert.js';
import {
  forgettable, spentOf, type OwnBudget, type SpendingSource,
} from '../rules/own-budget.js';
import { plusCharge, type Charge } from '../../../src/privacy/accounting/budget.js';
import {
  amountRow, debitLeft, isAmount, noSpend, spendOf, type AmountRow,
} from '../rules/spend.js';
import type { Statement } from './driver.js';
import { journalTable } from './epoch-tables.js';
import type { Queries } from './query.js';

/** Debits deleted in one step, so that batches are admitted between steps. */
const sweepRows = 1_024;

/** The spending of each contributor (rules/own-budget.ts), in the file. */
export class ContributorSpending implements SpendingSource {
  readonly #read: Statement<[bigint, bigint], AmountRow>;
  readonly #write: Statement<[bigint, bigint, string, string, string | null]>;
  readonly #counting: Statement<[bigint, bigint, bigint], AmountRow>;
  readonly #debit: Statement<[bigint, bigint, bigint, string, string, string | null]>;
  readonly #forget: Statement<{ budget: bigint; epoch: bigint; limit: number }>;
  readonly #charged: Statement<[bigint, bigint, bigint], AmountRow>;
  readonly #lost: Statement<[bigint, bigint], AmountRow>;
  readonly #queries: Queries;

  constructor(queries: Queries) {
    const { database } = queries;
    this.#read = database.prepare(
      'SELECT rho, delta, pure FROM contributor_spend WHERE budget_id = ? AND contributor_id = ?');
    this.#write = database.prepare(
      'INSERT OR REPLACE INTO contributor_spend (budget_id, contributor_id, rho, delta, pure) '
        + 'VALUES (?, ?, ?, ?, ?)');
    this.#counting =
      database.prepare(`SELECT debit.rho, debit.delta, debit.pure FROM contributor_debits AS debit
      JOIN epochs USING (epoch_key)
      LEFT JOIN ledger AS charge ON charge.study_key = epochs.study_key AND charge.epoch = epochs.epoch
        AND charge.kind = 'charged'
      WHERE debit.budget_id = ? AND debit.contributor_id = ? AND (charge.at_ms IS NULL OR charge.at_ms > ?)`);
    this.#charged = database.prepare(`SELECT rho, delta, pure FROM ledger
      WHERE budget_id = ? AND kind = 'charged' AND at_ms > ? AND at_ms <= ?`);
    this.#debit = database.prepare(
      `INSERT INTO contributor_debits (budget_id, contributor_id, epoch_key, rho, delta, pure)
      VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#forget = database.prepare(`DELETE FROM contributor_debits
      WHERE budget_id = @budget AND epoch_key = @epoch AND contributor_id IN (
        SELECT contributor_id FROM contributor_debits WHERE budget_id = @budget AND epoch_key = @epoch LIMIT @limit)`);
    this.#lost = database.prepare(`SELECT rho, delta, pure
      FROM rollback_charges JOIN ledger USING (entry_id)
      WHERE budget_id = ? AND at_ms > ?`);
    this.#queries = queries;
  }

  /** The spending that counts at `nowMs`. */
  spent(budget: OwnBudget, contributorId: bigint, nowMs: number): Charge {
    return spentOf(this, budget, contributorId, nowMs);
  }

  /** Adds `cost` for an epoch. */
  debit(budget: OwnBudget, contributorId: bigint, epochKey: bigint, cost: Charge): void {
    const { budgetId, windowMs } = budget;
    if (windowMs === null) {
      this.#set(budgetId, contributorId, plusCharge(this.running(budgetId, contributorId), cost));
    } else {
      const { rho, delta, pure } = amountRow(cost);
      this.#debit.run(budgetId, contributorId, epochKey, rho, delta, pure);
    }
  }

  /** Refunds an epoch's cost to its contributors. Only for a lapsed epoch, which drew no noise. */
  refund(epochKey: bigint, budgetId: bigint, windowed: boolean, cost: Charge): void {
    const { database } = this.#queries;
    if (windowed) {
      database.prepare('DELETE FROM contributor_debits WHERE budget_id = ? AND epoch_key = ?')
        .run(budgetId, epochKey);
      return;
    }
    const participants = database.prepare<[], { contributor_id: bigint }>(
      `SELECT DISTINCT contributor_id FROM ${journalTable(epochKey)}
        EXCEPT SELECT contributor_id FROM withdrawals WHERE epoch_key = ${epochKey}`).all();
    for (const { contributor_id: contributorId } of participants) {
      this.#giveBack(budgetId, contributorId, cost);
    }
  }

  /**
   * Refunds an epoch's cost to one contributor that was debited for it. No release may use its
   * rows.
   */
  refundOne(
    budgetId: bigint, windowed: boolean, contributorId: bigint, epochKey: bigint, cost: Charge,
  ): void {
    if (windowed) {
      this.#queries.database.prepare('DELETE FROM contributor_debits WHERE budget_id = ? AND '
        + 'contributor_id = ? AND epoch_key = ?')
        .run(budgetId, contributorId, epochKey);
      return;
    }
    this.#giveBack(budgetId, contributorId, cost);
  }

  /** Deletes a bounded number of debits that no longer count. @returns false when none was left. */
  sweep(budget: OwnBudget, nowMs: number): boolean {
    const epoch = this.#queries.perform(forgettable(budget, nowMs));
    if (epoch === undefined) return false;
    this.#forget.run({ budget: budget.budgetId, epoch, limit: sweepRows });
    return true;
  }

  running(budgetId: bigint, contributorId: bigint): Charge {
    const row = this.#read.get(budgetId, contributorId);
    return row === undefined ? noSpend : spendOf(row);
  }

  counting(budgetId: bigint, contributorId: bigint, afterMs: bigint): AmountRow[] {
    return this.#counting.all(budgetId, contributorId, afterMs);
  }

  charged(budgetId: bigint, afterMs: bigint, upToMs: bigint): AmountRow[] {
    return this.#charged.all(budgetId, afterMs, upToMs);
  }

  lost(budgetId: bigint, afterMs: bigint): AmountRow[] {
    return this.#lost.all(budgetId, afterMs);
  }

  #giveBack(budgetId: bigint, contributorId: bigint, cost: Charge): void {
    const left = debitLeft(this.running(budgetId, contributorId), cost);
    assert(isAmount(left), 'a contributor was debited for every epoch it is in');
    this.#set(budgetId, contributorId, left);
  }

  #set(budgetId: bigint, contributorId: bigint, total: Charge): void {
    const { rho, delta, pure } = amountRow(total);
    this.#write.run(budgetId, contributorId, rho, delta, pure);
  }
}
