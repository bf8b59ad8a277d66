import { amountToNumber, type Amount } from '../../src/privacy/accounting/amount.js';
import { remaining } from '../../src/privacy/accounting/budget.js';
import type { StudyHub, StudyView } from '../studies/contract.js';
import { newestRelease } from '../studies/release/newest-release.js';
import type { LedgerBalance } from '../store/contract.js';

/**
 * The part of the ledger that is public.
 *
 * Study and population scope: every amount. Charges follow the schedule and the plan, not the data
 * (with public participation, presence is public too). Contributor scope: the stored amounts depend
 * on who contributed, so they are not read. The shown amounts were published before, in signed
 * releases: the cost of an epoch, and the bound on what any one contributor can have spent.
 */
export async function ledgerView(hub: StudyHub): Promise<readonly object[]> {
  const balances = await hub.balances();
  const shared = balances.filter((balance) => balance.scope !== 'contributor').map(sharedBudget);
  const own = hub.studies().filter((view) => view.document.budget.scope === 'contributor');
  return [...shared, ...(await Promise.all(own.map((view) => contributorBudget(hub, view))))];
}

function sharedBudget(balance: LedgerBalance): object {
  const left = remaining(balance);
  return {
    budget: balance.key,
    scope: balance.scope,
    // { rule: 'zcdp' | 'pure' | 'gaussian' } or { rule: 'renyi', order }.
    ...balance.rule,
    epsilonCap: balance.epsilon,
    deltaTarget: balance.delta,
    cap: amounts(balance.rhoCap, balance.deltaCap),
    spent: amounts(balance.rhoSpent, balance.deltaSpent),
    reserved: amounts(balance.rhoReserved, balance.deltaReserved),
    left: amounts(left.rho, left.delta),
    ...(balance.windowMs !== undefined && { windowMs: balance.windowMs }),
  };
}

async function contributorBudget(hub: StudyHub, view: StudyView): Promise<object> {
  const { budget } = view.document;
  const last = await newestRelease(hub, view);
  const statement = {
    budget: `study:${view.name}`,
    study: view.studyId,
    scope: budget.scope,
    rule: budget.rule,
    epsilonCap: budget.epsilon,
    deltaTarget: budget.delta,
    ...(budget.perMs !== undefined && { windowMs: budget.perMs }),
  };
  if (last === null) return { ...statement, costPerEpoch: null, bound: null };
  const { cost, ledger } = last;
  return {
    ...statement,
    cap: amounts(ledger.rhoCap, ledger.deltaCap),
    costPerEpoch: amounts(cost.rhoAmount, cost.deltaAmount),
    bound: amounts(ledger.rhoSpent, ledger.deltaSpent),
  };
}

/** Amounts exactly, in units of 2^-64, and as numbers for people. */
function amounts(rho: bigint, delta: bigint): object {
  return {
    rho: String(rho),
    delta: String(delta),
    rhoNumber: amountToNumber(rho as Amount),
    deltaNumber: amountToNumber(delta as Amount),
  };
}
