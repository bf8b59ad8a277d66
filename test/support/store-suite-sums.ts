import { beforeEach, describe, expect, it } from 'vitest';
import type { BudgetSpec, OpenEpoch } from '../../server/store/contract.js';
import {
  amount, batch, budget, epochOf, finishEpoch, idOf, registration, verdicts,
} from './store-fixtures.js';
import type { Bench } from './store-suite.js';

/** rho pays for two epochs of these, and pure epsilon for eight. */
const caps = { rhoCap: amount(250), epsilon: 800 / 2 ** 64 };
const pure = { rho: amount(100), delta: amount(0), pure: amount(100) };
const impure = { rho: amount(100), delta: amount(0) };

/** Either sum of a budget pays: rho and delta, or pure epsilon (accounting/budget.ts). */
export function sumTests(bench: Bench): void {
  const register = (overrides: Partial<BudgetSpec> = {}, name = 's') =>
    bench.store.registerStudy(registration({
      studyId: idOf(name), name, budget: budget({ ...caps, ...overrides }),
    }));
  const open = async (epoch: number, overrides: Partial<OpenEpoch>) =>
    (await bench.store.openEpoch(epochOf(epoch, overrides))).kind;

  describe('of a study', () => {
    beforeEach(() => register());

    it('pay as long as one of them does, to the last unit', async () => {
      for (let epoch = 1; epoch <= 8; epoch++) {
        expect(await open(epoch, pure)).toBe('opened');
        await finishEpoch(bench.store, epoch, epoch - 1);
      }
      expect(await bench.store.balance('study:s')).toMatchObject({
        rhoSpent: 800n, pureSpent: 800n, pureCap: 800n, pureReserved: 0n,
      });
      await bench.reopen();
      expect(await open(9, { ...pure, rho: amount(1), pure: amount(1) })).toBe('declined');
    });

    it('are not pure after a charge that is not', async () => {
      expect(await open(1, impure)).toBe('opened');
      expect(await bench.store.balance('study:s')).toMatchObject({ pureReserved: null });
      await finishEpoch(bench.store, 1, 0);
      expect(await bench.store.balance('study:s'))
        .toMatchObject({ pureSpent: null, pureReserved: 0n });
      expect(await open(2, pure)).toBe('opened');
      await finishEpoch(bench.store, 2, 1);
      await bench.reopen();
      expect(await bench.store.balance('study:s')).toMatchObject({ pureSpent: null });
      expect(await open(3, pure)).toBe('declined');
    });

    it('take no charge that is not pure once rho is used up', async () => {
      for (let epoch = 1; epoch <= 3; epoch++) {
        await open(epoch, pure);
        await finishEpoch(bench.store, epoch, epoch - 1);
      }
      expect(await open(4, { ...impure, rho: amount(1) })).toBe('declined');
    });

    it('belong to one rule, which a budget keeps', async () => {
      const other = { key: 'study:t', rule: { rule: 'gaussian' } } as const;
      await register(other, 't');
      expect(await bench.store.balance('study:t')).toMatchObject({ rule: { rule: 'gaussian' } });
      await bench.reopen();
      expect(await bench.store.balance('study:t')).toMatchObject({ rule: { rule: 'gaussian' } });
      await expect(register({ ...other, rule: { rule: 'zcdp' } }, 't'))
        .rejects.toThrow(/its rule is gaussian: keep it/);
      await expect(register({ rule: { rule: 'gaussian' } })).rejects.toThrow(/its rule is zcdp/);
    });

    it('let a budget shrink to what one of them holds', async () => {
      for (let epoch = 1; epoch <= 3; epoch++) {
        await open(epoch, pure);
        await finishEpoch(bench.store, epoch, epoch - 1);
      }
      const shrink = (units: number): Promise<unknown> =>
        register({ rhoCap: amount(200), epsilon: units / 2 ** 64 });
      await expect(shrink(299)).rejects.toMatchObject({ code: 'invalid-study' });
      await shrink(300);
      await expect(shrink(301)).rejects.toMatchObject({ code: 'invalid-study' });
    });

    it('write the pure amount of each entry', async () => {
      await open(1, pure);
      await finishEpoch(bench.store, 1, 0);
      await open(2, impure);
      await bench.store.lapseEpoch(idOf('s'), 2n, 5_000);
      expect((await bench.store.ledgerEntries('study:s', 9)).map((entry) => entry.pure))
        .toEqual([null, null, 100n, 100n]);
    });
  });

  it('are pure again when the only epoch that is not lapses', async () => {
    const { store } = bench;
    const shared = { key: 'population:p', scope: 'population' } as const;
    await register(shared, 'a');
    await register(shared, 'b');
    for (let epoch = 1; epoch <= 2; epoch++) {
      await open(epoch, { ...pure, studyId: idOf('a') });
      await finishEpoch(store, epoch, epoch - 1, idOf('a'));
    }
    expect(await open(1, { ...impure, rho: amount(50), studyId: idOf('b') })).toBe('opened');
    expect(await open(3, { ...pure, studyId: idOf('a') })).toBe('declined');
    await store.lapseEpoch(idOf('b'), 1n, 5_000);
    expect(await store.balance('population:p')).toMatchObject({ pureReserved: 0n });
    expect(await open(3, { ...pure, studyId: idOf('a') })).toBe('opened');
  });

  it('are each contributor\'s own under contributor scope', async () => {
    const { store } = bench;
    await register({ scope: 'contributor' });
    await open(1, impure);
    expect(await verdicts(store, [batch('b', 1, 1)])).toEqual(['accepted@1']);
    await finishEpoch(store, 1, 0);
    for (let epoch = 2; epoch <= 4; epoch++) {
      expect(await open(epoch, pure)).toBe('opened');
      expect(await verdicts(store, [batch('a', epoch, epoch), batch('b', epoch, epoch)])).toEqual([
        `accepted@${epoch}`,
        epoch === 2 ? 'accepted@2' : 'rejected:contributor-budget-exhausted',
      ]);
      await finishEpoch(store, epoch, epoch - 1);
    }
    const spend = async (name: string): Promise<unknown> =>
      (await store.contributorState(idOf('s'), idOf(name))).spend;
    expect(await spend('a')).toEqual({ rho: 300n, delta: 0n, pure: 300n });
    expect(await spend('b')).toEqual({ rho: 200n, delta: 0n, pure: null });
    await open(5, pure);
    await store.admit([batch('a', 5, 5)]);
    await store.lapseEpoch(idOf('s'), 5n, 5_000);
    expect(await spend('a')).toEqual({ rho: 300n, delta: 0n, pure: 300n });
  });

  it('count the debits of a window under contributor scope', async () => {
    const { store } = bench;
    await register({ scope: 'contributor', windowMs: 100_000_000_000_000 });
    for (let epoch = 1; epoch <= 3; epoch++) {
      await open(epoch, epoch === 3 ? { ...pure, pure: amount(601) } : pure);
      expect(await verdicts(store, [batch('a', epoch, epoch)]))
        .toEqual([epoch === 3 ? 'rejected:contributor-budget-exhausted' : `accepted@${epoch}`]);
      await finishEpoch(store, epoch, epoch - 1);
    }
    expect((await store.contributorState(idOf('s'), idOf('a'))).spend)
      .toEqual({ rho: 200n, delta: 0n, pure: 200n });
  });
}
