import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../server/store/sqlite/driver.js';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BudgetSpec, Store } from '../../server/store/contract.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import {
  amount, batch, budget, epochOf, idOf, registration, release, verdicts,
} from '../support/store-fixtures.js';
import { VirtualClock } from '../support/virtual-clock.js';
import { memoryFolder } from '../support/memory-folder.js';

const windowMs = 1_000;
const yearMs = 365 * 86_400_000;
let directory: string;
let clock: VirtualClock;
let store: Store;
let released: number;

async function begin(): Promise<void> {
  directory = mkdtempSync(join(memoryFolder, 'keelson-clock-'));
  clock = new VirtualClock();
  released = 0;
  store = await openInlineSqliteStore({ directory, clock });
}
async function end(): Promise<void> {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
}
beforeEach(begin);
afterEach(end);

async function reopen(): Promise<void> {
  await store.close();
  store = await openInlineSqliteStore({ directory, clock });
}

const register = (overrides: Partial<BudgetSpec> = {}): Promise<unknown> => store.registerStudy(
  registration({
    budget: budget({ rhoCap: amount(250), windowMs, ...overrides }), nowMs: clock.nowMs(),
  }));
const open = (epoch: number) => store.openEpoch(epochOf(epoch, { opensAtMs: clock.nowMs() }));

async function finish(epoch: number): Promise<void> {
  const nowMs = clock.nowMs();
  await store.beginClose(idOf('s'), BigInt(epoch));
  await store.chargeEpoch(idOf('s'), BigInt(epoch), `["events ${epoch}"]`, nowMs);
  await store.storeRelease(release(released, epoch, { nowMs }));
  released += 1;
}

const spent = async (): Promise<bigint> => (await store.balance('study:s'))!.rhoSpent;
const repair = (): Promise<number> => store.repairTimes!(clock.nowMs(), true);

describe('a clock that was ahead and is set right', () => {
  it('gives nothing back until that date; once confirmed, a window after the confirmation and not '
    + 'earlier', async () => {
    await register();
    await open(1);
    await finish(1);
    clock.jump(yearMs);
    await open(2);
    await finish(2);
    clock.jump(-yearMs);
    await clock.advance(10 * windowMs);
    expect(await spent()).toBe(100n);
    expect(await store.newestTime!()).toBeGreaterThan(clock.nowMs() + yearMs / 2);
    expect(await repair()).toBeGreaterThan(0);
    expect(await store.newestTime!()).toBe(clock.nowMs());
    // The first charge left ten windows ago by the true time.
    expect(await spent()).toBe(100n);
    await clock.advance(windowMs - 1);
    expect(await spent()).toBe(100n);
    await clock.advance(1);
    expect(await spent()).toBe(0n);
    await reopen();
    expect(await open(3)).toMatchObject({ kind: 'opened' });
  });

  it('closes the open epoch as late as it was planned to after its opening', async () => {
    await register();
    clock.jump(72 * yearMs);
    const opensAtMs = clock.nowMs();
    await store.openEpoch(epochOf(1, { opensAtMs, closesAtMs: opensAtMs + 10_000 }));
    clock.jump(-72 * yearMs);
    // Nothing is known before the operator says that this clock is right.
    await store.repairTimes!(clock.nowMs(), false);
    expect(await store.epoch(idOf('s'), 1n)).toMatchObject({ closesAtMs: opensAtMs + 10_000 });
    await repair();
    const times = { opensAtMs: clock.nowMs(), closesAtMs: clock.nowMs() + 10_000 };
    expect(await store.epoch(idOf('s'), 1n)).toMatchObject(times);
    await clock.advance(5_000);
    await repair();
    expect(await store.epoch(idOf('s'), 1n)).toMatchObject(times);
  });

  it('counts again what had left early, although that is more than the cap, and lets nothing more '
    + 'in', async () => {
    await register();
    for (const epoch of [1, 2]) {
      await open(epoch);
      await finish(epoch);
    }
    clock.jump(yearMs);
    for (const epoch of [3, 4]) {
      await open(epoch);
      await finish(epoch);
    }
    expect(await open(5)).toMatchObject({ kind: 'declined' });
    clock.jump(windowMs);
    expect(await open(6)).toMatchObject({ kind: 'opened' });
    clock.jump(-yearMs - windowMs);
    await repair();
    // Four charges and a reservation of 250.
    expect(await store.balance('study:s')).toMatchObject({ rhoSpent: 400n, rhoReserved: 100n });
    await reopen();
    // The same facts still start, and what was reserved before can be charged.
    await register();
    await finish(6);
    expect(await spent()).toBe(500n);
    expect(await open(7)).toMatchObject({ kind: 'declined', retryAtMs: clock.nowMs() + windowMs });
    await clock.advance(windowMs);
    expect(await open(8)).toMatchObject({ kind: 'opened' });
  });

  it('counts an epoch whose debits were deleted for every contributor', async () => {
    await register({ scope: 'contributor' });
    await open(1);
    await verdicts(store, [batch('a', 1, 1)]);
    await finish(1);
    clock.jump(yearMs);
    await store.purgeEpoch(idOf('s'), 1n);
    const file = connect(join(directory, 'keelson.db'), { readonly: true });
    expect(file.prepare('SELECT count(*) AS debits FROM contributor_debits').get())
      .toEqual({ debits: 0n });
    file.close();
    clock.jump(10 - yearMs);
    const spendOf = async (name: string) =>
      (await store.contributorState(idOf('s'), idOf(name))).spend!.rho;
    await open(2);
    expect(await verdicts(store, [batch('b', 1, 2)])).toEqual(['accepted@2']);
    expect([await spendOf('a'), await spendOf('b')]).toEqual([100n, 200n]);
    await finish(2);
    await open(3);
    expect(await verdicts(store, [batch('a', 2, 3), batch('b', 2, 3)]))
      .toEqual(['accepted@3', 'rejected:contributor-budget-exhausted']);
    await clock.advance(windowMs);
    expect([await spendOf('a'), await spendOf('b')]).toEqual([100n, 0n]);
  });

  it('never lets true windows hold more than the cap, but for what was charged while the clock was '
    + 'ahead', { tags: ['slow'], timeout: 120_000 }, async () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({
        kind: fc.constant('epoch' as const), waitMs: fc.integer({ min: 0, max: 400 }),
      }) },
      { weight: 1, arbitrary: fc.record({
        kind: fc.constant('ahead' as const), byMs: fc.integer({ min: 1, max: 5_000 }),
      }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('right' as const) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        await end();
        await begin();
        await register();
        let aheadMs = 0;
        let trueMs = 0;
        /** Charges at their true times; `wrong` while the clock was ahead. */
        const charges: { readonly atMs: number; readonly wrong: boolean }[] = [];
        let epoch = 0;
        for (const each of steps) {
          if (each.kind === 'ahead') {
            clock.jump(each.byMs);
            aheadMs += each.byMs;
          } else if (each.kind === 'right') {
            clock.jump(-aheadMs);
            aheadMs = 0;
            await repair();
          } else if (each.kind === 'restart') {
            await reopen();
          } else {
            await clock.advance(each.waitMs);
            trueMs += each.waitMs;
            epoch += 1;
            if ((await open(epoch)).kind !== 'opened') continue;
            await finish(epoch);
            charges.push({ atMs: trueMs, wrong: aheadMs > 0 });
            if (aheadMs > 0) continue;
            // Let in by a clock that is right: with it, the last window of true time holds at most
            // the cap.
            const inWindow = charges.filter(({ atMs }) => atMs > trueMs - windowMs).length;
            expect(100 * inWindow).toBeLessThanOrEqual(250);
          }
        }
      }), { numRuns: 40, seed: 7 },
    );
  });
});

describe('a clock before 2020', () => {
  it('leaves stamps that the next start sets to the present, so that what it charged counts a '
    + 'whole window', async () => {
    await register();
    clock.jump(-60 * yearMs);
    await open(1);
    await finish(1);
    clock.jump(60 * yearMs);
    expect(await store.repairTimes!(clock.nowMs(), false)).toBeGreaterThan(0);
    await reopen();
    expect(await spent()).toBe(100n);
    await clock.advance(windowMs - 1);
    expect(await spent()).toBe(100n);
    await clock.advance(1);
    expect(await spent()).toBe(0n);
  });

  it('leaves a ledger that adds up, also of a budget that does not renew', async () => {
    clock.jump(-60 * yearMs);
    await store.registerStudy(registration({ nowMs: clock.nowMs() }));
    await open(1);
    await finish(1);
    await reopen();
    expect(await spent()).toBe(100n);
    expect(await store.newestTime!()).toBeNull();
  });
});
