import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLogger } from '../../server/base/logger.js';
import { reloadStudies } from '../../server/studies/hub/reload.js';
import { Bench, batchOf, contribute, define, everyMs } from '../support/hub-bench.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

it('takes what is new, leaves what is as it was, and refuses a budget that grows, each study by '
  + 'itself', async () => {
  const hub = await bench.start([define(), define({ study: 'other' })]);
  const [delays, other] = hub.studies();
  await contribute(hub, delays!.studyId, 10, 1n);
  const budget = { epsilon: 99, delta: 1e-5, rule: 'zcdp', scope: 'study' } as const;
  const files = [
    define({ cohort: 500, budget }), define({ study: 'other', cohort: 500 }),
    define({ study: 'third' }),
  ];
  expect(await reloadStudies(hub, files, silentLogger))
    .toEqual({ added: ['other', 'third'], refused: ['delays'] });
  expect(await reloadStudies(hub, files, silentLogger)).toEqual({ added: [], refused: ['delays'] });
  expect(hub.study(delays!.studyId)).toMatchObject({ state: 'open', epoch: 1n });
  await bench.clock.advance(everyMs);
  await hub.settled();
  // Rows that were there before the reload are in the release, and the study of the refused file
  // goes on.
  expect(bench.record.contributorsAtDraw.get(`${delays!.studyId}/1`)).toBe(10);
  expect(hub.study(delays!.studyId)).toMatchObject({ state: 'open', epoch: 2n });
  expect(hub.study(other!.studyId)).toMatchObject({ state: 'ended', releaseCount: 1 });
  await hub.close();
});

it('keeps one budget across versions and restarts: none is spent twice, and rows stay with their '
  + 'version', async () => {
  const old = define();
  let hub = await bench.start([old]);
  const { studyId } = hub.studies()[0]!;
  await contribute(hub, studyId, 5, 1n);
  await reloadStudies(hub, [define({ cohort: 500 })], silentLogger);
  const newer = hub.studies().find((view) => view.studyId !== studyId)!;
  expect((await hub.submit(batchOf(newer.studyId, 50, newer.epoch))).verdict).toBe('accepted');
  // Between the reload and the end of the older version's epoch.
  await hub.close();
  hub = await bench.start([define({ cohort: 500 })]);
  await bench.clock.advance(everyMs);
  await hub.settled();
  expect(bench.record.contributorsAtDraw.get(`${studyId}/1`)).toBe(5);
  expect(bench.record.contributorsAtDraw.get(`${newer.studyId}/1`)).toBe(1);
  const [balance] = await hub.balances();
  expect(balance!.rhoSpent).toBe(2n * old.charge.rho);
  expect(balance!.rhoSpent + balance!.rhoReserved).toBeLessThanOrEqual(balance!.rhoCap);
  await hub.close();
});
