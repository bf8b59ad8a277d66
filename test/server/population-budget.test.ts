// @module-tag long
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeReleaseBody, type StudyDocument } from '../../src/wire/index.js';
import { Bench, contribute, define, everyMs } from '../support/hub-bench.js';
import { settle } from '../support/virtual-clock.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

const shared = (overrides: Partial<StudyDocument['budget']> = {}): StudyDocument['budget'] =>
  ({
    epsilon: 7, delta: 1e-5, rule: 'zcdp', scope: 'population', population: 'travellers',
    ...overrides,
  });
const key = 'population:travellers';

/** Two questions to the same people: one is dearer, and asked less often. */
const both = (overrides: Partial<StudyDocument['budget']> = {}) => [
  define({ budget: shared(overrides) }),
  define({
    study: 'dear', budget: shared(overrides), privacy: { epsilon: 3, delta: 1e-6 },
    epoch: { everyMs: 3 * everyMs },
  }),
];

/** spent + reserved <= cap, looked at between any two steps of the store. */
async function checkedAt(step: () => Promise<void>): Promise<void> {
  const store = await bench.store();
  await step();
  const balance = await store.balance(key);
  if (balance === null) return;
  expect(balance.rhoSpent + balance.rhoReserved <= balance.rhoCap).toBe(true);
  expect(balance.deltaSpent + balance.deltaReserved <= balance.deltaCap).toBe(true);
}

/** Every epoch that took rows was charged, at its study's cost, and has a release. */
async function checkPaid(
  studies: ReturnType<typeof both>, took: ReadonlyMap<string, Set<bigint>>,
): Promise<void> {
  const store = await bench.store();
  const entries = (await store.ledgerEntries(key, 1_000)).filter(({ kind }) => kind === 'charged');
  let spent = 0n;
  for (const [studyId, epochs] of took) {
    const name = (await store.study(studyId))!.name;
    const { charge } = studies.find(({ document }) => document.study === name)!;
    const releases = await store.releases(studyId, 0, 1_000);
    for (const epoch of epochs) {
      const paid = entries.filter((entry) => entry.studyId === studyId && entry.epoch === epoch);
      expect(paid.map(({ rho }) => rho), `epoch ${epoch} of ${name} is paid for once`)
        .toEqual([charge.rho]);
      expect(releases.filter((release) => release.epoch === epoch)).toHaveLength(1);
    }
  }
  for (const { rho } of entries) spent += rho;
  expect((await store.balance(key))!.rhoSpent).toBe(spent);
}

describe('studies on one population whose budget renews', () => {
  const windowMs = 8 * everyMs;
  const perMs = windowMs;
  const small = { epsilon: 2.2, perMs };

  /** Runs for some windows, and returns the releases of each study. */
  async function releasesAfter(
    studies: ReturnType<typeof both>, windows: number,
  ): Promise<number[]> {
    const hub = await bench.start(studies);
    for (let turn = 0;
        turn < windows * 8; turn++) await checkedAt(() => bench.clock.advance(everyMs));
    await hub.settled();
    const counts = hub.studies().map(({ releaseCount }) => releaseCount);
    await hub.close();
    expect(bench.failures).toEqual([]);
    return counts;
  }

  it.each([2, 3, 5])(
    'each get an epoch in %d windows and one, when one fits a window', async (count) => {
      const studies = Array.from({ length: count }, (_, i) =>
        define({ study: `study ${i}`, budget: shared(small) }));
      const [{ charge, budget }] = studies as [typeof studies[0]];
      expect(charge.rho <= budget.rhoCap && 2n * charge.rho > budget.rhoCap).toBe(true);
      for (let round = 1; round <= 3; round++) {
        // The second and third time it is a restart.
        const releases = await releasesAfter(studies, count + 1);
        expect(Math.min(...releases)).toBeGreaterThanOrEqual(round);
        expect(Math.max(...releases) - Math.min(...releases)).toBeLessThanOrEqual(round);
      }
    },
  );

  it('do not keep a dear study waiting for ever with cheap epochs', async () => {
    const budget = shared({ epsilon: 4, perMs });
    const [cheap, dear] = await releasesAfter([
      define({ budget, cohort: 800, privacy: { epsilon: 1, delta: 1e-6 } }),
      define({ study: 'dear', budget, privacy: { epsilon: 3, delta: 1e-6 } }),
    ], 12) as [number, number];
    expect(dear).toBeGreaterThanOrEqual(4);
    expect(cheap).toBeGreaterThan(dear);
  });

  it('pass the turn on when the first in line is ended', async () => {
    const studies = ['a', 'b', 'c'].map((study) => define({ study, budget: shared(small) }));
    const hub = await bench.start(studies);
    const waiting = hub.studies().filter(({ epoch }) => epoch === 0n);
    expect(waiting).toHaveLength(2);
    await hub.endStudy(waiting[0]!.studyId);
    for (let turn = 0; turn < 12; turn++) await checkedAt(() => bench.clock.advance(everyMs));
    await hub.settled();
    expect(hub.study(waiting[0]!.studyId)).toMatchObject({ state: 'ended', releaseCount: 0 });
    expect(hub.study(waiting[1]!.studyId)!.releaseCount).toBe(1);
    await hub.close();
  });
});

describe('two studies on one population', () => {
  it('open epochs side by side until the budget ends, within the cap at every step, every epoch '
    + 'paid for', async () => {
    const studies = both();
    const hub = await bench.start(studies);
    const took = new Map(hub.studies().map(({ studyId }) => [studyId, new Set<bigint>()]));
    for (let turn = 0; turn < 20; turn++) {
      await checkedAt(async () => {
        for (const { studyId, epoch } of hub.studies()) {
          if (epoch === 0n) continue;
          const results = await contribute(hub, studyId, 5, epoch);
          if (results.some(({ verdict }) => verdict === 'accepted')) took.get(studyId)!.add(epoch);
        }
      });
      await checkedAt(() => bench.clock.advance(everyMs));
    }
    await hub.settled();
    expect(hub.studies().map(({ state }) => state)).toEqual(['exhausted', 'exhausted']);
    expect([...took.values()].every((epochs) => epochs.size > 0)).toBe(true);
    await checkPaid(studies, took);
    const balance = (await hub.balances())[0]!;
    expect(balance).toMatchObject({ key, scope: 'population', rhoReserved: 0n });
    // It ended because nothing more fits: less than the cheaper study's cost is left.
    expect(balance.rhoCap - balance.rhoSpent < studies[0]!.charge.rho).toBe(true);
    const [release] = await hub.releases(hub.studies()[0]!.studyId, 0, 1);
    expect(decodeReleaseBody(release!.body)).toMatchObject({
      ledger: { scope: 'population' }, guarantee: /all studies of the population travellers/,
    });
    await hub.close();
  });

  it.each(['turnEpoch 1', 'turnEpoch 2', 'chargeEpoch 1', 'storeRelease 1', 'chargeEpoch 2'])(
    'keep that through a crash at %s', async (step) => {
      const studies = both();
      for (const when of ['before', 'after'] as const) {
        bench = new Bench();
        const hub = await bench.start(studies, { crash: { step: `store.${step}`, when } });
        const ids = hub.studies().map(({ studyId }) => studyId);
        for (let turn = 0; turn < 4; turn++) {
          for (const { studyId, epoch } of hub.studies()) {
            await contribute(hub, studyId, 5, epoch).catch(() => undefined);
          }
          await bench.clock.advance(everyMs);
        }
        await settle();
        expect(bench.failures).toHaveLength(1);
        const again = await bench.start(studies);
        const took = new Map(ids.map((id) => [id, new Set<bigint>()]));
        for (let turn = 0; turn < 12; turn++) await checkedAt(() => bench.clock.advance(everyMs));
        await again.settled();
        const store = await bench.store();
        for (const id of ids) {
          for (let epoch = 1n; epoch <= 12n; epoch++) {
            if (await store.contributorCount(id, epoch) > 0) took.get(id)!.add(epoch);
          }
        }
        expect([...took.values()].some((epochs) => epochs.size > 0)).toBe(true);
        await checkPaid(studies, took);
        await again.close();
        if (when === 'before') await bench.close();
      }
    },
  );

  it('leaves the budget alive for the cheaper study when the dearer one is declined', async () => {
    // The dear one asks as often, so it is the first that does not fit.
    const studies = [
      define({
        budget: shared(), cohort: 800, epoch: { everyMs: 2 * everyMs },
        privacy: { epsilon: 1, delta: 1e-6 },
      }),
      define({ study: 'dear', budget: shared(), privacy: { epsilon: 3, delta: 1e-6 } }),
    ];
    const hub = await bench.start(studies);
    for (let turn = 0; turn < 30; turn++) await checkedAt(() => bench.clock.advance(everyMs));
    await hub.settled();
    const store = await bench.store();
    const declined =
      (await store.ledgerEntries(key, 1_000)).filter(({ kind }) => kind === 'declined').reverse();
    const dearId = hub.studies().find(({ name }) => name === 'dear')!.studyId;
    expect(declined[0]!.studyId).toBe(dearId);
    const charged = (await store.ledgerEntries(key, 1_000)).filter(({ kind, atMs, studyId }) =>
      kind === 'reserved' && studyId !== dearId && atMs > declined[0]!.atMs);
    expect(charged.length).toBeGreaterThan(0);
    await hub.close();
  });
});
