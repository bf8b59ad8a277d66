// @module-tag long
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import { ReleaseChain } from '../../src/log/index.js';
import { decodeReleaseBody } from '../../src/wire/index.js';
import { signing } from '../../src/signing/node.js';
import type { RunningHub } from '../../server/studies/hub/hub.js';
import type { Store } from '../../server/store/contract.js';
import { Bench, contribute, define, everyMs, type Crash } from '../support/hub-bench.js';
import { settle } from '../support/virtual-clock.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

const study = define();
const { studyId } = await idOf();

async function idOf(): Promise<{ studyId: string }> {
  const probe = new Bench();
  const hub = await probe.start([study]);
  const id = hub.studies()[0]!.studyId;
  await hub.close();
  await probe.close();
  return { studyId: id };
}

/** What must hold whatever happened, checked against the store after the last restart. */
async function checkLedger(): Promise<void> {
  const store = await bench.store();
  const releases = await store.releases(studyId, 0, 100);
  const chain = new ReleaseChain(
    { server: signing.createVerifier(bench.signer.publicKey), signing, studyId: fromHex(studyId) },
  );
  for (const release of releases) chain.accept(release);
  // Published twice is fine; published differently is not.
  for (const published of bench.record.published(studyId)) {
    expect(Buffer.from(published.body).equals(Buffer.from(releases[published.index]!.body)))
      .toBe(true);
  }
  const charged =
    (await store.ledgerEntries('study:delays', 100)).filter((entry) => entry.kind === 'charged');
  const balance = (await store.balance('study:delays'))!;
  expect(balance.rhoSpent).toBe(study.charge.rho * BigInt(charged.length));
  const chargedEpochs = new Set(charged.map((entry) => `${studyId}/${entry.epoch}`));
  for (const [epoch, draws] of bench.record.draws) {
    expect(draws, `noise of ${epoch} is drawn once`).toBe(1);
    expect(chargedEpochs.has(epoch), `${epoch} was charged before its noise`).toBe(true);
  }
  expect(new Set(releases.map((release) => release.epoch)).size).toBe(releases.length);
}

/** Two epochs with rows in both, and whatever the crash leaves of them. */
async function liveThrough(crash: Crash): Promise<void> {
  let hub: RunningHub | undefined;
  try {
    hub = await bench.start([study], { crash });
    await contribute(hub, studyId, 30, 1n);
    await bench.clock.advance(everyMs);
    await contribute(hub, studyId, 30, 2n).catch(() => undefined);
    await bench.clock.advance(everyMs);
  } catch {
    // The crash may come during the start.
  }
  await settle();
}

const steps = [
  'openEpoch 1', 'turnEpoch 1', 'chargeEpoch 1', 'storeRelease 1', 'purgeEpoch 1',
  'turnEpoch 2', 'chargeEpoch 2', 'storeRelease 2', 'purgeEpoch 2',
];

describe.each(steps)('a crash at %s', (step) => {
  it.each(['before', 'after'] as const)(
    '%s the transaction loses nothing and draws nothing twice', async (when) => {
      await liveThrough({ step: `store.${step}`, when });
      expect(bench.failures).toHaveLength(1);
      const hub = await bench.start([study]);
      await bench.clock.advance(2 * everyMs);
      await hub.settled();
      await checkLedger();
      // Every epoch that was opened before the open one has a release, none is left hanging.
      const view = hub.study(studyId)!;
      expect(view.state).toBe('open');
      expect(BigInt(view.releaseCount)).toBe(view.epoch - 1n);
      expect((await (await bench.store()).unfinishedEpochs()).map((epoch) => epoch.epoch))
        .toEqual([view.epoch]);
      // Rows that were acknowledged in epoch 1 were in its summaries when noise was drawn, if it
      // was.
      const counted = bench.record.contributorsAtDraw.get(`${studyId}/1`);
      if (counted !== undefined && step !== 'openEpoch 1') expect(counted).toBe(30);
      await hub.close();
    },
  );
});

describe('a crash between charge and release', () => {
  it('ends the epoch as interrupted, charged, and never draws again', async () => {
    await bench.start([study], { crashInDraw: true }).then(async (hub) => {
      await contribute(hub, studyId, 30, 1n);
      await bench.clock.advance(everyMs);
    });
    expect(bench.record.draws.get(`${studyId}/1`)).toBe(1);
    const hub = await bench.start([study]);
    await hub.settled();
    expect(hub.study(studyId)).toMatchObject({ releaseCount: 1, epoch: 2n });
    const [release] = await hub.releases(studyId, 0, 10);
    expect(decodeReleaseBody(release!.body)).toMatchObject({
      epoch: 1n, answers: [{ outcome: { kind: 'refused', reason: 'interrupted' } }],
      cost: { rhoAmount: study.charge.rho },
    });
    expect(bench.record.draws.get(`${studyId}/1`)).toBe(1);
    await checkLedger();
    await hub.close();
  });
});

describe('a charge that another call made', () => {
  it('draws nothing: the epoch ends as interrupted', async () => {
    bench.wrapStore = (store) => {
      const chargeEpoch: Store['chargeEpoch'] = async (...charge) => {
        await store.chargeEpoch(...charge);
        return store.chargeEpoch(...charge);
      };
      return { ...store, chargeEpoch };
    };
    const hub = await bench.start([study]);
    await contribute(hub, studyId, 30, 1n);
    await bench.clock.advance(everyMs);
    await hub.settled();
    const [release] = await hub.releases(studyId, 0, 10);
    expect(decodeReleaseBody(release!.body)).toMatchObject({
      epoch: 1n, answers: [{ outcome: { kind: 'refused', reason: 'interrupted' } }],
      cost: { rhoAmount: study.charge.rho },
    });
    expect(bench.record.draws.size).toBe(0);
    expect(bench.failures).toEqual([]);
    await checkLedger();
    await hub.close();
  });
});

describe('a failing release', () => {
  it('ends as interrupted and leaves the other study alone', async () => {
    const other = define({ study: 'other' });
    const hub = await bench.start([study, other]);
    const otherId = hub.studies()[1]!.studyId;
    await contribute(hub, otherId, 30, 1n);
    await contribute(hub, studyId, 30, 1n);
    bench.breakRelease = studyId;
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(bench.failures).toEqual([]);
    const outcomeOf = async (id: string) =>
      decodeReleaseBody((await hub.releases(id, 0, 1))[0]!.body).answers[0]!.outcome;
    expect(await outcomeOf(studyId)).toMatchObject({ kind: 'refused', reason: 'interrupted' });
    expect(await outcomeOf(otherId)).not.toMatchObject({ reason: 'interrupted' });
    expect(bench.logs.some((line) => line.startsWith('error: a release failed'))).toBe(true);
    expect(hub.studies().map((view) => view.epoch)).toEqual([2n, 2n]);
    await hub.close();
  });
});

describe('a store that fails', () => {
  it('stops the hub loudly once, and nothing is acknowledged', async () => {
    const hub = await bench.start([study]);
    const store = await bench.store();
    const admit = store.admit.bind(store);
    store.admit = () => Promise.reject(new Error('the disk is gone'));
    const results =
      await Promise.allSettled([contribute(hub, studyId, 1, 1n), contribute(hub, studyId, 2, 1n)]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected']);
    expect(bench.failures).toHaveLength(1);
    await expect(contribute(hub, studyId, 1, 1n)).rejects.toThrow('stopped after a failure');
    await bench.clock.advance(3 * everyMs);
    expect(bench.record.steps).not.toContain('store.turnEpoch 1');
    store.admit = admit;
  });
});
