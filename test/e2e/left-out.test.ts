import { readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { Stage, type Served } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const stage = new Stage();
afterAll(() => stage.end());

const namesOf = async (served: Served): Promise<readonly string[]> => {
  const { stdout } = await stage.run(['studies', served.url, '--json']);
  return (JSON.parse(stdout) as { studies: { name: string }[] }).studies.map(({ name }) => name);
};

const shared = meanStudy('shared', { budget: '{ population: everybody }' });

it('serves the studies that can start, and another one after its file is repaired', async () => {
  const good = stage.write('good.yaml', meanStudy('good'));
  const broken = stage.write('broken.yaml', 'study: broken\nepsilonn: 3\n');
  const few = stage.write('few.yaml', meanStudy('few', { cohort: '10' }));
  const population = stage.write('shared.yaml', shared);
  const files = [broken, good, few, population, stage.path('none.yaml')];
  const populations = stage.write('populations.yaml', 'populations: nonsense\n');
  const served =
    await stage.serve(files, { logLevel: 'info', flags: ['--populations', populations] });
  const refused = served.listening['refused'] as { study: string; reason: string }[];
  expect(refused.map(({ study }) => study))
    .toEqual([broken, few, population, stage.path('none.yaml')]);
  expect(refused[0]!.reason).toContain('epsilonn');
  expect(refused[2]!.reason).toContain('populations.yaml');
  expect(await namesOf(served)).toEqual(['good']);
  await served.command.says('a study cannot start and is left out; the others run');
  const headers = {
    Authorization: `Bearer ${readFileSync(stage.path('data/operator.token'), 'utf8').trim()}`,
  };
  const read = async (path: string): Promise<string> =>
    (await fetch(`${served.address}${path}`, { headers })).text();
  expect(JSON.parse(await read('/v1/operator/progress')))
    .toMatchObject({ refusedStudies: refused });
  expect(await read('/metrics')).toContain('keelson_studies_refused 4\n');
  // Mended one by one: what is still broken keeps nothing else from being taken.
  stage.write('broken.yaml', meanStudy('broken'));
  stage.write('populations.yaml', 'populations:\n  everybody: { epsilon: 50, delta: 1e-5 }\n');
  served.command.child.kill('SIGHUP');
  await served.command.says('the study files were read again');
  expect([...await namesOf(served)].sort()).toEqual(['broken', 'good', 'shared']);
  expect(await read('/metrics')).toContain('keelson_studies_refused 2\n');
  expect((await served.command.interrupt()).status).toBe(0);
});

it('starts nothing with --strict, or where no study can start', { tags: ['slow'] }, async () => {
  const good = stage.write('good.yaml', meanStudy('good'));
  const broken = stage.write('broken.yaml', 'study: broken\nepsilonn: 3\n');
  const few = stage.write('few.yaml', meanStudy('few', { cohort: '10' }));
  const serve = (...words: readonly string[]) =>
    stage.run(['serve', ...words, '--data', stage.path('none'), '--port', '0']);
  const strict = await serve(good, broken, '--strict');
  expect([strict.status, strict.stdout]).toEqual([2, '']);
  expect(strict.stderr).toContain('epsilonn');
  const all = await serve(broken, few);
  expect([all.status, all.stdout]).toEqual([2, '']);
  expect(all.stderr).toMatch(
    /none of 2 studies can start[^]*broken\.yaml[^]*epsilonn[^]*few\.yaml[^]*cohort of \d+/,
  );
  expect(() => readFileSync(stage.path('none/keelson.db'))).toThrow('ENOENT');
  // While it runs, a broken file then keeps every file from being taken.
  const served = await stage.serve([good], { data: 'strict', flags: ['--strict'] });
  stage.write('good.yaml', 'study: good\nepsilonn: 3\n');
  served.command.child.kill('SIGHUP');
  await served.command.says('the studies stay as they were');
  expect(await namesOf(served)).toEqual(['good']);
  expect((await served.command.interrupt()).status).toBe(0);
});
