import { afterAll, beforeAll, expect, it } from 'vitest';
import { Stage, type Served } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const stage = new Stage();
let served: Served;

beforeAll(async () => {
  const files = [
    stage.write('first.yaml', meanStudy('first')), stage.write('second.yaml', meanStudy('second')),
  ];
  served = await stage.serve(files, { logLevel: 'info' });
});
afterAll(() => stage.end());

const reloads = (): number =>
  served.command.stderr.split('the study files were read again').length - 1;

async function hangUp(): Promise<void> {
  const before = reloads();
  served.command.child.kill('SIGHUP');
  while (reloads() === before) await served.command.next();
}

interface Listed { readonly name: string; readonly state: string; readonly id: string }

async function listed(): Promise<readonly Listed[]> {
  const { stdout, status } = await stage.run(['studies', served.url, '--json']);
  expect(status).toBe(0);
  return (JSON.parse(stdout) as { studies: readonly Listed[] }).studies;
}

it('takes a new version of a study at SIGHUP, and goes on as it was when a file cannot be '
  + 'read', async () => {
  const [, second] = await listed();
  stage.write('second.yaml', meanStudy('second', { cohort: '250' }));
  await hangUp();
  const versions =
    (await listed()).filter(({ name, id }) => name === 'second' && id !== second!.id);
  expect(versions).toMatchObject([{ state: 'open' }]);
  stage.write('second.yaml', 'not a study');
  await hangUp();
  await served.command.says('a study is refused; what runs under its name continues');
  expect((await listed()).filter(({ name, state }) => name === 'second' && state === 'open')).not
    .toEqual([]);
});

it('ends a study for the holder of the operator token, and for nobody else', async () => {
  const end = ['studies', served.url, '--end', 'first', '--token-file'];
  const wrong = await stage.run([...end, stage.write('wrong.token', `${'x'.repeat(43)}\n`)]);
  expect([wrong.status, wrong.stderr.includes('operator token')]).toEqual([2, true]);
  expect((await listed()).find(({ name }) => name === 'first')!.state).toBe('open');
  const right = await stage.run([...end, stage.path('data/operator.token')]);
  expect([right.status, right.stderr]).toEqual([0, '']);
  await served.command.says('"study":"first","state":"ended"');
  expect((await listed()).find(({ name }) => name === 'first')!.state).toBe('ended');
});
