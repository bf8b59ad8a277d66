import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import {
  contributorSeed, createFleet, gaussianSource, syntheticSource, type Fleet, type FleetOptions,
} from '../../simulation/index.js';
import { systemClock } from '../../server/base/clock.js';
import { createListener, type Listener } from '../../server/listener/index.js';
import { parseStudyText } from '../../server/study-file/index.js';
import { fromHex, toHex, utf8 } from '../../src/base/bytes.js';
import { textOf } from '../../src/questions/columns.js';
import { signing } from '../../src/signing/node.js';
import type { StudyDocument } from '../../src/wire/index.js';
import { createFakeHub, type FakeHub } from '../support/fake-hub.js';
import { root } from '../support/sources.js';
import { until } from '../support/until.js';
import { ofShortFacts } from '../../src/wire/index.js';
import { document as sampleDocument, shortFacts } from '../support/wire-samples.js';

const seed = utf8('fleet');
const rows = gaussianSource({ mean: [10, 700], standardDeviation: [20, 300], rows: 3, seed });
const silent = {
  debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined,
};
const quick = { contributors: 40, seed, rows, paceMs: 20, backoffInitialMs: 5, backoffMaxMs: 30 };

let hub: FakeHub;
let listener: Listener;
let fleet: Fleet | undefined;

async function serve(
  documents: readonly StudyDocument[] = [sampleDocument], port = 0,
): Promise<void> {
  hub = port === 0 ? await createFakeHub(documents) : hub;
  listener = await createListener({
    hub, clock: systemClock, logger: silent, host: '127.0.0.1', port,
    operatorToken: 'token of the tests',
  });
}

function start(options: Partial<FleetOptions> = {}): Fleet {
  fleet = createFleet({
    url: `ws://127.0.0.1:${listener.port}`, studies: ['flight-delays'], ...quick, ...options,
  });
  return fleet;
}

function openEpoch(epoch: bigint): void {
  for (const view of hub.studies()) {
    hub.change(view.studyId, { epoch });
    hub.emit({
      kind: 'epoch-opened', studyId: view.studyId, epoch, closesAtMs: Date.now() + 60_000,
    });
  }
}

afterEach(async () => {
  fleet?.abort();
  await listener.close(false);
});

describe('a fleet against the real listener', () => {
  it('contributes once per contributor, epoch and study, over few sockets', async () => {
    await serve([sampleDocument, { ...sampleDocument, study: 'second' }]);
    const running = start({ studies: ['flight-delays', 'second'], contributorsPerSocket: 16 });
    const heard: string[] = [];
    running.onEpoch((study, epoch) => heard.push(`${study} ${epoch}`));
    await running.ready();
    await until(() => running.statistics().accepted === 80);
    openEpoch(8n);
    await until(() => running.statistics().accepted === 160);
    expect(heard.sort()).toEqual(['flight-delays 7', 'flight-delays 8', 'second 7', 'second 8']);
    const keys =
      hub.submitted.map((batch) => `${batch.studyId} ${batch.epoch} ${toHex(batch.contributor)}`);
    expect(new Set(keys).size).toBe(160);
    expect(hub.submitted.every((batch) => batch.last && batch.rows === 3)).toBe(true);
    expect(running.statistics()).toMatchObject({
      sent: 160, refused: {}, missed: 0, connections: 3, reconnections: 0, ready: 80,
    });
    expect(running.statistics().latencyMs.p99).toBeGreaterThan(0);
  });

  it('knows the truth: the mean that the server would make of what it took', async () => {
    await serve();
    const running = start({ corruption: 0.25, attack: 'shift' });
    await until(() => running.statistics().accepted === 40);
    const truth = running.truth('flight-delays', 7n)!;
    expect([truth.honest, truth.hostile]).toEqual([30, 10]);
    const keyOf = (index: number): string =>
      toHex(signing.createSigner(contributorSeed(seed, index)).publicKey);
    const hostile = new Set([...Array(10).keys()].map(keyOf));
    const sums = { honest: [0, 0], all: [0, 0] };
    for (const batch of hub.submitted) {
      for (let i = 0; i < 6; i++) {
        const share = batch.values![i]! / 3;
        sums.all[i % 2]! += share / 40;
        if (!hostile.has(toHex(batch.contributor))) sums.honest[i % 2]! += share / 30;
      }
    }
    sums.honest.forEach((value, i) => expect(truth.honestMean[i]).toBeCloseTo(value, 8));
    sums.all.forEach((value, i) => expect(truth.naiveMean[i]).toBeCloseTo(value, 8));
    // A quarter moved by 4 spreads of 40 and 600: the naive mean is one whole spread off.
    expect(truth.naiveMean[0]! - truth.honestMean[0]!).toBeGreaterThan(25);
    expect(running.truth('flight-delays', 6n)).toBeNull();
  });

  it('knows the total, where a study adds up the rows of a contributor', async () => {
    await serve([ofShortFacts({ ...shortFacts, contribution: { reduce: 'sum', rowsMax: 8 } })]);
    const running = start();
    await until(() => running.statistics().accepted === 40);
    const { honestTotal, honestMean } = running.truth('flight-delays', 7n)!;
    const totals = [0, 0];
    for (const batch of hub.submitted) {
      batch.values!.forEach((value, i) => { totals[i % 2]! += value; });
    }
    totals.forEach((total, j) => {
      expect(honestTotal[j]).toBeCloseTo(total, 6);
      expect(honestMean[j]).toBeCloseTo(total / 40, 6);
    });
  });

  it('sends texts that people make up, and hostile people others', async () => {
    const text = readFileSync(`${root}studies/apps-nobody-listed.yaml`, 'utf8');
    const { document } = parseStudyText(text, { name: 'apps-nobody-listed.yaml' });
    for (const [attack, most] of [['forge-groups', 1], ['evict-groups', 10 * 16]] as const) {
      await serve([document]);
      const running = start({
        studies: [document.study], rows: syntheticSource(document, 2, seed), corruption: 0.25,
        attack,
      });
      await until(() => running.statistics().accepted === 40);
      expect(running.statistics()).toMatchObject({ refused: {} });
      const sent = hub.submitted.flatMap(({ values, texts }) =>
        Array.from(values!).filter((_, i) => i % 2 === 0)
          .map((place) => textOf(texts![0]!, place)));
      expect(sent.filter((one) => /^[a-h]$/.test(one))).toHaveLength(30 * 2);
      const forged = new Set(sent.filter((one) => one.startsWith('z')));
      expect(forged.size).toBeGreaterThan(most / 2);
      expect(forged.size).toBeLessThanOrEqual(most);
      running.abort();
      if (attack === 'forge-groups') await listener.close(false);
    }
  });

  it('continues after the server was killed, with nothing lost and nothing twice', async () => {
    await serve();
    hub.hold = true;
    const running = start();
    await until(() => hub.submitted.length === 40);
    const { port } = listener;
    // The store had made half of it durable; no ack left.
    await listener.close(false);
    hub.commit();
    hub.hold = false;
    await serve([], port);
    await until(() => running.statistics().accepted === 40);
    expect(running.statistics().reconnections).toBeGreaterThan(0);
    openEpoch(8n);
    await until(() => running.statistics().accepted === 80);
    const bodies = new Map<string, Set<string>>();
    for (const batch of hub.submitted) {
      const name = `${toHex(batch.contributor)} ${batch.sequence}`;
      bodies.set(name, (bodies.get(name) ?? new Set()).add(toHex(batch.digest)));
    }
    expect(bodies.size).toBe(80);
    expect([...bodies.values()].every((digests) => digests.size === 1)).toBe(true);
  });

  it('has NaN refused without harm to the others', async () => {
    await serve();
    const running = start({ corruption: 0.1, attack: 'nan' });
    await until(() => running.statistics().accepted === 36);
    await until(() => running.statistics().refused['not-finite'] === 4);
    expect(running.truth('flight-delays', 7n)).toMatchObject({ honest: 36, hostile: 0 });
  });

  it('has every abuse refused by code while the honest are served', async () => {
    await serve();
    const running = start({ corruption: 0.25, attack: 'malformed' });
    await running.ready();
    for (let epoch = 8n;
        epoch < 30n && Object.keys(running.statistics().abusesRefused).length < 6; epoch++) {
      const before = running.statistics().accepted;
      openEpoch(epoch);
      await until(() => running.statistics().accepted >= before + 30);
    }
    const { abusesRefused, refused } = running.statistics();
    expect(refused).toEqual({});
    const codes = [
      'malformed', 'bad-signature', 'unknown-channel', 'wrong-columns', 'not-finite', 'mutated',
    ];
    expect(Object.keys(abusesRefused)).toEqual(expect.arrayContaining(codes));
  });

  it('has changed replays refused, and equal ones recognised, while the honest are '
    + 'served', async () => {
    await serve();
    const running = start({ corruption: 0.25, attack: 'replay' });
    await running.ready();
    for (let epoch = 8n; epoch < 12n; epoch++) {
      const before = running.statistics().accepted;
      openEpoch(epoch);
      await until(() => running.statistics().accepted >= before + 30);
    }
    await until(() => (running.statistics().abusesRefused.mutated ?? 0) > 0);
    expect(Object.keys(running.statistics().abusesRefused)).toEqual(['mutated']);
    expect(running.statistics().refused).toEqual({});
  });

  it('changes its tactics from epoch to epoch, and reports what was accepted', async () => {
    await serve();
    const accepted: string[] = [];
    const running = start({
      tactics: (_, epoch) => {
        if (epoch === 7n) return { corruption: 0.1, attack: 'shift' };
        return epoch === 8n
          ? { corruption: 0.25, attack: 'absent' } : { corruption: 0.25, attack: 'nan' };
      },
      onAccepted: (study, epoch, reduced, isHostile) => {
        expect([study, reduced.length]).toEqual(['flight-delays', 2]);
        accepted.push(`${epoch} ${isHostile}`);
      },
    });
    const counts = (epoch: number): number[] =>
      [false, true].map((hostile) =>
        accepted.filter((one) => one === `${epoch} ${hostile}`).length);
    await until(() => running.statistics().accepted === 40);
    expect(counts(7)).toEqual([36, 4]);
    openEpoch(8n);
    await until(() => running.statistics().accepted === 70);
    openEpoch(9n);
    await until(() => running.statistics().refused['not-finite'] === 10);
    await until(() => running.statistics().accepted === 100);
    expect([counts(8), counts(9)]).toEqual([[30, 0], [30, 0]]);
  });

  it('ends with the study, and closes when its work is done', async () => {
    await serve();
    const running = start();
    const ended: string[] = [];
    running.onEnded((study, error) => ended.push(`${study} ${error.code}`));
    await until(() => running.statistics().accepted === 40);
    for (const view of hub.studies()) {
      hub.change(view.studyId, { state: 'exhausted', epoch: 0n });
      hub.emit({ kind: 'study-stopped', studyId: view.studyId, state: 'exhausted' });
    }
    await until(() => ended.length === 1);
    expect(ended).toEqual(['flight-delays budget-exhausted']);
    await running.close();
  });

  it('leaves out the epoch in which rows that were late may have counted', async () => {
    await serve();
    hub.hold = true;
    const running = start();
    await until(() => hub.submitted.length === 40);
    // All were sent in epoch 7, and are journalled in epoch 8: study-wide `late: next`.
    openEpoch(8n);
    hub.hold = false;
    hub.commit();
    await until(() => running.statistics().accepted === 40);
    // Others begin later and are done with epoch 8: so the first had the time to send in it.
    const others = start({ seed: new Uint8Array(32).fill(99) });
    await until(() => others.statistics().accepted === 40);
    openEpoch(9n);
    await until(() => running.statistics().accepted === 80 && others.statistics().accepted === 80);
    running.abort();
    const sentIn = (epoch: bigint): number =>
      hub.submitted.filter((batch) => batch.epoch === epoch).length;
    expect([7n, 8n, 9n].map(sentIn)).toEqual([40, 40, 80]);
  });

  it('leaves out the epoch that is open when keys of an earlier run come back', async () => {
    await serve();
    const before = start();
    await until(() => before.statistics().accepted === 40);
    before.abort();
    const running = start();
    await running.ready();
    expect(running.statistics().usedBefore).toBe(40);
    openEpoch(8n);
    await until(() => running.statistics().accepted === 40);
    const sentIn = (epoch: bigint): number =>
      hub.submitted.filter((batch) => batch.epoch === epoch).length;
    expect([sentIn(7n), sentIn(8n)]).toEqual([40, 40]);
  });

  it('is ready without those that the server turns away, and fails only when it turns all '
    + 'away', async () => {
    await serve();
    let asked = 0;
    hub.allowed = () => (asked += 1) % 4 > 0;
    const some = start();
    await some.ready();
    expect(some.statistics()).toMatchObject({ ready: 30, turnedAway: { 'key-not-allowed': 10 } });
    some.abort();
    hub.allowed = () => false;
    const none = start();
    const ended: string[] = [];
    none.onEnded((study, error) => ended.push(`${study} ${error.code}`));
    await expect(none.ready()).rejects.toThrow(/key/);
    expect(ended).toEqual(['flight-delays key-not-allowed']);
  });

  it('attacks a study that states no spread by the spread of honest rows', async () => {
    await serve([ofShortFacts({ ...shortFacts, parameters: {} })]);
    const running = start({ corruption: 0.25, attack: 'shift', strength: 100 });
    await until(() => running.statistics().accepted === 40);
    const { honestMean, naiveMean } = running.truth('flight-delays', 7n)!;
    // A quarter moved by 100 deviations of a mean of three rows: 20 / sqrt 3 and 300 / sqrt 3.
    expect((naiveMean[0]! - honestMean[0]!) / (25 * 20 / Math.sqrt(3))).toBeCloseTo(1, 0);
    expect((naiveMean[1]! - honestMean[1]!) / (25 * 300 / Math.sqrt(3))).toBeCloseTo(1, 0);
  });

  it('refuses options that can never work', async () => {
    await serve();
    expect(() => start({ contributors: 0 })).toThrow(/at least 1/);
    expect(() => start({ corruption: 1 })).toThrow(/\[0, 1\)/);
    expect(() => start({ studies: [] })).toThrow(/studies/);
    expect(() => start({ attack: 'none' })).toThrow(/no attack "none"/);
    expect(() => start({ serverKey: fromHex('00') })).toThrow(/32/);
    fleet = undefined;
  });
});
