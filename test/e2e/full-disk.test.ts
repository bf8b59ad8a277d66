// @module-tag slow
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { Load } from '../support/durability/load.js';
import { judgeFolder } from '../support/durability/verdict.js';
import { Stage } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';
import { until } from '../support/until.js';

const stage = new Stage();
const folder = stage.path('data');
const mount = (...words: string[]): boolean => spawnSync('mount', words).status === 0;
const unmount = (): boolean => spawnSync('umount', [folder]).status === 0;

mkdirSync(folder);
/** Only root may mount; elsewhere nothing here can be tried. */
const mountable = mount('-t', 'tmpfs', '-o', 'size=1200k,mode=0700', 'tmpfs', folder);

afterEach(async () => {
  await stage.end();
});

describe
  .skipIf(
    !mountable,
  )(`a small disk${mountable ? '' : ' (skipped: file systems cannot be mounted here)'}`, () => {
  it('loses nothing when full, continues with new room, and is refused if read-only', async () => {
    const columns = 400;
    const names = Array.from({ length: columns }, (_, i) => `c${i}`);
    const study = stage.write('small.yaml', meanStudy('small', {
      columns: `[${names.join(', ')}]`, cohort: '20000', parameters: '{ scale: 1 }',
      epoch: '{ every: 10m }', contribution: '{ reduce: mean, rowsMax: 60000 }', retention: '30d',
    }));
    try {
      const served = await stage.serve([study]);
      const load = new Load({ ...served, study: 'small', people: 10, columns, pauseMs: 1 });
      const { status, stderr } = await served.command.ended;
      expect(status).toBe(2);
      expect(stderr).toContain('free space on the disk of the data folder');
      const before = load.acknowledged.length;
      expect(before).toBeGreaterThan(20);

      expect(mount('-o', 'remount,size=64m', folder)).toBe(true);
      const again = await stage.serve([study], { port: served.port });
      await until(() => load.acknowledged.length > before + 50);
      await load.end();
      expect(load.failures).toEqual([]);
      expect((await again.command.interrupt()).status).toBe(0);

      expect(mount('-o', 'remount,ro', folder)).toBe(true);
      const refused = await stage.run(['serve', study, '--data', folder, '--port', '0', '--json']);
      expect(refused.status).toBe(2);
      expect(refused.stderr).toMatch(/cannot be created or written \(EROFS\)/);
      expect(mount('-o', 'remount,rw', folder)).toBe(true);

      expect(await judgeFolder(folder, load.acknowledged, load.published))
        .toMatchObject({ lost: [], twice: [], faults: [] });
    } finally {
      await stage.endCommands();
      unmount();
    }
  });
});
