import { zeroAmount } from '../../../src/privacy/accounting/amount.js';
import type { Store } from '../../../server/store/contract.js';

/** Mistakes that a store may make, each planted by a change of one call. */
export const plantedMistakes: Readonly<Record<string, (store: Store) => Partial<Store>>> = {
  'takes late batches that it must refuse': (store) => ({
    async admit(batches) {
      const newest = await Promise.all(batches.map(async ({ studyId }) =>
        (await store.study(studyId))!.lastEpoch));
      return store.admit(batches.map((batch, i) =>
        ({ ...batch, epoch: batch.epoch < newest[i]! ? newest[i]! : batch.epoch })));
    },
  }),
  'lets a budget hold one unit more': (store) => ({
    async registerStudy(input) {
      const { budget } = input;
      const rhoCap = (budget.rhoCap + 1n) as typeof budget.rhoCap;
      return store.registerStudy({ ...input, budget: { ...budget, rhoCap } });
    },
  }),
  'forgets that a charge is not pure': (store) => ({
    openEpoch: (input) => store.openEpoch({ ...input, pure: input.pure ?? zeroAmount }),
    turnEpoch: (studyId, closing, next) =>
      store.turnEpoch(studyId, closing, { ...next, pure: next.pure ?? zeroAmount }),
  }),
  'takes one row more': (store) => ({
    admit: (batches) => store.admit(batches.map((batch) =>
      (batch.rows === 3 ? { ...batch, rows: 2 } : batch))),
  }),
  'acknowledges a batch that it does not write': (store) => ({
    async admit(batches) {
      const results = await store.admit(batches.slice(0, 8));
      return [...results, ...batches.slice(8).map(() => ({
        verdict: 'accepted' as const, epoch: 1n, position: 1n, complete: false,
      }))];
    },
  }),
  'takes one person more than an epoch does': (store) => ({
    admit: (batches) => store.admit(batches.map((batch) =>
      ({ ...batch, peopleMax: batch.peopleMax + 1 }))),
  }),
  'forgets a withdrawal': (store) => ({
    withdraw: async (input) => (input.epoch % 2n === 0n ? store.withdraw(input)
      : { kind: 'withdrawn', undone: false, complete: false }),
  }),
  'keeps the reservation of a lapsed epoch': () => ({ lapseEpoch: async () => undefined }),
  'says of each charge that it made it': (store) => ({
    chargeEpoch: async (...charge) =>
      ({ ...await store.chargeEpoch(...charge), isMine: true }),
  }),
  'leaves a key out one epoch late': (store) => ({
    quarantine: (inputs) => store.quarantine!(inputs.map((input) =>
      ({ ...input, fromEpoch: (input.fromEpoch ?? 0n) + 100n }))),
  }),
  'closes before it knows that the next epoch opens': (store) => ({
    async turnEpoch(studyId, closing, next) {
      await store.beginClose(studyId, closing);
      return store.openEpoch(next);
    },
  }),
  'lets a window pass a millisecond early': (store) => ({
    registerStudy: (input) => store.registerStudy(input.budget.windowMs === undefined ? input
      : { ...input, budget: { ...input.budget, windowMs: input.budget.windowMs - 1 } }),
  }),
  'takes one new key more': (store) => ({
    registerStudy: (input) => store.registerStudy({
      ...input,
      document: input.document.replace(/"contributorKeys":(\d)/, (_, keys: string) =>
        `"contributorKeys":${Number(keys) + 1}`),
    }),
  }),
  'lets people into totals that are too near': (store) => ({
    registerStudy: (input) => store.registerStudy(
      { ...input, document: input.document.replace(/"separation":\d/, '"separation":1') },
    ),
  }),
  'does not purge': () => ({ purgeEpoch: async () => undefined }),
  'gives a release the next place, whatever it asks for': (store) => ({
    async storeRelease(input) {
      const study = await store.study(input.studyId);
      await store.storeRelease({ ...input, index: study?.releaseCount ?? 0 });
    },
  }),
  'forgets what running totals leave': (store) => ({
    storeRelease: (input) => store.storeRelease({ ...input, series: [] }),
  }),
};

/** `store` with some calls of its own. */
export function withMistake(store: Store, change: (store: Store) => Partial<Store>): Store {
  const own = change(store);
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(name in own ? own : target, name) as object;
      return typeof value === 'function' ? value.bind(target) as object : value;
    },
  });
}
