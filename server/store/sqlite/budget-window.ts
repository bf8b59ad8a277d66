import { parseAmount } from '../../../src/privacy/amount.js';
import { sql, type Queries } from './query.js';
import type { BudgetRow } from './tables.js';

/**
 * Budgets that renew.
 *
 * Claim: for every half-open period of the budget's length W, by the times of the charges, what was charged within it
 * is at most the cap. Why: spent + reserved <= cap holds in every committed state (budgets.ts), where `spent` counts
 * every charge later than now - W. Charge times never decrease (`chargeTime`), so right after the last charge of any
 * such period all charges of the period are counted at once. Opening an epoch adds to `reserved` under the check,
 * charging moves the amount over, and time only takes away. Under fixed caps the costs of one period form a privacy
 * filter like those of a whole budget, with everything published before the period as public knowledge.
 *
 * Times are the server's wall clock. When it is set back, the latest time seen stands in for it: nothing leaves the
 * window early, and nothing comes back into it. So after a clock that was ahead and was set right, nothing leaves the
 * window until that time has come. The server cannot tell this from a clock that is now behind, and would give charges
 * back early if it guessed wrong. Its operator can tell, and confirms the clock at a start (clock-repair.ts).
 */

/** The present, for a budget: never before its last charge or renewal. */
export function budgetTime(queries: Queries, row: BudgetRow, nowMs: number): bigint {
  const last = queries.first(sql.selectFrom('ledger').select('at_ms').where('budget_id', '=', row.budget_id)
    .where('kind', '=', 'charged').orderBy('at_ms', 'desc').limit(1));
  return [last?.at_ms ?? 0n, row.renewed_through_ms ?? 0n, BigInt(Math.round(nowMs))]
    .reduce((left, right) => (left > right ? left : right));
}

/** When a charge that is made now counts as made. Later than everything that has already left the window. */
export function chargeTime(queries: Queries, row: BudgetRow, nowMs: number): number {
  if (row.window_ms === null) return nowMs;
  const time = budgetTime(queries, row, nowMs);
  return Number(time > row.renewed_through_ms! ? time : time + 1n);
}

const chargesAfter = (row: BudgetRow) => sql.selectFrom('ledger').select(['rho', 'delta', 'at_ms'])
  .where('budget_id', '=', row.budget_id).where('kind', '=', 'charged')
  .where('at_ms', '>', row.renewed_through_ms ?? 0n).orderBy('at_ms');

/** The row as it stands at `nowMs`: without the charges that have left the window. Writes nothing. */
export function renewed(queries: Queries, row: BudgetRow, nowMs: number): BudgetRow {
  if (row.window_ms === null) return row;
  const through = budgetTime(queries, row, nowMs) - row.window_ms;
  if (through <= row.renewed_through_ms!) return row;
  let rho: bigint = parseAmount(row.rho_spent);
  let delta: bigint = parseAmount(row.delta_spent);
  for (const charge of queries.all(chargesAfter(row).where('at_ms', '<=', through))) {
    rho -= parseAmount(charge.rho);
    delta -= parseAmount(charge.delta);
  }
  return { ...row, rho_spent: String(rho), delta_spent: String(delta), renewed_through_ms: through };
}

/**
 * When enough of what was charged will have left the window for `missing` to fit, if nothing else is charged until
 * then. The end of a whole window when that is not enough: reservations are in the way.
 * @param missing by how much spent, reserved and asked pass the cap; not above 0 where they do not.
 */
export function renewalTime(
  queries: Queries, row: BudgetRow, missing: { readonly rho: bigint; readonly delta: bigint }, nowMs: number,
): number {
  let { rho, delta } = missing;
  for (const charge of queries.all(chargesAfter(row))) {
    rho -= parseAmount(charge.rho);
    delta -= parseAmount(charge.delta);
    if (rho <= 0n && delta <= 0n) return Number(charge.at_ms + row.window_ms!);
  }
  return Number(budgetTime(queries, row, nowMs) + row.window_ms!);
}
