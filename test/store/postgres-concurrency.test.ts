import { expect, it } from 'vitest';
import type { AdmissionResult, JournalEntry, Store } from '../../server/store/contract.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { migrateSchema } from '../../server/store/postgres/schema.js';
import { describePrivatePostgres, psql } from '../support/postgres.js';
import { until } from '../support/until.js';
import { amount, batch, budget, epochOf, idOf, registration } from '../support/store-fixtures.js';
import { encryptionKeys } from '../support/postgres/encryption-keys.js';

const senders = 8;

/** What one sender was told of its batches. */
interface Told {
  readonly contributor: string;
  readonly sequence: bigint;
  readonly result: AdmissionResult;
}

async function openedStore(url: string): Promise<Store> {
  await migrateSchema({ url });
  const store = await openPostgresStore({ encryptionKeys, url, pool: 8, leaseMs: 1_000 });
  const wide = budget({ rhoCap: amount(10n ** 9n), deltaCap: amount(10n ** 9n) });
  await store.registerStudy(registration({ budget: wide }));
  await store.openEpoch(epochOf(1, { rowsMax: 1_000_000 }));
  return store;
}

/**
 * Sends batches one after another until told to stop, and each one again after every tenth. The
 * last two senders share one contributor.
 */
async function send(
  store: Store, sender: number, epoch: () => bigint, stop: () => boolean,
): Promise<Told[]> {
  const contributor = `c${Math.min(sender, senders - 2)}`;
  const told: Told[] = [];
  const tell = async (sequence: number): Promise<void> => {
    const asked = batch(contributor, sequence, epoch());
    const [result] = await store.admit([asked]);
    told.push({ contributor: idOf(contributor), sequence: BigInt(sequence), result: result! });
  };
  for (let sequence = 1; !stop(); sequence++) {
    await tell(sequence);
    if (sequence % 10 === 0) await tell(sequence - 5);
  }
  return told;
}

/** Every entry of the epochs up to `last`, with its epoch. */
async function journals(store: Store, last: bigint): Promise<(JournalEntry & { at: bigint })[]> {
  const found: (JournalEntry & { at: bigint })[] = [];
  for (let at = 1n; at <= last; at++) {
    const entries = await store.journal(idOf('s'), at, 0n, 1_000_000);
    found.push(...entries.map((entry) => ({ ...entry, at })));
  }
  return found;
}

const nameOf = (epoch: bigint, contributor: string, sequence: bigint): string =>
  `${epoch} ${contributor} ${sequence}`;

/** What was told as accepted, or as a duplicate of it, is in the journal of that epoch, once. */
function compare(told: readonly Told[], found: readonly (JournalEntry & { at: bigint })[]): void {
  const names = found.map(({ at, contributor, sequence }) => nameOf(at, contributor, sequence));
  const kept = new Set(names);
  expect(kept.size).toBe(names.length);
  // Not twice in two epochs either.
  expect(new Set(found.map(({ contributor, sequence }) => `${contributor} ${sequence}`)).size)
    .toBe(names.length);
  const counted = told.filter(({ result }) => result.verdict !== 'rejected');
  expect(counted.filter(({ contributor, sequence, result }) =>
    !kept.has(nameOf(result.epoch, contributor, sequence)))).toEqual([]);
}

describePrivatePostgres('many connections on one PostgreSQL store', (server) => {
  it('write no row after a close, and none twice', { tags: ['long'] }, async () => {
    const store = await openedStore(await server().createDatabase());
    const turns = 25;
    let open = 1n;
    const tellers = Array.from({ length: senders }, (_, sender) =>
      send(store, sender, () => open, () => open > turns));
    const closed = new Map<bigint, Set<bigint>>();
    while (open <= turns) {
      const closing = open;
      await store.turnEpoch(idOf('s'), closing, epochOf(closing + 1n, { rowsMax: 1_000_000 }));
      const entries = await store.journal(idOf('s'), closing, 0n, 1_000_000);
      closed.set(closing, new Set(entries.map(({ position }) => position)));
      open = closing + 1n;
    }
    const told = (await Promise.all(tellers)).flat();
    const found = await journals(store, open);
    for (const [epoch, then] of closed) {
      const now = found.filter(({ at }) => at === epoch).map(({ position }) => position);
      expect(new Set(now)).toEqual(then);
    }
    compare(told, found);
    expect(told.some(({ result }) => result.verdict === 'duplicate')).toBe(true);
    expect(new Set(found.map(({ at }) => at)).size).toBeGreaterThan(5);
    await store.close();
  });

  it('keep what they acknowledged when the database is killed', { tags: ['slow'] }, async () => {
    const url = await server().createDatabase();
    const store = await openedStore(url);
    let over = false;
    let answers = 0;
    const counting: Store = {
      ...store,
      admit: async (batches) => {
        const results = await store.admit(batches);
        answers += 1;
        return results;
      },
    };
    // A sender that fails ends the test: nobody would wait for its answers.
    const failures: unknown[] = [];
    const tellers = Array.from({ length: senders }, (_, sender) =>
      send(counting, sender, () => 1n, () => over)
        .catch((error: unknown): Told[] => { failures.push(error); return []; }));
    for (let kill = 0; kill < 3; kill++) {
      const before = answers;
      await until(() => failures.length > 0 || answers > before + 40);
      await server().crash();
      await server().restart();
    }
    const before = answers;
    await until(() => failures.length > 0 || answers > before + 40);
    over = true;
    const told = (await Promise.all(tellers)).flat();
    expect(failures).toEqual([]);
    compare(told, await journals(store, 1n));
    expect(told.filter(({ result }) => result.verdict === 'accepted').length)
      .toBeGreaterThan(100);
    await store.close();
    expect(await psql(url, 'select max(rho_spent + rho_reserved) <= max(rho_cap) from '
      + 'keelson.budgets')).toBe('t');
  });
});
