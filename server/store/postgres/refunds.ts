import { sql as raw } from 'kysely';
import type { StoreParts } from '../rules/calls.js';
import { amountRow, type AmountRow } from '../rules/spend.js';
import type { RefundOne } from '../rules/withdrawals.js';
import { journalTable } from './epoch-tables.js';
import { statement } from './session.js';

/** As `debitLeft` (rules/spend.ts): NULL less anything is NULL. */
const pureLeft = ({ rho, delta, pure }: AmountRow) => raw`CASE
  WHEN rho = ${rho}::numeric AND delta = ${delta}::numeric THEN 0 ELSE pure - ${pure}::numeric END`;

/**
 * Refunds an epoch's cost to its contributors. Only for a lapsed epoch, which drew no noise. The
 * database refuses a sum below 0: a contributor was debited for every epoch that it is in.
 */
export const refund: StoreParts['refund'] = function* refund(epochKey, budget, cost) {
  if (budget.window_ms !== null) {
    yield* statement(raw`DELETE FROM contributor_debits
      WHERE budget_id = ${budget.budget_id} AND epoch_key = ${epochKey}`);
    return;
  }
  const amounts = amountRow(cost);
  const { rho, delta } = amounts;
  yield* statement(raw`UPDATE contributor_spend SET version = version + 1,
      rho = rho - ${rho}::numeric, delta = delta - ${delta}::numeric, pure = ${pureLeft(amounts)}
    WHERE budget_id = ${budget.budget_id} AND contributor_id IN (
      SELECT contributor_id FROM ${raw.raw(journalTable(epochKey))}
      EXCEPT SELECT contributor_id FROM withdrawals WHERE epoch_key = ${epochKey})`);
};

/** Refunds an epoch's cost to one contributor that was debited for it. */
export const refundOne: RefundOne =
  function* refundOne(epochKey, budget, contributorId, cost) {
    if (budget.window_ms !== null) {
      yield* statement(raw`DELETE FROM contributor_debits WHERE budget_id = ${budget.budget_id}
        AND contributor_id = ${contributorId} AND epoch_key = ${epochKey}`);
      return;
    }
    const amounts = amountRow(cost);
    const { rho, delta } = amounts;
    yield* statement(raw`UPDATE contributor_spend SET version = version + 1,
        rho = rho - ${rho}::numeric, delta = delta - ${delta}::numeric,
        pure = ${pureLeft(amounts)}
      WHERE budget_id = ${budget.budget_id} AND contributor_id = ${contributorId}`);
  };
