import { parseAmount } from '../../../src/privacy/accounting/amount.js';
import { earliestTimeMs } from '../../base/clock.js';
import { budgetRows } from './budgets.js';
import { forgottenThrough, noteForgotten } from './contributor-spending.js';
import { sql, type Queries } from './query.js';
import type { BudgetRow } from './tables.js';

/** Columns that hold the time at which something was done. What is planned (closes_at_ms) is not among them. */
const stamps = [
  ['studies', 'registered_at_ms'], ['epochs', 'opens_at_ms'], ['epochs', 'released_at_ms'], ['ledger', 'at_ms'],
  ['releases', 'stored_at_ms'], ['new_keys', 'from_ms'],
] as const;

/** Unix time of the newest thing that was done by a clock that was not plainly wrong; null when there is none. */
export function newestTime(queries: Queries): number | null {
  const newest = stamps.map(([table, column]) => queries.database
    .prepare<[], { newest: bigint | null }>(`SELECT max(${column}) AS newest FROM ${table}`).get()!.newest ?? 0n)
    .reduce((left, right) => (left > right ? left : right));
  return newest < BigInt(earliestTimeMs) ? null : Number(newest);
}

/**
 * Time stamps that a wrong clock left behind become `nowMs`: those before any possible one, and with `confirmed` also
 * those that are still to come. Budgets that renew are counted again from the new stamps.
 *
 * Claim: when `nowMs` is not before the true time of what was done, every charge of a budget that renews counts from
 * now on for at least its window W after it was truly made, also one that had left the window early because the clock
 * was ahead. Why: a stamp is moved only to `nowMs`, which is not before the true time. The total is counted again as
 * the sum of all charges stamped later than nowMs - W, whatever had left before. So nothing is given back early; what
 * was stamped a year ahead comes back after W instead of after a year and W. The clock had let more be charged than
 * fits, so the total can be above the cap afterwards. Nothing is then reserved until enough has left the window, and
 * no write raises the total further (`writeTotals`).
 *
 * Under contributor scope debits that had left the window early may be deleted: contributor-spending.ts says what
 * counts in their place.
 *
 * Without `confirmed` only stamps before 2020 move, and any later time is nearer to the truth than those.
 * @returns how many stamps were changed.
 */
export function repairTimes(queries: Queries, nowMs: number, confirmed: boolean): number {
  return queries.transaction(() => {
    const now = BigInt(Math.round(nowMs));
    const upTo = confirmed ? now : null;
    let changed = 0;
    for (const [table, column] of stamps) {
      // There 0 means that there is no release yet.
      const isSet = column === 'released_at_ms' ? 'released_at_ms != 0 AND' : '';
      changed += queries.database.prepare(`UPDATE ${table} SET ${column} = @now
        WHERE ${isSet} (${column} < @earliest OR ${column} > @upTo)`)
        .run({ now, earliest: BigInt(earliestTimeMs), upTo }).changes;
    }
    const renewing = queries.all(budgetRows().where('window_ms', 'is not', null));
    if (changed > 0) for (const row of renewing) recount(queries, row, now);
    return changed;
  });
}

function recount(queries: Queries, row: BudgetRow, now: bigint): void {
  const through = now - row.window_ms!;
  const charges = queries.all(sql.selectFrom('ledger').select(['rho', 'delta', 'at_ms'])
    .where('budget_id', '=', row.budget_id).where('kind', '=', 'charged').where('at_ms', '>', through));
  const sum = (name: 'rho' | 'delta'): string =>
    String(charges.reduce<bigint>((total, charge) => total + parseAmount(charge[name]), 0n));
  queries.run(sql.updateTable('budgets').set({ rho_spent: sum('rho'), delta_spent: sum('delta') })
    .where('budget_id', '=', row.budget_id));
  queries.run(sql.updateTable('budget_windows').set({ renewed_through_ms: through })
    .where('budget_id', '=', row.budget_id));
  // Charges that were stamped later than this moment are stamped with it now.
  if (forgottenThrough(queries.database, row.budget_id) > now) noteForgotten(queries.database, row.budget_id, now);
}
