import { describe, expect, it } from 'vitest';
import { lossOfBudget } from '../../cli/base/spent-loss.js';
import type { LedgerBalance, LedgerEntry } from '../../server/store/contract.js';
import { amountToNumber, zeroAmount, type Amount } from '../../src/privacy/accounting/amount.js';
import {
  gaussianEvent, gaussianHistogramEvent, laplaceEvent,
} from '../../src/privacy/accounting/calibration.js';
import { chargeUnder } from '../../src/privacy/accounting/budget.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import { epsilonOfApproximateZcdp } from '../../src/privacy/accounting/conversion.js';
import type { BudgetRule } from '../../src/privacy/accounting/cost.js';
import { eventsToJson } from '../../src/privacy/accounting/event-codec.js';
import type { MechanismEvent } from '../../src/privacy/accounting/events.js';
import { lossOfReleases } from '../../src/privacy/accounting/loss-distribution/index.js';

const zcdp: BudgetRule = { rule: 'zcdp' };
const left: MechanismEvent =
  gaussianEvent({ name: 'a', cohort: 'left', dimension: 2, sensitivity: 1, rho: 0.02 });
const right: MechanismEvent =
  gaussianHistogramEvent({ name: 'b', cohort: 'right', coordinates: 2, rho: 0.02, delta: 1e-8 });

function entryOf(
  events: readonly MechanismEvent[], epoch: number, disjoint: readonly string[] = [], rule = zcdp,
): LedgerEntry {
  return {
    budgetKey: 'study:s', studyId: 's', epoch: BigInt(epoch), kind: 'charged',
    ...chargeUnder(rule, costOfEvents(events, { disjoint })), events: eventsToJson(events),
    atMs: epoch,
  };
}

const addAmounts = (...amounts: readonly Amount[]): Amount =>
  amounts.reduce<bigint>((sum, amount) => sum + amount, 0n) as Amount;

/** A balance whose entries add up, with a reservation of the next epoch beside them. */
function balanceOf(entries: readonly LedgerEntry[], rule = zcdp): LedgerBalance {
  const charged = entries.filter(({ kind }) => kind === 'charged');
  const [rhoSpent, deltaSpent] = [
    addAmounts(...charged.map(({ rho }) => rho)), addAmounts(...charged.map(({ delta }) => delta)),
  ];
  return {
    key: 'study:s', scope: 'study', rule, rhoCap: addAmounts(rhoSpent, rhoSpent),
    deltaCap: addAmounts(deltaSpent, deltaSpent), rhoSpent, deltaSpent, rhoReserved: zeroAmount,
    deltaReserved: zeroAmount, pureCap: zeroAmount, pureSpent: null, pureReserved: null,
    epsilon: 4, delta: 1e-5,
  };
}

describe('the loss of what a ledger charged', () => {
  it('is below the conversion of the sums, and counts every charge', () => {
    const entries = [1, 2, 3, 4].map((epoch) => entryOf([left, right], epoch));
    const balance = balanceOf(entries);
    const loss =
      lossOfBudget(balance, [...entries, { ...entries[0]!, epoch: 5n, kind: 'reserved' }])!;
    const sums = epsilonOfApproximateZcdp(
      amountToNumber(balance.rhoSpent), amountToNumber(balance.deltaSpent), 1e-5,
    );
    expect(loss).toBeLessThan(sums);
    expect(loss).toBeGreaterThan(0.85 * sums);
    expect(loss)
      .toBeCloseTo(lossOfReleases([{ events: [left, right], times: 4 }])!.epsilon(1e-5), 9);
  });

  it('takes cohorts as disjoint only where the charge did', () => {
    const together = entryOf([left, right], 1);
    const apart = entryOf([left, right], 1, ['left', 'right']);
    expect(apart.rho).toBeLessThan(together.rho);
    expect(lossOfBudget(balanceOf([apart]), [apart])!)
      .toBeLessThan(0.8 * lossOfBudget(balanceOf([together]), [together])!);
  });

  it('reads charges of a budget of pure epsilon', () => {
    const rule: BudgetRule = { rule: 'pure' };
    const events = ['a', 'b'].map((cohort) =>
      laplaceEvent({
        name: cohort, cohort, dimension: 1, sensitivity: 1, epsilon: 0.5, grid: 2 ** -20,
      }));
    const entries = [entryOf(events, 1, ['a', 'b'], rule), entryOf(events, 2, ['a', 'b'], rule)];
    expect(lossOfBudget({ ...balanceOf(entries, rule), delta: 1e-9 }, entries)!).toBeCloseTo(1, 2);
  });

  it('is null when entries and totals differ, or an entry has no events', () => {
    const entries = [1, 2].map((epoch) => entryOf([left], epoch));
    expect(lossOfBudget(balanceOf(entries), entries.slice(1))).toBeNull();
    expect(lossOfBudget(balanceOf(entries), [entries[0]!, { ...entries[1]!, events: '' }]))
      .toBeNull();
  });

  it('is zero before the first charge', () => {
    expect(lossOfBudget(balanceOf([]), [])).toBe(0);
  });
});
