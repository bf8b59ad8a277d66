import { capOf, pureText, type PureAmount } from '../../../src/privacy/accounting/amount.js';
import { pureOf } from '../../../src/privacy/accounting/budget.js';
import { costOfEvents } from '../../../src/privacy/accounting/composition.js';
import { eventsFromJson } from '../../../src/privacy/accounting/event-codec.js';
import { pureReserved } from './budgets.js';
import { pureSum } from './spend.js';
import { all, run, sql, type Steps } from './steps.js';

/**
 * The pure epsilon of a charge, from its events. No less than what was charged: cohorts that are
 * disjoint would cost the largest of theirs, and are added up here. `none` without events, and for
 * events that this program does not know.
 */
export function pureOfEvents(text: string): PureAmount {
  try {
    const events = eventsFromJson(text);
    return events.length === 0 ? null : pureOf(costOfEvents(events, { disjoint: [] }));
  } catch {
    return null;
  }
}

/**
 * Adds the pure sum to a ledger that older programs kept; part of the transaction of the migration
 * that adds its columns. The columns are NULL, which is `none`, where nothing is known: in epochs
 * that are not charged yet, charges without events, and sums of a contributor's debits.
 */
export function* fillPure(): Steps<void> {
  const charges = yield* all(sql.selectFrom('ledger')
    .innerJoin('budgets', 'budgets.budget_id', 'ledger.budget_id')
    .select(['entry_id', 'events']).where('kind', '=', 'charged').where('rule', '=', 'zcdp'));
  for (const { entry_id: entry, events } of charges) {
    const pure = pureText(pureOfEvents(events));
    if (pure === null) continue;
    yield* run(sql.updateTable('ledger').set({ pure }).where('entry_id', '=', entry));
  }
  const budgets = yield* all(sql.selectFrom('budgets')
    .leftJoin('budget_windows', 'budget_windows.budget_id', 'budgets.budget_id')
    .select(['budgets.budget_id', 'scope', 'epsilon', 'renewed_through_ms']));
  for (const { budget_id: budgetId, scope, epsilon, renewed_through_ms: through } of budgets) {
    const counted = yield* all(sql.selectFrom('ledger').select('pure')
      .where('budget_id', '=', budgetId).where('kind', '=', 'charged')
      .where('at_ms', '>', through ?? -1n));
    yield* run(sql.updateTable('budgets').where('budget_id', '=', budgetId).set({
      pure_cap: String(capOf(epsilon)), pure_spent: pureText(pureSum(counted)),
      pure_reserved: scope === 'contributor' ? '0' : pureText(yield* pureReserved(budgetId)),
    }));
  }
}
