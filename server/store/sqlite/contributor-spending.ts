import type Database from 'better-sqlite3';
import { assert } from '../../../src/base/assert.js';
import { parseAmount } from '../../../src/privacy/amount.js';
import { journalTable } from './epoch-tables.js';
import { minus, noSpend, within, type Spend } from './budgets.js';

/**
 * What each contributor has spent of a budget of contributor scope. Debited in the transaction that journals the
 * contributor's first row of an epoch, so a row that could influence a release is paid for before it is durable.
 */
export class ContributorSpending {
  readonly #read: Database.Statement<[bigint, bigint], { rho: string; delta: string }>;
  readonly #write: Database.Statement<[bigint, bigint, string, string]>;
  readonly #database: Database.Database;

  constructor(database: Database.Database) {
    this.#read = database.prepare(
      'SELECT rho, delta FROM contributor_spend WHERE budget_id = ? AND contributor_id = ?');
    this.#write = database.prepare(
      'INSERT OR REPLACE INTO contributor_spend (budget_id, contributor_id, rho, delta) VALUES (?, ?, ?, ?)');
    this.#database = database;
  }

  spent(budgetId: bigint, contributorId: bigint): Spend {
    const row = this.#read.get(budgetId, contributorId);
    return row === undefined ? noSpend : { rho: parseAmount(row.rho), delta: parseAmount(row.delta) };
  }

  write(budgetId: bigint, contributorId: bigint, total: Spend): void {
    this.#write.run(budgetId, contributorId, String(total.rho), String(total.delta));
  }

  /** Gives back what an epoch cost its contributors; only for an epoch that lapsed, on which no noise was drawn. */
  refund(epochKey: bigint, budgetId: bigint, cost: Spend): void {
    const participants = this.#database.prepare<[], { contributor_id: bigint }>(
      `SELECT DISTINCT contributor_id FROM ${journalTable(epochKey)}`).all();
    for (const { contributor_id: contributorId } of participants) {
      const left = minus(this.spent(budgetId, contributorId), cost);
      assert(within(noSpend, left), 'a contributor was debited for every epoch it is in');
      this.write(budgetId, contributorId, left);
    }
  }
}
