import { afterEach, beforeEach, expect, it } from 'vitest';
import { decodeReleaseBody } from '../../src/wire/index.js';
import { Bench, batchOf, contribute, define, everyMs, keyOf } from '../support/hub-bench.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

it('measures a contributor\'s own rows against the newest answer, whatever anybody else '
  + 'sends', async () => {
  const hub = await bench.start([define()]);
  const { studyId } = hub.studies()[0]!;
  // Before the first answer there is nothing to compare with.
  await contribute(hub, studyId, 300, 1n);
  const early = await hub.evidence!(studyId, keyOf(5));
  expect(early).toMatchObject({
    answer: null, epochs: [{ epoch: 1n, released: false, rows: 1, distance: null, farthest: null }],
  });
  await bench.clock.advance(everyMs);
  await hub.settled();
  const [release] = await hub.releases(studyId, 0, 1);
  const { outcome } = decodeReleaseBody(release!.body).answers[0]!;
  if (outcome.kind !== 'value') throw new Error('the epoch was to have an answer');
  const [minutes, miles] = outcome.estimate as [number, number];
  // Two rows at one and at three spreads of minutes: their mean is at two.
  const values = Float64Array.of(minutes + 40, miles, minutes + 120, miles);
  await hub.submit(batchOf(studyId, 5, 2n, { sequence: 2n, values }));
  const alone = await hub.evidence!(studyId, keyOf(5));
  expect(alone)
    .toMatchObject({ answer: { index: 0, epoch: 1n }, unit: 'spread', truncated: false });
  // The rows of the first epoch are deleted with its release.
  expect(alone.epochs).toEqual([
    { epoch: 2n, released: false, rows: 2, complete: true, distance: 2, farthest: 3 },
  ]);
  await contribute(hub, studyId, 4, 2n);
  expect(await hub.evidence!(studyId, keyOf(5))).toEqual(alone);
  expect((await hub.evidence!(studyId, keyOf(399))).epochs).toEqual([]);
  await hub.close();
});

it('looks at the rows of released epochs while they are kept', async () => {
  const hub =
    await bench.start([define({ retention: { kind: 'duration', keepMs: 10 * everyMs } })]);
  const { studyId } = hub.studies()[0]!;
  await contribute(hub, studyId, 300, 1n);
  await bench.clock.advance(everyMs);
  await hub.settled();
  const kept = await hub.evidence!(studyId, keyOf(5));
  expect(kept.epochs).toMatchObject([{ epoch: 1n, released: true, rows: 1 }]);
  await hub.close();
});
