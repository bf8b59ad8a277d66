import { describe, expect, it } from 'vitest';
import { InvalidInputError, InvalidParameterError } from '../../src/base/errors.js';
import { count, mean } from '../../src/estimators/index.js';
import {
  ledgerState, memoryLedger, payFrom, type Ledger, type LedgerTerms,
} from '../../src/ledger.js';
import { amountOf, amountToNumber } from '../../src/privacy/accounting/amount.js';
import { epsilonOfApproximateZcdp } from '../../src/privacy/accounting/conversion.js';
import { capsOf } from '../../src/privacy/accounting/target.js';
import { Session } from '../../src/index.js';

const rows = Array.from({ length: 400 }, (_, i) => [i % 20]);
const terms: LedgerTerms = {
  data: 'rows', epsilon: 2, delta: 1e-6, participation: 'public',
};
const budget = { rows, epsilon: 2, delta: 1e-6, participation: 'public' } as const;

describe('a session', () => {
  it('pays for one answer of its whole budget, and then for nothing', async () => {
    for (const delta of [1e-6, 0]) {
      const session = new Session({ ...budget, delta });
      expect(session.state).toMatchObject({ answers: 0, epsilon: { spent: 0, budget: 2 } });
      const answer = await session.estimate({ estimator: count, epsilon: 2 });
      expect(answer).toMatchObject({ kind: 'value' });
      expect(session.state.epsilon.spent).toBeLessThanOrEqual(2);
      expect(session.state).toMatchObject({ answers: 1, counts: { left: 0 } });
      expect(session.state.epsilonLeft).toBeLessThan(0.05);
      const next = await session.estimate({ estimator: count, epsilon: 0.5 });
      if (next.kind !== 'infeasible') throw new Error(next.kind);
      expect(next.reason).toContain('is spent');
      expect(session.state.answers).toBe(1);
    }
  });

  it('lasts for as many counts as it says', async () => {
    for (const [delta, epsilon] of [[1e-6, 0.3], [1e-6, 0.7], [0, 0.3]] as const) {
      const session = new Session({ ...budget, delta });
      const first = await session.estimate({ estimator: count, epsilon });
      expect(first.kind).toBe('value');
      const { left, delta: asked } = session.state.counts;
      let more = 0;
      const again = { estimator: count, epsilon, delta: asked };
      while ((await session.estimate(again)).kind === 'value') more += 1;
      expect(more).toBeGreaterThanOrEqual(left);
      expect(more).toBeLessThanOrEqual(left + 1);
      expect(more).toBeGreaterThan(4);
      expect(session.state.epsilon.spent).toBeLessThanOrEqual(2);
    }
  });

  it('says which epsilon would still fit, and that one fits', async () => {
    const session = new Session(budget);
    const asked = { estimator: mean, parameters: { spread: 8 } } as const;
    expect((await session.estimate({ ...asked, epsilon: 1.2 })).kind).toBe('value');
    const refused = await session.estimate({ ...asked, epsilon: 1.9 });
    if (refused.kind !== 'infeasible') throw new Error('it was paid');
    const epsilon = Number(/epsilon ([\d.]+) or less/.exec(refused.remedy)?.[1]);
    expect(epsilon).toBeGreaterThan(0.9);
    expect((await session.estimate({ ...asked, epsilon })).kind).toBe('value');
    expect(session.state.epsilon.spent).toBeGreaterThan(1.85);
  });

  it('does not run out of delta before it runs out of rho', async () => {
    const many = Array.from({ length: 10 }, () => rows).flat();
    const session = new Session({ ...budget, rows: many, epsilon: 3 });
    const asked = { estimator: mean, epsilon: 2.2, parameters: { spread: 8 } } as const;
    expect((await session.estimate(asked)).kind).toBe('value');
    // It has a threshold, whose noise needs some delta.
    expect((await session.estimate({ ...asked, epsilon: 0.9 })).kind).toBe('value');
  });

  it('keeps its rows for the next answer', async () => {
    const session = new Session({ ...budget, rows: rows.map(([value]) => [value! + 1000]) });
    const asked = { estimator: mean, epsilon: 0.9, parameters: { range: '0..2000' } } as const;
    for (let i = 0; i < 2; i++) {
      const answer = await session.estimate(asked);
      if (answer.kind !== 'value') throw new Error(answer.kind);
      expect(answer.estimate[0]).toBeGreaterThan(900);
    }
  });

  it('needs a cohort where presence is protected, and refuses wrong options by name', async () => {
    expect(() => new Session({ ...budget, participation: 'secret' })).toThrow('cohort is missing');
    expect(() => new Session({ ...budget, rows: [] })).toThrow(InvalidInputError);
    expect(() => new Session({ ...budget, epsilon: -1 })).toThrow('epsilon');
    expect(() => new Session({ ...budget, budget: 3 } as never)).toThrow('budget');
    const session = new Session({ ...budget, delta: 0 });
    await expect(session.estimate({ estimator: count, epsilon: 1, delta: 1e-6 }))
      .rejects.toThrow('delta 0');
    await expect(session.estimate({ estimator: count } as never)).rejects.toThrow('epsilon');
    expect(session.state.answers).toBe(0);
  });
});

describe('a ledger', () => {
  const ask = {
    answer: 'count', asked: { epsilon: 1, delta: 1e-6 }, participation: 'public', neighbours: 'n',
    again: () => null,
  } as const;
  const costOf = (rho: number, epsilon: number | null) =>
    ({ rho: amountOf(rho), delta: amountOf(0), gaussian: null,
      epsilon: epsilon === null ? null : amountOf(epsilon) });

  it('has the caps of a study with its budget', () => {
    const { caps } = memoryLedger(terms);
    expect(caps).toMatchObject(capsOf({ epsilon: 2, delta: 1e-6, rule: 'zcdp' }));
    expect(memoryLedger({ ...terms, delta: 0 }).caps.rule).toEqual({ rule: 'pure' });
  });

  it('is paid by the sum of pure epsilons too, until something is not pure', () => {
    const ledger = memoryLedger({ ...terms, epsilon: 2 });
    const most = amountToNumber(ledger.caps.rhoCap);
    const pay = (cost: ReturnType<typeof costOf>) => payFrom(ledger, { ...ask, costs: [cost] });
    expect(pay(costOf(most * 2, 1))).toBeNull();
    expect(pay(costOf(most * 2, 1))).toBeNull();
    expect(pay(costOf(most * 2, 1))).toMatchObject({ kind: 'infeasible' });
    const mixed = memoryLedger(terms);
    expect(payFrom(mixed, { ...ask, costs: [costOf(most * 2, 1)] })).toBeNull();
    expect(payFrom(mixed, { ...ask, costs: [costOf(most / 10, null)] })).not.toBeNull();
  });

  it('pays for answers of both kinds, a pure one for at most its epsilon at one order', () => {
    // By rho alone, one pure answer of epsilon 2.5 would use up the budget.
    const caps = { epsilon: 8, delta: 1e-5 };
    const pay = (ledger: Ledger, cost: ReturnType<typeof costOf>) =>
      payFrom(ledger, { ...ask, costs: [cost] });
    for (const order of ['pure first', 'pure last']) {
      const ledger = memoryLedger({ ...terms, ...caps });
      const asked = [costOf(2.12, 2.5), costOf(0.16, null), costOf(0.16, null)];
      for (const cost of order === 'pure first' ? asked : asked.reverse()) {
        expect(pay(ledger, cost), order).toBeNull();
      }
      // Beside them 2.5 for the pure one, not the conversion of 2.12.
      const others = epsilonOfApproximateZcdp(0.32, 0, 1e-5);
      expect(ledgerState(ledger).epsilon.spent).toBeCloseTo(2.5 + others, 6);
      // 0.32 of rho and 2.5 of epsilon over the order leave as much as three more of 0.07.
      const left = amountToNumber(ledger.caps.rhoCap) - 0.32 - 2.5 / ledger.caps.order!;
      expect(pay(ledger, costOf(left * 1.001, null))).not.toBeNull();
      expect(pay(ledger, costOf(left * 0.999, null))).toBeNull();
      expect(ledgerState(ledger).epsilon.spent).toBeLessThan(caps.epsilon);
    }
  });

  it('has the order at which its rho is within its epsilon', () => {
    for (const [epsilon, delta] of [[8, 1e-5], [1, 1e-6], [0.1, 1e-9], [20, 0.01]] as const) {
      const { caps: { rhoCap, order } } = memoryLedger({ ...terms, epsilon, delta });
      // Canonne, Kamath, Steinke 2020, corollary 13, beside events of half of delta.
      const [a, rest] = [order!, delta / 2 / (1 - delta / 2)];
      const divergence = a * amountToNumber(rhoCap);
      const logarithm = (a - 1) * (divergence - epsilon)
        - Math.log(a - 1) + a * Math.log1p(-1 / a);
      expect(Math.exp(logarithm) / rest).toBeLessThanOrEqual(1 + 1e-9);
      expect(Math.exp(logarithm) / rest).toBeGreaterThan(1 - 1e-6);
    }
  });

  it('charges the largest of answers about different people', () => {
    const ledger = memoryLedger(terms);
    payFrom(ledger, { ...ask, costs: [costOf(0.01, null), costOf(0.03, 0.2), costOf(0.02, 0.3)] });
    expect(ledger.entries()[0]!.charge).toEqual({ rho: amountOf(0.03), delta: 0n, pure: null });
  });

  it('refuses an answer that protects less than it promises', () => {
    const ledger = memoryLedger({ ...terms, participation: 'secret' });
    expect(() => payFrom(ledger, { ...ask, costs: [costOf(0.01, null)] }))
      .toThrow(InvalidParameterError);
    expect(ledger.entries()).toEqual([]);
  });

  it('refuses noise that its rule cannot hold, and charges nothing', () => {
    const ledger = memoryLedger(terms);
    const renyi = { order: 8, amount: amountOf(0.1) };
    const cost = { ...costOf(0.1, null), renyi };
    expect(payFrom(ledger, { ...ask, costs: [cost] })?.reason).toContain('cannot hold');
    expect(ledger.entries()).toEqual([]);
  });

  it('refuses what is no ledger, and two budgets', () => {
    const untyped = (options: object): Session => new Session(options as never);
    for (const ledger of [3, 'x', null, {}, { terms }]) {
      expect(() => untyped({ rows, ledger })).toThrow(InvalidParameterError);
    }
    const ledger = memoryLedger(terms);
    expect(() => untyped({ rows, ledger, epsilon: 2 })).toThrow(/one budget/);
  });
});
