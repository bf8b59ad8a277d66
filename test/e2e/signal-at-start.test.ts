import { afterAll, expect, it } from 'vitest';
import { Stage } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const stage = new Stage();
afterAll(() => stage.end());

/**
 * Run before the command: the first file that it opens is never there, and nothing else runs
 * meanwhile.
 */
const stuck = `data:text/javascript,${encodeURIComponent(`
  import fs, { writeSync } from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const { openSync } = fs;
  fs.openSync = (path, ...rest) => {
    if (!String(path).endsWith('stuck.yaml')) return openSync(path, ...rest);
    writeSync(2, 'reading');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  };
  syncBuiltinESMExports();
`)}`;

it.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends a server that is still starting, whatever it does', async (signal) => {
    const file = stage.write('stuck.yaml', meanStudy('survey'));
    const command = stage.start(
      ['serve', file, '--port', '0'], { environment: { NODE_OPTIONS: `--import ${stuck}` } },
    );
    await command.says('reading');
    command.child.kill(signal);
    await command.ended;
    expect(command.child.signalCode).toBe(signal);
  },
);
