import { sql as raw } from 'kysely';
import type { StoreParts } from '../rules/calls.js';
import type { RefundOne } from '../rules/withdrawals.js';
import { journalTable } from './epoch-tables.js';
import { statement } from './session.js';

/**
 * Refunds an epoch's cost to its contributors. Only for a lapsed epoch, which drew no noise. The
 * database refuses a sum below 0: a contributor was debited for every epoch that it is in.
 */
export const refund: StoreParts['refund'] = function* refund(epochKey, budget, { rho, delta }) {
  if (budget.window_ms !== null) {
    yield* statement(raw`DELETE FROM contributor_debits
      WHERE budget_id = ${budget.budget_id} AND epoch_key = ${epochKey}`);
    return;
  }
  yield* statement(raw`UPDATE contributor_spend SET version = version + 1,
      rho = rho - ${String(rho)}::numeric, delta = delta - ${String(delta)}::numeric
    WHERE budget_id = ${budget.budget_id} AND contributor_id IN (
      SELECT contributor_id FROM ${raw.raw(journalTable(epochKey))}
      EXCEPT SELECT contributor_id FROM withdrawals WHERE epoch_key = ${epochKey})`);
};

/** Refunds an epoch's cost to one contributor that was debited for it. */
export const refundOne: RefundOne =
  function* refundOne(epochKey, budget, contributorId, { rho, delta }) {
    if (budget.window_ms !== null) {
      yield* statement(raw`DELETE FROM contributor_debits WHERE budget_id = ${budget.budget_id}
        AND contributor_id = ${contributorId} AND epoch_key = ${epochKey}`);
      return;
    }
    yield* statement(raw`UPDATE contributor_spend SET version = version + 1,
        rho = rho - ${String(rho)}::numeric, delta = delta - ${String(delta)}::numeric
      WHERE budget_id = ${budget.budget_id} AND contributor_id = ${contributorId}`);
  };
