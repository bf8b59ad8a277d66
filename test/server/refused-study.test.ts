import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLogger } from '../../server/base/logger.js';
import { reloadStudies } from '../../server/studies/reload.js';
import { Bench, contribute, define, everyMs } from '../support/hub-bench.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

const grown = { budget: { epsilon: 99, delta: 1e-5, rule: 'zcdp', scope: 'study' } } as const;

it('leaves out a study that the store refuses, says so, and runs the others', async () => {
  let hub = await bench.start([define(), define({ study: 'other' })]);
  const [delays] = hub.studies();
  await contribute(hub, delays!.studyId, 10, 1n);
  await hub.close();
  hub = await bench.start([define(grown), define({ study: 'other' }), define({ study: 'third' })]);
  expect(hub.refused()).toMatchObject([{ study: 'delays', error: { code: 'invalid-study' } }]);
  expect(bench.logs).toContain('error: a study cannot start and is left out; the others run');
  await bench.clock.advance(everyMs);
  await hub.settled();
  const open = hub.studies().filter(({ state, epoch }) => state === 'open' && epoch > 0n);
  expect(open.map(({ name }) => name)).toEqual(['other', 'third']);
  // What the refused study's version in the store had collected is released, and that version is not ended.
  expect(bench.record.contributorsAtDraw.get(`${delays!.studyId}/1`)).toBe(10);
  const store = await bench.store();
  expect((await store.study(delays!.studyId))!.state).toBe('open');
  await hub.close();
  hub = await bench.start([define()]);
  expect(hub.refused()).toEqual([]);
  expect(hub.study(delays!.studyId)).toMatchObject({ state: 'open', epoch: 2n, releaseCount: 1 });
  await hub.close();
});

it('does not start when every study is refused, or when one is and it is strict', async () => {
  const hub = await bench.start([define(), define({ study: 'other' })]);
  await hub.close();
  await expect(bench.start([define(grown), define({ study: 'other', ...grown })]))
    .rejects.toMatchObject({ code: 'invalid-study', message: expect.stringMatching(/delays[^]*other/) as string });
  await expect(bench.start([define(grown), define({ study: 'third' })], { strict: true }))
    .rejects.toMatchObject({ code: 'invalid-study' });
  // A file that no study could be made of counts as refused.
  const broken = { study: 'broken.yaml', error: new Error('line 1: what is this') };
  const started = await bench.start([define()], { refused: [broken] });
  expect(started.refused()).toEqual([broken]);
  await started.close();
});

it('shows at each reload what is refused now', async () => {
  const hub = await bench.start([define(), define({ study: 'other' })]);
  const broken = { study: 'other.yaml', error: new Error('line 1: what is this') };
  const reload = (...files: Parameters<typeof reloadStudies>[1]) =>
    reloadStudies(hub, files, silentLogger, [broken]);
  expect(await reload(define(grown), define({ study: 'third' })))
    .toEqual({ added: ['third'], refused: ['other.yaml', 'delays'] });
  expect(hub.refused().map(({ study }) => study)).toEqual(['other.yaml', 'delays']);
  expect(hub.studies().map(({ name, state }) => [name, state]))
    .toEqual([['delays', 'open'], ['other', 'open'], ['third', 'open']]);
  await reloadStudies(hub, [define(), define({ study: 'other' })], silentLogger);
  expect(hub.refused()).toEqual([]);
  await hub.close();
});
