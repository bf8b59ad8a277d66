import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  Bench, contribute, define, everyMs, questionsDocument,
} from '../support/hub-bench.js';
import { defineStudy } from '../../server/studies/definition.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { Deadline, plannedDuration } from '../../server/studies/release/schedule.js';
import { settle } from '../support/virtual-clock.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

/** A runner whose releases take as long as it is told, as slow rows would make them. */
function slowRunner(tookMs: () => number): InlineEpochRunner {
  const runner = new InlineEpochRunner();
  const release = runner.release.bind(runner);
  runner.release = async (studyId, epoch, before) => {
    await new Promise<void>((resolve) => { bench.clock.after(tookMs(), resolve); });
    return release(studyId, epoch, before);
  };
  return runner;
}

/**
 * When releases became visible, to those told and to those who ask, after their epoch's close, for
 * each time of work.
 */
async function publishedAfter(
  releaseTickMs: number, worksMs: readonly number[], study = define(),
): Promise<number[]> {
  let workMs = 0;
  const hub = await bench.start([study], { runner: slowRunner(() => workMs), releaseTickMs });
  const { studyId } = hub.studies()[0]!;
  const store = await bench.store();
  const times: number[] = [];
  for (const took of worksMs) {
    workMs = took;
    const { epoch, closesAtMs } = hub.study(studyId)!;
    await contribute(hub, studyId, 3, epoch);
    await bench.clock.advance(closesAtMs - bench.clock.nowMs());
    const before = (await store.releases(studyId, 0, 99)).length;
    const told = bench.record.events.filter(({ kind }) => kind === 'release').length;
    expect(told).toBe(before);
    while ((await store.releases(studyId, 0, 99)).length === before) {
      await bench.clock.advance(1);
      await settle();
    }
    expect(bench.record.events.filter(({ kind }) => kind === 'release').length).toBe(told + 1);
    times.push(bench.clock.nowMs() - closesAtMs);
    await bench.clock.advance(everyMs / 2);
  }
  await hub.close();
  return times;
}

it('publishes at the same tick whatever the work took, as long as it ends before '
  + 'it', { tags: ['long'] }, async () => {
  // Virtual time begins at a whole second, and epochs last ten.
  expect(await publishedAfter(1_000, [1, 700, 30])).toEqual([1_000, 1_000, 1_000]);
});

it('reveals of long work only how often its planned time doubled', { tags: ['long'] }, async () => {
  expect(await publishedAfter(1_000, [1_200, 1_900, 2_100, 3_900]))
    .toEqual([2_000, 2_000, 4_000, 4_000]);
  const warnings = bench.logs.filter((line) => line.includes('did not fit its planned time'));
  expect(warnings).toHaveLength(4);
});

it('waits for the bound on the work that a plan states, in public '
  + 'numbers', { tags: ['long'] }, async () => {
  const study = define();
  const bound = { passes: 100, rows: 2_000, columns: 50 };
  const work = [bound];
  expect(plannedDuration(work, 1_000)).toBe(4_000);
  expect(plannedDuration([{ ...bound, passes: 1 }], 1_000)).toBe(1_000);
  expect(plannedDuration(work, 0)).toBe(0);
  // The questions of a study are released one after the other.
  expect(plannedDuration([bound, bound], 1_000)).toBe(8_000);
  const planned = { ...study, work };
  expect(await publishedAfter(1_000, [1, 3_900], planned)).toEqual([4_000, 4_000]);
});

it('refuses a study whose passes over the rows do not fit half an epoch', () => {
  const study = (epochMs: number) => define({
    columns: ['x', 'y'], cohort: 10_000, estimator: 'stable-mean',
    parameters: parseParameters(
      findEstimator('stable-mean').parameters,
      { variant: 'reference', recentre: 'no', radius: 9 }, { dimension: 2 },
    ),
    epoch: { everyMs: epochMs },
  });
  expect(() => study(10_000)).toThrow(
    /the passes over the rows may take \d+ ms of a release, and its planned time is 5000 ms at most/);
  const { work } = study(60_000);
  expect(plannedDuration(work, 1_000)).toBeGreaterThan(5_000);
});

it('publishes discovered keys at the same tick, whether none came or as many as '
  + 'may', { tags: ['long'] }, async () => {
  const people = 8_000;
  const parameters = parseParameters(findEstimator('count').parameters, {}, { dimension: 1 });
  const by = { columns: ['miles'], groupsMax: 8, discover: { top: 5, prefilter: 1 } };
  const study = defineStudy(questionsDocument([{
    name: 'found', estimator: 'count', parameters, columns: [], where: [], reduce: 'one',
    part: 100, by,
  }], {
    cohort: 8_000, peopleMax: people, types: [{ type: 'number' }, { type: 'text', bytes: 32 }],
  }));
  // The work with 64,000 keys at the measured 2 to 5 us each.
  expect(await publishedAfter(250, [1, 128, 320], study)).toEqual([1_250, 1_250, 1_250]);
  expect(bench.logs.some((line) => line.includes('did not fit'))).toBe(false);
});

it.each([7_200_000, -7_200_000])(
  'is not moved by a wall clock that jumps by %d ms meanwhile', async (byMs) => {
    const deadline = new Deadline(bench.clock, bench.clock.nowMs(), 1_000);
    await bench.clock.advance(300);
    bench.clock.jump(byMs);
    const before = bench.clock.monotonicMs();
    let took: number | undefined;
    void deadline.reached().then(() => { took = bench.clock.monotonicMs() - before; });
    await bench.clock.advance(2_000);
    expect(took).toBe(700);
  },
);

it('does not wait for a scheduled time that a clock set back has moved away', async () => {
  const deadline = new Deadline(bench.clock, bench.clock.nowMs() + 3_600_000, 1_000);
  let isReached = false;
  void deadline.reached().then(() => { isReached = true; });
  await bench.clock.advance(1_000);
  expect(isReached).toBe(true);
});

it('publishes when ready without a tick', async () => {
  const [first, second] = await publishedAfter(0, [10, 700]);
  expect([first! < 20, second! > 690]).toEqual([true, true]);
});
