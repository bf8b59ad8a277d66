import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeReleaseBody, type ShortFacts } from '../../src/wire/index.js';
import { Bench, batchOf, contribute, define, everyMs, hexKey } from '../support/hub-bench.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

const windowMs = 8 * everyMs;
const renewing = (overrides: Partial<ShortFacts['budget']> = {}): Partial<ShortFacts> => ({
  budget: { epsilon: 4, delta: 1e-5, rule: 'zcdp', scope: 'study', perMs: windowMs, ...overrides },
});

/**
 * The most that was charged within any half-open period of the window's length, by the ledger's own
 * times.
 */
async function mostInAnyWindow(key: string): Promise<bigint> {
  const charges = (await (await bench.store()).ledgerEntries(key, 10_000)).filter(({ kind }) =>
    kind === 'charged');
  const sums = charges.map(({ atMs: from }) => charges
    .filter(({ atMs }) => atMs >= from && atMs < from + windowMs)
    .reduce<bigint>((sum, { rho }) => sum + rho, 0n));
  return sums.reduce((most, sum) => (sum > most ? sum : most), 0n);
}

describe('a budget that renews', () => {
  it('stops when the window is full, goes on when it has room, and no window ever holds more than '
    + 'the cap', { tags: ['long'] }, async () => {
    const study = define(renewing());
    expect(study.releases).toBeGreaterThan(1);
    expect(study.releases).toBeLessThan(windowMs / everyMs);
    const hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    let waits = 0;
    for (let turn = 0; turn < 60; turn++) {
      const { epoch, state } = hub.study(studyId)!;
      expect(state).toBe('open');
      if (epoch === 0n) waits += 1;
      else await contribute(hub, studyId, 3, epoch);
      await bench.clock.advance(everyMs);
      const [balance] = await hub.balances();
      expect(balance!.rhoSpent + balance!.rhoReserved <= balance!.rhoCap).toBe(true);
    }
    await hub.settled();
    expect(waits).toBeGreaterThan(10);
    const most = await mostInAnyWindow('study:delays');
    expect(most <= study.budget.rhoCap).toBe(true);
    // And it is used: another release would not have fitted.
    expect(most + 2n * study.charge.rho > study.budget.rhoCap).toBe(true);
    const count = hub.study(studyId)!.releaseCount;
    expect(count).toBeGreaterThan(5 * study.releases);
    const body = decodeReleaseBody((await hub.releases(studyId, count - 1, 1))[0]!.body);
    expect(body.ledger.windowMs).toBe(BigInt(windowMs));
    expect(body.guarantee).toContain('within any period of 80 seconds');
    expect(body.ledger.rhoSpent <= body.ledger.rhoCap).toBe(true);
    expect(body.ledger.epsilonSpent).toBeLessThanOrEqual(4);
    await hub.close();
  });

  it('puts batches off while it waits, and takes them when it has renewed, also after a '
    + 'restart', async () => {
    const study = define(renewing());
    let hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    while (hub.study(studyId)!.epoch !== 0n) await bench.clock.advance(everyMs);
    await hub.settled();
    const last = BigInt(hub.study(studyId)!.releaseCount);
    const [put] = await contribute(hub, studyId, 1, last);
    expect(put).toMatchObject({ verdict: 'rejected', code: 'epoch-not-open' });
    await hub.close();
    hub = await bench.start([study]);
    expect(hub.study(studyId)).toMatchObject({ state: 'open', epoch: 0n });
    await bench.clock.advance(windowMs);
    expect(hub.study(studyId)!.epoch).toBeGreaterThan(last);
    const [again] = await contribute(hub, studyId, 1, hub.study(studyId)!.epoch);
    expect(again).toMatchObject({ verdict: 'accepted' });
    await hub.close();
  });

  it('can be ended while it waits, and is exhausted for good only when one release never '
    + 'fits', async () => {
    const study = define(renewing());
    const hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    while (hub.study(studyId)!.epoch !== 0n) await bench.clock.advance(everyMs);
    await hub.settled();
    await hub.endStudy(studyId);
    expect(hub.study(studyId)!.state).toBe('ended');
    await bench.clock.advance(2 * windowMs);
    expect(hub.study(studyId)).toMatchObject({ state: 'ended', epoch: 0n });
    await hub.close();
  });

  it('renews early for nobody whose clock is set back, and keeps the ledger consistent through '
    + 'it', async () => {
    const study = define(renewing());
    let hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    for (let turn = 0; turn < 6; turn++) {
      await bench.clock.advance(everyMs);
      bench.clock.jump(turn % 2 === 0 ? -4 * everyMs : everyMs);
    }
    await hub.settled();
    await hub.close();
    // Opening adds the ledger up again and refuses one that does not agree.
    hub = await bench.start([study]);
    for (let turn = 0; turn < 20; turn++) await bench.clock.advance(everyMs);
    await hub.settled();
    expect(await mostInAnyWindow('study:delays') <= study.budget.rhoCap).toBe(true);
    expect(hub.study(studyId)!.releaseCount).toBeGreaterThan(study.releases);
    await hub.close();
  });

  it('is shared by the studies of a population', { tags: ['long'] }, async () => {
    const budget = {
      ...renewing().budget!, scope: 'population', population: 'travellers', epsilon: 5,
    } as const;
    const hub = await bench.start([define({ budget }), define({ study: 'second', budget })]);
    for (let turn = 0; turn < 40; turn++) {
      await bench.clock.advance(everyMs);
      const [balance] = await hub.balances();
      expect(balance!.rhoSpent + balance!.rhoReserved <= balance!.rhoCap).toBe(true);
    }
    await hub.settled();
    expect(await mostInAnyWindow('population:travellers') <= (await hub.balances())[0]!.rhoCap)
      .toBe(true);
    for (const { releaseCount, state } of hub.studies()) {
      expect(state).toBe('open');
      expect(releaseCount).toBeGreaterThan(3);
    }
    await hub.close();
  });

  it('keeps its window: another one, or none, needs another budget', async () => {
    const hub = await bench.start([define(renewing())]);
    for (const perMs of [undefined, 2 * windowMs]) {
      const plain = { epsilon: 4, delta: 1e-5, rule: 'zcdp', scope: 'study' } as const;
      const changed = define({ budget: perMs === undefined ? plain : { ...plain, perMs } });
      await expect(hub.addStudy(changed)).rejects
        .toMatchObject({ code: 'invalid-study', message: /renew/ });
    }
    await hub.close();
  });
});

describe('contributor scope with a window', () => {
  it('lets a contributor back in when its charges have left the window, and counts from the '
    + 'charge', { tags: ['long'] }, async () => {
    const study = define(renewing({ scope: 'contributor', epsilon: 4 }));
    const hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    const store = await bench.store();
    const tookAt: bigint[] = [];
    let leftOut = 0;
    for (let turn = 1; turn <= 40; turn++) {
      const { epoch } = hub.study(studyId)!;
      const result = await hub.submit(batchOf(studyId, 1, epoch, { sequence: BigInt(turn) }));
      if (result.verdict === 'accepted') tookAt.push(epoch);
      else leftOut += 1;
      const { spend } = await store.contributorState(studyId, hexKey(1));
      expect(spend!.rho <= study.budget.rhoCap).toBe(true);
      await bench.clock.advance(everyMs);
      await hub.settled();
    }
    // The charges of its own epochs, by their times: no window of the length holds more than the
    // cap.
    const charges = (await store.ledgerEntries('study:delays', 1_000))
      .filter(({ kind, epoch }) => kind === 'charged' && tookAt.includes(epoch));
    for (const { atMs: from } of charges) {
      const inside = charges.filter(({ atMs }) => atMs >= from && atMs < from + windowMs).length;
      expect(inside).toBeLessThanOrEqual(study.releases);
    }
    expect(leftOut).toBeGreaterThan(5);
    expect(tookAt.length).toBeGreaterThan(3 * study.releases);
    const count = hub.study(studyId)!.releaseCount;
    const { ledger, guarantee } =
      decodeReleaseBody((await hub.releases(studyId, count - 1, 1))[0]!.body);
    expect(ledger.rhoSpent).toBe(ledger.rhoCap);
    expect(guarantee).toMatch(/within any period of 80 seconds .* absent from all epochs/);
    // Who was in which epoch is forgotten once it no longer counts.
    await bench.clock.advance(2 * windowMs);
    await hub.settled();
    expect((await store.contributorState(studyId, hexKey(1))).spend)
      .toEqual({ rho: 0n, delta: 0n, pure: 0n });
    await hub.close();
  });
});
