import { amountToNumber, type Amount } from '../../src/privacy/accounting/amount.js';
import type { LedgerBalance, Store } from '../../server/store/contract.js';
import { ok, warn, type Finding } from './finding.js';

/** Least share of a budget that must be left for it to be called well. */
const leftLeast = 0.1;

/** A finding for each budget of a store. @param reader of the store, which is closed. */
export async function budgetFindings(
  reader: Pick<Store, 'balances' | 'close'>,
): Promise<Finding[]> {
  try {
    return (await reader.balances()).map(budgetFinding);
  } finally {
    await reader.close();
  }
}

/** @param balance as the ledger has it. Under contributor scope it bounds everybody's spending. */
export function budgetFinding(balance: LedgerBalance): Finding {
  const check = `budget ${balance.key}`;
  const [rho, delta] = [
    share(balance.rhoSpent, balance.rhoReserved, balance.rhoCap),
    share(balance.deltaSpent, balance.deltaReserved, balance.deltaCap),
  ];
  const { pureSpent, pureReserved, pureCap } = balance;
  const spent = Math.min(Math.max(rho, delta), pureSpent === null || pureReserved === null
    ? Infinity : share(pureSpent, pureReserved, pureCap));
  const text = `${Math.floor(100 * spent)} % spent or reserved`;
  if (balance.scope === 'contributor' || spent <= 1 - leftLeast) return ok(check, text);
  return warn(check, text, balance.windowMs === undefined
    ? 'the study ends when it is spent: plan the next study, with a budget of its own'
    : 'the study waits for the window: ask less often, or for less precise answers');
}

const share = (spent: Amount, reserved: Amount, cap: Amount): number => {
  const most = amountToNumber(cap);
  return most === 0 ? 0 : (amountToNumber(spent) + amountToNumber(reserved)) / most;
};
