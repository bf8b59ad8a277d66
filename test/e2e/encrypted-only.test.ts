import { afterAll, expect, it } from 'vitest';
import { createContributor } from '../../client/index.js';
import { createOnceContributor } from '../../client/once.js';
import { Stage } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const stage = new Stage();
afterAll(() => stage.end());

it('a server whose settings say encryptedOnly takes rows in no other form', async () => {
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
