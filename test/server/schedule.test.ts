import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delayUntilClose, nextTimes } from '../../server/studies/release/schedule.js';
import { decodeReleaseBody } from '../../src/wire/index.js';
import { Bench, contribute, define, everyMs } from '../support/hub-bench.js';
import { settle } from '../support/virtual-clock.js';

describe('nextTimes', () => {
  it('opens when it was planned, however late or early the timer is', () => {
    const onTime = { opensAtMs: 1_000, closesAtMs: 1_100 };
    expect(nextTimes({ everyMs: 100 }, 1_003, [1_000], 0)).toEqual(onTime);
    expect(nextTimes({ everyMs: 100 }, 1_099, [1_000], 0)).toEqual(onTime);
    expect(nextTimes({ everyMs: 100 }, 999, [1_000], 0)).toEqual(onTime);
    expect(nextTimes({ everyMs: 100 }, 1_003, [0, 1_000], 10)).toEqual(onTime);
  });

  it('begins a new grid after a gap or a jump, at a tick', () => {
    expect(nextTimes({ everyMs: 100 }, 5_003, [1_000], 0))
      .toEqual({ opensAtMs: 5_003, closesAtMs: 5_103 });
    expect(nextTimes({ everyMs: 100 }, 5_003, [1_000], 10))
      .toEqual({ opensAtMs: 5_000, closesAtMs: 5_100 });
    expect(nextTimes({ everyMs: 100 }, 503, [1_000], 10))
      .toEqual({ opensAtMs: 500, closesAtMs: 600 });
    expect(nextTimes({ everyMs: 100 }, 503, [0], 10)).toEqual({ opensAtMs: 500, closesAtMs: 600 });
    // A tick that is longer than the epoch does not make it close in the past.
    expect(nextTimes({ everyMs: 100 }, 5_970, [], 1_000))
      .toEqual({ opensAtMs: 5_900, closesAtMs: 6_000 });
  });

  it('has no close for epochs that close on a count', () => {
    expect(nextTimes({ contributors: 5 }, 500, [0], 250))
      .toEqual({ opensAtMs: 500, closesAtMs: 0 });
  });

  it('never waits longer than an epoch', () => {
    expect(delayUntilClose({ everyMs: 100 }, 0, 40)).toBe(40);
    expect(delayUntilClose({ everyMs: 100 }, 500, 40)).toBe(0);
    expect(delayUntilClose({ everyMs: 100 }, -5_000, 40)).toBe(100);
  });
});

describe('a running study', () => {
  let bench: Bench;
  beforeEach(() => { bench = new Bench(); });
  afterEach(() => bench.close());

  it('opens an epoch at start and one after the other on time', async () => {
    const hub = await bench.start([define()]);
    const [view] = hub.studies();
    const startMs = bench.clock.nowMs();
    expect(view).toMatchObject(
      { name: 'delays', state: 'open', epoch: 1n, closesAtMs: startMs + everyMs, releaseCount: 0 },
    );
    await bench.clock.advance(everyMs - 1);
    expect(hub.studies()[0]!.epoch).toBe(1n);
    await bench.clock.advance(1);
    await hub.settled();
    expect(hub.studies()[0])
      .toMatchObject({ epoch: 2n, closesAtMs: startMs + 2 * everyMs, releaseCount: 1 });
    await bench.clock.advance(3 * everyMs);
    await hub.settled();
    expect(hub.studies()[0])
      .toMatchObject({ epoch: 5n, closesAtMs: startMs + 5 * everyMs, releaseCount: 4 });
    await hub.close();
    expect(bench.clock.pending).toBe(0);
  });

  // A timer keeps the process: after SIGTERM it would stay for an epoch, or for as long as rows are
  // kept.
  it.each(['turnEpoch', 'unpurgedEpochs'] as const)(
    'leaves no timer behind when it is closed during %s', async (call) => {
      const hub =
        await bench.start([define({ retention: { kind: 'duration', keepMs: 100 * everyMs } })]);
      await contribute(hub, hub.studies()[0]!.studyId, 3, 1n);
      const store = await bench.store();
      const slow = store as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
      const real = slow[call]!.bind(store);
      let goOn = (): void => undefined;
      const held = new Promise<void>((resolve) => { goOn = resolve; });
      slow[call] = async (...args) => {
        await held;
        return real(...args);
      };
      await bench.clock.advance(everyMs);
      const closed = hub.close();
      await settle();
      goOn();
      await closed;
      expect(bench.clock.pending).toBe(0);
    },
  );

  it('does every step in the order that the ledger needs', async () => {
    const hub = await bench.start([define()]);
    await contribute(hub, hub.studies()[0]!.studyId, 20, 1n);
    await bench.clock.advance(everyMs);
    await hub.settled();
    const steps = bench.record.steps.filter((step) => !step.startsWith('store.purge'));
    expect(steps).toEqual([
      'store.openEpoch 1', 'store.turnEpoch 1',
      'store.chargeEpoch 1', 'noise 1', 'store.storeRelease 1', 'publish 1',
    ]);
    await hub.close();
  });

  it('lets contributors into the next epoch as soon as the old one is closed', async () => {
    const hub = await bench.start([define()]);
    const { studyId } = hub.studies()[0]!;
    const before = contribute(hub, studyId, 3, 1n);
    await bench.clock.advance(everyMs);
    const [late, early] = await Promise.all([contribute(hub, studyId, 3, 2n), before]);
    expect(early.map((result) => result.verdict)).toEqual(['accepted', 'accepted', 'accepted']);
    expect(late.map((result) => result.verdict)).toEqual(['accepted', 'accepted', 'accepted']);
    await hub.settled();
    expect(bench.record.contributorsAtDraw.get(`${studyId}/1`)).toBe(3);
    expect(await hub.progress(studyId)).toMatchObject({ contributors: 3, complete: 3 });
    await hub.close();
  });

  it('counts rows that were accepted in the moment of the close', async () => {
    const hub = await bench.start([define()]);
    const { studyId } = hub.studies()[0]!;
    await bench.clock.advance(everyMs - 1);
    // The timer fires while these are on their way: each must count in exactly one epoch.
    const sent = contribute(hub, studyId, 40, 1n);
    const passing = bench.clock.advance(1);
    const results = await sent;
    await passing;
    await hub.settled();
    expect(results.every((result) => result.verdict === 'accepted')).toBe(true);
    const first = bench.record.contributorsAtDraw.get(`${studyId}/1`)!;
    const second = (await hub.progress(studyId))!.contributors;
    expect(first + second).toBe(40);
    await hub.close();
  });

  it('is not disturbed by a wall clock that is set back or forward', async () => {
    const hub = await bench.start([define()]);
    bench.clock.jump(-3_600_000);
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(hub.studies()[0]).toMatchObject({ epoch: 2n, releaseCount: 1 });
    bench.clock.jump(7_200_000);
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(hub.studies()[0]).toMatchObject({ epoch: 3n, releaseCount: 2 });
    await bench.clock.advance(everyMs);
    expect(hub.studies()[0]!.epoch).toBe(4n);
    await hub.close();
  });

  it('publishes the scheduled close and the nominal cohort, not when or how many '
    + 'came', async () => {
    const hub = await bench.start([define()]);
    const { studyId, closesAtMs } = hub.studies()[0]!;
    await contribute(hub, studyId, 17, 1n);
    await bench.clock.advance(everyMs + 5);
    await hub.settled();
    const [release] = bench.record.published(studyId);
    expect(
      decodeReleaseBody(release!.body),
    ).toMatchObject({ closedAtMs: BigInt(closesAtMs), cohort: 400n, epoch: 1n, index: 0n });
    await hub.close();
  });

  it('runs two studies at once, each with its own epochs and log', async () => {
    const hub =
      await bench.start([define(), define({ study: 'second', epoch: { everyMs: 2 * everyMs } })]);
    const [first, second] = hub.studies();
    await contribute(hub, first!.studyId, 5, 1n);
    await contribute(hub, second!.studyId, 9, 1n);
    await bench.clock.advance(2 * everyMs);
    await hub.settled();
    expect(hub.studies().map((view) => view.releaseCount)).toEqual([2, 1]);
    expect(bench.record.contributorsAtDraw.get(`${first!.studyId}/1`)).toBe(5);
    expect(bench.record.contributorsAtDraw.get(`${second!.studyId}/1`)).toBe(9);
    await hub.close();
  });

  it('extends the open epoch when releases take longer than epochs', async () => {
    const hub = await bench.start([define()], { crashInDraw: true });
    await bench.clock.advance(10 * everyMs);
    await settle();
    // Two closed epochs wait for their release, the third stays open.
    expect(hub.studies()[0]).toMatchObject({ epoch: 3n, releaseCount: 0 });
    expect(bench.logs.filter((line) => line.includes('longer than epochs'))).toHaveLength(1);
  });
});
