import type { LedgerBalance, LedgerEntry } from '../../server/store/contract.js';
import { chargeUnder } from '../../src/privacy/accounting/budget.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import { eventsFromJson } from '../../src/privacy/accounting/event-codec.js';
import type { MechanismEvent } from '../../src/privacy/accounting/events.js';
import {
  lossOfReleases, type ChargedEvents,
} from '../../src/privacy/accounting/loss-distribution/index.js';

/**
 * epsilon of everything charged to a budget, at the budget's delta, from the events in the ledger.
 * If Gaussian noise dominates, it is smaller than the conversion of the sums. It is null if the
 * entries cannot show it. That is so if they do not add up to what counts as spent (another kind of
 * bound, or a window that has moved on), if they have no events, or if their noise allows no such
 * account.
 *
 * @param entries - all entries of the budget.
 */
export function lossOfBudget(
  balance: LedgerBalance, entries: readonly LedgerEntry[],
): number | null {
  const charged = entries.filter((entry) => entry.kind === 'charged');
  const [rho, delta] = charged.reduce<[bigint, bigint]>(
    (sum, entry) => [sum[0] + entry.rho, sum[1] + entry.delta], [0n, 0n],
  );
  if (rho !== balance.rhoSpent || delta !== balance.deltaSpent) return null;
  const alike = new Map<string, { readonly entry: LedgerEntry; times: number }>();
  for (const entry of charged) {
    const key = `${entry.rho} ${entry.delta} ${entry.events}`;
    const found = alike.get(key);
    if (found === undefined) alike.set(key, { entry, times: 1 });
    else found.times += 1;
  }
  const releases: ChargedEvents[] = [];
  for (const { entry, times } of alike.values()) {
    if (entry.events === '') return null;
    const events = eventsFromJson(entry.events);
    releases.push({ events, disjoint: disjointOf(balance, entry, events), times });
  }
  return lossOfReleases(releases)?.epsilon(balance.delta) ?? null;
}

/**
 * The cohorts that were charged as disjoint. The ledger keeps the events and the charge. If the
 * events add up to more than the charge, and the largest cohort costs exactly the charge, the
 * cohorts were disjoint. Returning none is always safe.
 */
function disjointOf(
  balance: LedgerBalance, entry: LedgerEntry, events: readonly MechanismEvent[],
): readonly string[] {
  const cohorts = [...new Set(events.map(({ cohort }) => cohort))];
  if (cohorts.length < 2) return [];
  const charge = chargeUnder(balance.rule, costOfEvents(events, { disjoint: cohorts }));
  return charge.rho === entry.rho && charge.delta === entry.delta ? cohorts : [];
}
