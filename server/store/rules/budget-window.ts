import { parsePure, zeroAmount, type PureAmount } from '../../../src/privacy/accounting/amount.js';
import { plusCharge, plusPure, type Charge } from '../../../src/privacy/accounting/budget.js';
import { amountRow, minus, pureSum, spendOf } from './spend.js';
import { all, first, sql, type Steps } from './steps.js';
import type { BudgetRow } from './tables.js';

/**
 * Budgets that renew.
 *
 * A charge counts from its stamp. The stamp is a public time, normally the scheduled close of the
 * epoch (server/studies/release/release-line.ts). It is earlier than the commit of the charge, so
 * it does not show how long the work took.
 *
 * Claim: for every half-open period of the budget's length W, the charges whose stamps are within
 * it are together what `admits` allows. Proof. Budget time is `budgetTime`. It never decreases from
 * commit to commit, whatever the wall clock does: it is at least the last stamp, and at least W
 * after the last charge that has left the window, and both of these only grow. A row that was
 * renewed at budget time t counts as spent every charge with a stamp later than t - W. Take a
 * period and the charges in it. Let j be the charge whose epoch was opened last, at budget time u.
 * Its stamp s is a later budget time, so s >= u. In the transaction of that opening each other
 * charge of the period was
 *   - reserved and not charged yet: it was counted as reserved; or
 *   - charged, with a stamp within the same period, so later than s - W >= u - W: counted as spent.
 * The opening added the cost of j under the check that all of this is within the caps of one sum.
 * Stamps are budget times, so a charge does not leave the window before it has counted.
 *
 * Under contributor scope nothing is reserved at the opening; `Admission` has the proof.
 *
 * Under fixed caps the costs of one period form a privacy filter like those of a whole budget, with
 * everything published before the period as public knowledge. Times are the server's wall clock.
 * When the clock is set back, the latest budget time replaces it: no charge leaves the window
 * early, and no charge comes back into it.
 * So after a clock was ahead and was corrected, no charge leaves the window until the clock reaches
 * that time again. The server cannot distinguish this from a clock that is behind now, and would
 * give charges back early if it guessed wrong. Its operator can, and confirms the clock at a start
 * (clock-repair.ts).
 */

/** The present, for a budget: never before its last charge or its last renewal. */
export function* budgetTime(row: BudgetRow, nowMs: number): Steps<bigint> {
  const last = yield* first(sql.selectFrom('ledger').select('at_ms')
    .where('budget_id', '=', row.budget_id).where('kind', '=', 'charged')
    .orderBy('at_ms', 'desc').limit(1));
  const through = row.renewed_through_ms ?? 0n;
  const renewedAt = through > 0n ? through + row.window_ms! : 0n;
  return [last?.at_ms ?? 0n, renewedAt, BigInt(Math.round(nowMs))]
    .reduce((left, right) => (left > right ? left : right));
}

/** The stamp of a charge that counts from `atMs`. */
export function* chargeTime(row: BudgetRow, atMs: number): Steps<number> {
  return row.window_ms === null ? atMs : Number(yield* budgetTime(row, atMs));
}

const chargesAfter = (row: BudgetRow) => sql.selectFrom('ledger')
  .select(['rho', 'delta', 'pure', 'at_ms'])
  .where('budget_id', '=', row.budget_id).where('kind', '=', 'charged')
  .where('at_ms', '>', row.renewed_through_ms ?? 0n).orderBy('at_ms');

/** The row at `nowMs`, without the charges that have left the window. Writes nothing. */
export function* renewed(row: BudgetRow, nowMs: number): Steps<BudgetRow> {
  if (row.window_ms === null) return row;
  const through = (yield* budgetTime(row, nowMs)) - row.window_ms;
  if (through <= row.renewed_through_ms!) return row;
  let spent = spentOf(row);
  for (const charge of yield* all(chargesAfter(row).where('at_ms', '<=', through))) {
    spent = minus(spent, spendOf(charge));
  }
  const { rho, delta, pure } = amountRow(
    spent.pure === null ? { ...spent, pure: yield* pureAfter(row, through) } : spent);
  return {
    ...row, rho_spent: rho, delta_spent: delta, pure_spent: pure, renewed_through_ms: through,
  };
}

const spentOf = ({ rho_spent: rho, delta_spent: delta, pure_spent: pure }: BudgetRow): Charge =>
  spendOf({ rho, delta, pure });

/** The pure sum of the charges with later stamps. */
function* pureAfter(row: BudgetRow, through: bigint): Steps<PureAmount> {
  const charges = chargesAfter(row).where('at_ms', '>', through);
  const impure = yield* first(charges.where('pure', 'is', null).limit(1));
  return impure === undefined ? pureSum(yield* all(charges)) : null;
}

/**
 * The time when enough charges will have left the window for a request to fit, if nothing else is
 * charged until then. When all charges together are not enough, because reservations take the rest:
 * the end of a whole window.
 * @param beside what is reserved and requested.
 * @param fits whether the budget may come to a total.
 */
export function* renewalTime(
  row: BudgetRow, beside: Charge, fits: (total: Charge) => boolean, nowMs: number,
): Steps<number> {
  const charges = yield* all(chargesAfter(row));
  const pureLeft: PureAmount[] = [zeroAmount];
  for (const { pure } of charges.toReversed()) {
    pureLeft.unshift(plusPure(pureLeft[0]!, parsePure(pure)));
  }
  let total = plusCharge(spentOf(row), beside);
  for (const [i, charge] of charges.entries()) {
    total = { ...minus(total, spendOf(charge)), pure: plusPure(pureLeft[i + 1]!, beside.pure) };
    if (fits(total)) return Number(charge.at_ms + row.window_ms!);
  }
  return Number((yield* budgetTime(row, nowMs)) + row.window_ms!);
}
