import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeHeadBody, decodeReleaseBody, type ShortFacts } from '../../src/wire/index.js';
import { epsilonOf } from '../../server/studies/release/release-body.js';
import { amountOf, zeroAmount } from '../../src/privacy/accounting/amount.js';
import { capsOf } from '../../src/privacy/accounting/target.js';
import type { HubEvent } from '../../server/studies/contract.js';
import { Bench, batchOf, contribute, define, everyMs } from '../support/hub-bench.js';
import { until } from '../support/until.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

/** Pays for two epochs, since the next one's reservation must fit before the old one's charge. */
const small: Partial<ShortFacts> = {
  budget: { epsilon: 3, delta: 1e-5, rule: 'zcdp', scope: 'study' },
};
const kinds = (events: readonly HubEvent[]): string[] =>
  events.map((event) => (event.kind === 'release' ? `release ${event.release.epoch}` : event.kind));

describe('a budget that runs out', () => {
  it('releases what was collected, signs a final head, says so once, and refuses what comes '
    + 'after', async () => {
    const study = define(small);
    const releases = study.releases;
    expect(releases).toBeGreaterThan(1);
    const hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    await bench.clock.advance(releases * everyMs);
    await hub.settled();
    expect(hub.study(studyId))
      .toMatchObject({ state: 'exhausted', epoch: 0n, closesAtMs: 0, releaseCount: releases });
    expect(kinds(bench.record.events).slice(-2)).toEqual([`release ${releases}`, 'study-stopped']);
    expect(bench.record.events.at(-1)).toMatchObject({ state: 'exhausted' });
    const head = decodeHeadBody((await hub.head(studyId)).body);
    expect(head).toMatchObject({ count: BigInt(releases), state: 'exhausted' });
    const [late] = await contribute(hub, studyId, 1, 3n);
    expect(late).toMatchObject({ verdict: 'rejected', code: 'budget-exhausted' });
    await bench.clock.advance(5 * everyMs);
    await hub.settled();
    expect(bench.record.events.filter((event) => event.kind === 'study-stopped')).toHaveLength(1);
    const balance = (await hub.balances())[0]!;
    expect(balance.rhoSpent).toBe(study.charge.rho * BigInt(releases));
    expect(balance.rhoSpent + study.charge.rho).toBeGreaterThan(balance.rhoCap);
    expect(balance.rhoReserved).toBe(0n);
    await hub.close();
  });

  it('stays exhausted after a restart, and its log can still be read', async () => {
    const study = define(small);
    let hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    await bench.clock.advance(study.releases * everyMs);
    await hub.settled();
    await hub.close();
    hub = await bench.start([study]);
    expect(hub.study(studyId))
      .toMatchObject({ state: 'exhausted', epoch: 0n, releaseCount: study.releases });
    expect(await hub.releases(studyId, 0, 10)).toHaveLength(study.releases);
    await hub.close();
  });

  it('stops only after its last release when a restart comes before that', async () => {
    const study = define(small);
    const { releases } = study;
    const first = await bench.start([study], {
      crash: { step: `store.chargeEpoch ${releases}`, when: 'after' },
    });
    const { studyId } = first.studies()[0]!;
    await bench.clock.advance(releases * everyMs);
    await until(() => bench.failures.length > 0);
    const store = await bench.store();
    expect((await store.study(studyId))!.state).toBe('exhausted');
    let proceed = (): void => {};
    const gate = new Promise<void>((resolve) => { proceed = resolve; });
    const storeRelease = store.storeRelease.bind(store);
    store.storeRelease = (...release) => gate.then(() => storeRelease(...release));
    const hub = await bench.start([study]);
    const head = async () => decodeHeadBody((await hub.head(studyId)).body);
    expect(await head()).toMatchObject({ count: BigInt(releases - 1), state: 'open' });
    proceed();
    await hub.settled();
    expect(await head()).toMatchObject({ count: BigInt(releases), state: 'exhausted' });
    expect(kinds(bench.record.events).slice(-2)).toEqual([`release ${releases}`, 'study-stopped']);
    await hub.close();
  });

  it('shows in each release what was spent by then, within the cap', async () => {
    const study = define(small);
    const hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    await bench.clock.advance(study.releases * everyMs);
    await hub.settled();
    const bodies =
      (await hub.releases(studyId, 0, 10)).map((release) => decodeReleaseBody(release.body));
    expect(bodies.map((body) => body.ledger.rhoSpent))
      .toEqual(bodies.map((_, i) => study.charge.rho * BigInt(i + 1)));
    for (const { cost, ledger } of bodies) {
      expect(cost.rhoAmount).toBe(study.charge.rho);
      expect(cost.epsilon).toBeLessThanOrEqual(study.document.privacy.epsilon);
      expect(cost.epsilon).toBeGreaterThan(0.9 * study.document.privacy.epsilon);
      expect(ledger.epsilonSpent).toBeLessThanOrEqual(ledger.epsilonCap);
      expect(ledger.epsilonSpent).toBeGreaterThan(0);
    }
    await hub.close();
  });

  it('is shared by the studies of a population: together they do not pass it', async () => {
    const shared: ShortFacts['budget'] = {
      epsilon: 3, delta: 1e-5, rule: 'zcdp', scope: 'population', population: 'travellers',
    };
    const studies = [define({ budget: shared }), define({ study: 'second', budget: shared })];
    const hub = await bench.start(studies);
    await bench.clock.advance(5 * everyMs);
    await hub.settled();
    const [balance] = await hub.balances();
    const released = hub.studies().reduce((sum, view) => sum + view.releaseCount, 0);
    expect(balance).toMatchObject({ key: 'population:travellers', rhoReserved: 0n });
    expect(balance!.rhoSpent).toBe(studies[0]!.charge.rho * BigInt(released));
    expect(balance!.rhoSpent).toBeLessThanOrEqual(balance!.rhoCap);
    expect(hub.studies().map((view) => view.state)).toEqual(['exhausted', 'exhausted']);
    await hub.close();
  });
});

describe('an empty epoch', () => {
  it('is charged and released when participation is secret', async () => {
    const study = define();
    const hub = await bench.start([study]);
    await bench.clock.advance(2 * everyMs);
    await hub.settled();
    expect(hub.studies()[0]!.releaseCount).toBe(2);
    expect((await hub.balances())[0]!.rhoSpent).toBe(2n * study.charge.rho);
    await hub.close();
  });

  it('lapses without a charge when participation is public', async () => {
    const study = define({ participation: 'public' });
    const hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    await bench.clock.advance(2 * everyMs);
    await hub.settled();
    await contribute(hub, studyId, 10, 3n);
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(hub.studies()[0]).toMatchObject({ epoch: 4n, releaseCount: 1 });
    expect((await hub.balances())[0])
      .toMatchObject({ rhoSpent: study.charge.rho, rhoReserved: study.charge.rho });
    expect(bench.record.draws.size).toBe(1);
    const [release] = await hub.releases(studyId, 0, 5);
    expect(decodeReleaseBody(release!.body))
      .toMatchObject({ index: 0n, epoch: 3n, participation: 'public' });
    await hub.close();
  });
});

describe('contributor scope', () => {
  it('debits those who took part, leaves out the others, publishes the bound', async () => {
    const study =
      define({ budget: { epsilon: 3, delta: 1e-5, rule: 'zcdp', scope: 'contributor' } });
    const hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    const affordable = study.releases;
    for (let epoch = 1; epoch <= affordable; epoch++) {
      await hub.submit(batchOf(studyId, 1, BigInt(epoch)));
      await bench.clock.advance(everyMs);
    }
    await hub.settled();
    const next = BigInt(affordable + 1);
    expect(
      await hub.submit(batchOf(studyId, 1, next)),
    ).toMatchObject({ verdict: 'rejected', code: 'contributor-budget-exhausted' });
    expect(await hub.submit(batchOf(studyId, 2, next, { sequence: 1n })))
      .toMatchObject({ verdict: 'accepted' });
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(bench.record.contributorsAtDraw.get(`${studyId}/${next}`)).toBe(1);
    const [last] = await hub.releases(studyId, affordable, 1);
    const { ledger } = decodeReleaseBody(last!.body);
    expect(ledger).toMatchObject({ scope: 'contributor', rhoSpent: ledger.rhoCap });
    expect(hub.study(studyId)!.state).toBe('open');
    await hub.close();
  });
});

describe('epsilon of a ledger', () => {
  it.each(
    ['zcdp', 'pure', 'renyi'] as const,
  )('at the cap of a %s budget is the budget\'s epsilon, or a hair less', (rule) => {
    const caps = capsOf({ epsilon: 3, delta: rule === 'pure' ? 0 : 1e-5, rule });
    const epsilon = epsilonOf(caps.rule, caps.rhoCap, caps.deltaCap, 1e-5);
    expect(epsilon).toBeLessThanOrEqual(3 * (1 + 1e-9));
    expect(epsilon).toBeGreaterThan(3 * (1 - 1e-3));
    expect(epsilonOf(caps.rule, zeroAmount, zeroAmount, 1e-5)).toBe(0);
    expect(epsilonOf(caps.rule, amountOf(1e-12), zeroAmount, 1e-5)).toBeGreaterThanOrEqual(0);
  });
});
