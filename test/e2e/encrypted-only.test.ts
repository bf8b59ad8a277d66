import { afterAll, expect, it } from 'vitest';
import { MeddlingProxy } from '../../cli/conform/meddling-proxy.js';
import { createContributor } from '../../client/index.js';
import { createOnceContributor } from '../../client/once.js';
import { Stage, type Ended } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const stages: Stage[] = [];
afterAll(async () => {
  for (const stage of stages) await stage.end();
});

function newStage(): Stage {
  const stage = new Stage();
  stages.push(stage);
  return stage;
}

it('a server whose settings say encryptedOnly takes rows in no other form', async () => {
  const stage = newStage();
  const settings = stage.write('settings.yaml', 'encryptedOnly: true\n');
  const { url } = await stage.serve([stage.write('study.yaml', meanStudy('delays'))], {
    flags: ['--settings', settings],
  });
  const seed = new Uint8Array(32).fill(1);
  const once = createOnceContributor({ url, study: 'delays', seed });
  await expect(once.contribute([[1, 2]])).rejects.toMatchObject({ code: 'unsupported' });
  const contributor = createContributor({ url, study: 'delays', seed, encryptedOnly: true });
  expect((await contributor.contribute([[1, 2]])).kind).toBe('accepted');
  await contributor.close();
}, 60_000);

it('keelson contribute --encrypted-only ends behind a proxy that hides such channels', async () => {
  const stage = newStage();
  const { url } = await stage.serve([stage.write('study.yaml', meanStudy('delays'))]);
  const key = stage.path('alice.key');
  await stage.run(['keys', 'new', key]);
  const input = stage.write('rows.csv', '3,200\n');
  const send = (to: string, more: readonly string[]): Promise<Ended> =>
    stage.run(['contribute', to, '--study', 'delays', '--key', key, '--input', input, ...more]);
  const proxy = await MeddlingProxy.to(Number(new URL(url).port));
  proxy.offers = () => ['keelson.v1'];
  const hidden = await send(proxy.url, ['--encrypted-only']);
  expect([hidden.status, hidden.stderr]).toEqual([
    2, expect.stringContaining('no encrypted channel is to be had') as string,
  ]);
  expect(proxy.seen.filter(({ way }) => way === 'up')).toEqual([]);
  // The row waits in the outbox, and goes first where it may.
  proxy.offers = (names) => names;
  expect((await send(proxy.url, ['--encrypted-only'])).stderr)
    .toContain('rows of an earlier run are settled: accepted');
  await proxy.close();
}, 60_000);
