import { earliestTimeMs } from '../../base/clock.js';
import { budgetRows } from './budgets.js';
import { forgottenThrough, noteForgotten } from './own-budget.js';
import { plusCharge, type Charge } from '../../../src/privacy/accounting/budget.js';
import { amountRow, noSpend, spendOf } from './spend.js';
import { all, first, run, sql, type Steps } from './steps.js';
import type { BudgetRow } from './tables.js';

/** Columns that hold the time of an action. Planned times (closes_at_ms) are not among them. */
const stamps = [
  ['studies', 'registered_at_ms'], ['epochs', 'opens_at_ms'], ['epochs', 'released_at_ms'],
  ['ledger', 'at_ms'], ['releases', 'stored_at_ms'], ['new_keys', 'from_ms'],
] as const;

/** The builder types one table and one column at a time. All of these columns have one type. */
const columns = stamps as unknown as readonly (readonly ['ledger', 'at_ms'])[];

/**
 * Unix time of the newest recorded action, ignoring stamps before 2020; null when there is none.
 */
export function* newestTime(): Steps<number | null> {
  let newest = 0n;
  for (const [table, column] of columns) {
    const row = yield* first(sql.selectFrom(table)
      .select((build) => build.fn.max(column).as('newest')));
    const time = row?.newest ?? 0n;
    if (time > newest) newest = time;
  }
  return newest < BigInt(earliestTimeMs) ? null : Number(newest);
}

/**
 * Sets the time stamps that a wrong clock left to `nowMs`: those before any possible one and, with
 * `confirmed`, those in the future. The totals of budgets that renew are computed again from the
 * new stamps.
 *
 * Claim: when `nowMs` is not before the true times of all actions, every charge of a budget that
 * renews counts from now on until at least its window W after the charge was truly made. This
 * includes charges that had left the window early because the clock was ahead. Why: a stamp is
 * moved only to `nowMs`, which is not before the true time. The total is computed again as the sum
 * of all charges with stamps later than nowMs - W, including those that had left before. So nothing
 * is given back early. A charge with a stamp a year ahead comes back after W instead of after a
 * year and W. The wrong clock allowed more charges than fit, so the totals can be above the caps
 * afterwards. Nothing is then reserved until enough charges have left the window, and no write
 * raises the total further (`writeTotals`).
 *
 * Under contributor scope, debits that had left the window early may be deleted:
 * own-budget.ts says what counts in their place.
 *
 * An open epoch whose opening lies in the future closes as long after `nowMs` as it should have
 * closed after its opening. Otherwise it would stay open until the wrong date.
 *
 * Without `confirmed` only stamps before 2020 move. Any later time is nearer to the truth.
 * @returns the number of changed stamps.
 */
export function* repairTimes(nowMs: number, confirmed: boolean): Steps<number> {
  const now = BigInt(Math.round(nowMs));
  let changed = 0;
  // Before the stamps: the openings determine how far the closes have to move.
  if (confirmed) yield* moveCloses(now);
  for (const [table, column] of columns) {
    const wrong = sql.updateTable(table).set({ [column]: now }).returning(column)
      .where((build) => build.or([
        build(column, '<', BigInt(earliestTimeMs)),
        ...(confirmed ? [build(column, '>', now)] : []),
      ]));
    // In `released_at_ms` 0 means that there is no release yet. No other stamp is 0 for a reason.
    const isOptional = (column as string) === 'released_at_ms';
    changed += (yield* all(isOptional ? wrong.where(column, '!=', 0n) : wrong)).length;
  }
  const renewing = yield* all(budgetRows().where('window_ms', 'is not', null));
  if (changed > 0) for (const row of renewing) yield* recount(row, now);
  return changed;
}

function* moveCloses(now: bigint): Steps<void> {
  const ahead = yield* all(sql.selectFrom('epochs')
    .select(['epoch_key', 'opens_at_ms', 'closes_at_ms'])
    .where('state', 'in', ['open', 'closing']).where('opens_at_ms', '>', now)
    // An epoch that closes on a count has no time.
    .where('closes_at_ms', '!=', 0n));
  for (const { epoch_key: key, opens_at_ms: opens, closes_at_ms: closes } of ahead) {
    yield* run(sql.updateTable('epochs').set({ closes_at_ms: now + closes - opens })
      .where('epoch_key', '=', key));
  }
}

function* recount(row: BudgetRow, now: bigint): Steps<void> {
  const through = now - row.window_ms!;
  const charges = yield* all(sql.selectFrom('ledger').select(['rho', 'delta', 'pure'])
    .where('budget_id', '=', row.budget_id)
    .where('kind', '=', 'charged').where('at_ms', '>', through));
  const { rho, delta, pure } = amountRow(
    charges.reduce<Charge>((total, charge) => plusCharge(total, spendOf(charge)), noSpend));
  yield* run(sql.updateTable('budgets')
    .set({ rho_spent: rho, delta_spent: delta, pure_spent: pure })
    .where('budget_id', '=', row.budget_id));
  yield* run(sql.updateTable('budget_windows').set({ renewed_through_ms: through })
    .where('budget_id', '=', row.budget_id));
  // Charges with later stamps were just moved to now. So is the time up to which debits are
  // deleted.
  if ((yield* forgottenThrough(row.budget_id)) > now) {
    yield* noteForgotten(row.budget_id, now);
  }
}
