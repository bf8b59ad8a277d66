import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import type { Store, WithdrawalResult } from '../../server/store/contract.js';
import type { RunningHub } from '../../server/studies/hub/hub.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import type { Outcome } from '../../src/base/outcome.js';
import { decodeReleaseBody } from '../../src/wire/index.js';
import { Bench, batchOf, define, everyMs, hexKey, keyOf, rowOf } from '../support/hub-bench.js';
import { seededNoise } from '../../src/random/insecure.js';

let bench: Bench;
let store: Store;
beforeEach(async () => {
  bench = new Bench();
  store = await bench.store();
});
afterEach(() => bench.close());

const withdraw = (
  hub: RunningHub, studyId: string, contributor: number, epoch: bigint,
): Promise<WithdrawalResult> =>
  hub.withdraw({
    studyId, contributor: hexKey(contributor), epoch, signature: new Uint8Array(64).fill(3),
  });
const releasesOf = async (studyId: string) =>
  (await store.releases(studyId, 0, 9)).map(({ body }) => decodeReleaseBody(body));
/**
 * Half of the contributors send two batches, so that sums of parts are made; some of those never
 * finish.
 */
async function give(
  hub: RunningHub, studyId: string, contributors: readonly number[],
): Promise<void> {
  const given = contributors.flatMap((i) => {
    const isLong = i % 2 === 0;
    const first = batchOf(studyId, i, 1n, { sequence: 1n, last: !isLong });
    const second = { sequence: 2n, last: i % 4 === 0, values: rowOf(i + 1_000) };
    return isLong ? [first, batchOf(studyId, i, 1n, second)] : [first];
  });
  await Promise.all(given.map((batch) => hub.submit(batch)));
}
const people = Array.from({ length: 500 }, (_, i) => i);
const leavers = new Set([0, 2, 3, 7, 31, 58, 499]);
const stayers = people.filter((i) => !leavers.has(i));

/**
 * What a server would publish that never heard of the leavers: the same groups, seeds, order and
 * noise.
 */
async function withoutLeavers(
  studyId: string, definition: ReturnType<typeof define>,
): Promise<Outcome> {
  const { document, target } = definition;
  const { assignmentKey, workSeed } = (await store.epoch(studyId, 1n))!;
  const runner = new InlineEpochRunner({ noise: () => seededNoise('bench') });
  await runner.open({ studyId, epoch: 1n, document, target, assignmentKey, workSeed });
  for (const i of stayers) {
    const isLong = i % 2 === 0;
    const part = (values: Float64Array, sequence: bigint, complete: boolean) =>
      ({ contributor: keyOf(i), sequence, values, rows: 1, complete });
    runner.add(studyId, 1n, [part(rowOf(i), 1n, !isLong)]);
    if (isLong) runner.add(studyId, 1n, [part(rowOf(i + 1_000), 2n, i % 4 === 0)]);
  }
  return (await runner.release(studyId, 1n)).outcomes[0]!;
}

describe('withdrawing from an open epoch', () => {
  it.each([
    ['mean', { spread: [40, 600] }, 'no restart'], ['mean', { spread: [40, 600] }, 'a restart'],
    ['populous-mean', { spread: [40, 600] }, 'no restart'],
  ])('gives the release that it would have been, bit for bit: %s, %j, '
    + '%s', { tags: ['long'] }, async (estimator, parameters, restart) => {
    const definition = define({
      estimator, cohort: 500,
      parameters:
        parseParameters(findEstimator(estimator).parameters, parameters, { dimension: 2 }),
      participation: 'public', retention: { kind: 'duration', keepMs: 1e9 },
      privacy: { epsilon: 8, delta: 1e-6 },
      budget: { epsilon: 40, delta: 1e-5, rule: 'zcdp', scope: 'study' },
    });
    let hub = await bench.start([definition]);
    const { studyId } = hub.studies()[0]!;
    await give(hub, studyId, people);
    for (const i of leavers) expect(await withdraw(hub, studyId, i, 1n))
      .toMatchObject({ kind: 'withdrawn', undone: true });
    expect(await store.contributorCount(studyId, 1n)).toBe(stayers.length);
    if (restart === 'a restart') {
      await hub.close();
      hub = await bench.start([definition]);
    }
    const expected = await withoutLeavers(studyId, definition);
    await bench.clock.advance(everyMs);
    await hub.settled();
    const [release] = await releasesOf(studyId);
    const { outcome } = release!.answers[0]!;
    expect(outcome.kind).toBe('value');
    const bits = ({ kind, ...rest }: Outcome): unknown => (kind === 'value' && 'estimate' in rest
      ? Array.from(rest.estimate, (value) =>
        Buffer.from(Float64Array.of(value).buffer).toString('hex')) : kind);
    expect(bits(outcome)).toEqual(bits(expected));
    await hub.close();
  });

  it('is final, idempotent, and too late once the epoch is closed', async () => {
    const hub = await bench.start([define()]);
    const { studyId } = hub.studies()[0]!;
    await give(hub, studyId, [1, 2, 3]);
    expect(await withdraw(hub, studyId, 1, 1n))
      .toEqual({ kind: 'withdrawn', undone: true, complete: true });
    expect(await withdraw(hub, studyId, 1, 1n))
      .toEqual({ kind: 'withdrawn', undone: false, complete: false });
    // What was settled stays settled; nothing new is taken into that epoch.
    expect(await hub.submit(batchOf(studyId, 1, 1n, { sequence: 1n })))
      .toMatchObject({ verdict: 'duplicate' });
    expect(await hub.submit(batchOf(studyId, 1, 1n, { sequence: 2n })))
      .toMatchObject({ verdict: 'rejected', code: 'contribution-full' });
    expect((await store.journal(studyId, 1n, 0n, 99)).map(({ contributor }) => contributor))
      .toEqual([2, 2, 3].map(hexKey));
    // A key that gave nothing leaves no trace, and may still give.
    expect(await withdraw(hub, studyId, 9, 1n))
      .toEqual({ kind: 'withdrawn', undone: false, complete: false });
    expect(await hub.submit(batchOf(studyId, 9, 1n, { sequence: 1n })))
      .toMatchObject({ verdict: 'accepted' });
    // Also numbers that the store cannot hold: they would stop the server.
    for (const epoch of [2n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n]) {
      expect(await withdraw(hub, studyId, 2, epoch))
        .toEqual({ kind: 'refused', code: 'epoch-not-open' });
    }
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(await withdraw(hub, studyId, 2, 1n)).toEqual({ kind: 'refused', code: 'too-late' });
    // One whose answer was lost is still told the truth.
    expect(await withdraw(hub, studyId, 1, 1n)).toMatchObject({ kind: 'withdrawn' });
    expect(await hub.submit(batchOf(studyId, 1, 2n, { sequence: 3n })))
      .toMatchObject({ verdict: 'accepted' });
    await hub.close();
  });

  it('gives a contributor its own budget back, once', async () => {
    const definition =
      define({ budget: { epsilon: 6, delta: 1e-5, rule: 'zcdp', scope: 'contributor' } });
    const hub = await bench.start([definition]);
    const { studyId } = hub.studies()[0]!;
    const spent = async (i: number) => (await hub.contributorState(studyId, keyOf(i))).spend;
    const nothing = await spent(1);
    await give(hub, studyId, [1, 2]);
    const one = await spent(2);
    expect(one).not.toEqual(nothing);
    await withdraw(hub, studyId, 1, 1n);
    await withdraw(hub, studyId, 1, 1n);
    expect([await spent(1), await spent(2)]).toEqual([nothing, one]);
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect([await spent(1), await spent(2)]).toEqual([nothing, one]);
    await hub.close();
  });

  it('leaves nothing to pay for when everybody withdraws and presence is public', async () => {
    const definition = define({
      participation: 'public',
      budget: { epsilon: 6, delta: 1e-5, rule: 'zcdp', scope: 'contributor' },
    });
    const hub = await bench.start([definition]);
    const { studyId } = hub.studies()[0]!;
    await give(hub, studyId, [1, 3]);
    for (const i of [1, 3]) await withdraw(hub, studyId, i, 1n);
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(await store.epoch(studyId, 1n)).toMatchObject({ state: 'lapsed' });
    expect(bench.failures).toEqual([]);
    for (const i of [1, 3]) {
      expect((await hub.contributorState(studyId, keyOf(i))).spend)
        .toEqual({ rho: 0n, delta: 0n, pure: 0n });
    }
    await hub.close();
  });

  it('counts for an epoch that waits for a number of contributors', async () => {
    const hub =
      await bench.start([define({ participation: 'public', epoch: { contributors: 3 } })]);
    const { studyId } = hub.studies()[0]!;
    await give(hub, studyId, [1, 3]);
    await withdraw(hub, studyId, 3, 1n);
    await give(hub, studyId, [5]);
    expect(hub.study(studyId)!.epoch).toBe(1n);
    await give(hub, studyId, [7]);
    await hub.settled();
    expect(hub.study(studyId)!.epoch).toBe(2n);
    expect(bench.record.contributorsAtDraw.get(`${studyId}/1`)).toBe(3);
    await hub.close();
  });
});
