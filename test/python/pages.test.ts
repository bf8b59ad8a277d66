// @module-tag slow
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { Stage } from '../support/live-command.js';
import { canImport, python } from '../support/python.js';
import { root } from '../support/sources.js';

const hasPandas = canImport('nacl.signing, pandas, websockets');
if (!hasPandas) {
  process.stderr.write('docs/guides/python.md is not run. To run it: apt-get install '
    + 'python3-websockets python3-nacl python3-pandas\n');
}

describe.skipIf(!canImport('ast'))('pages about Python', () => {
  const stage = new Stage();
  afterAll(() => stage.end());

  function run(script: string, ...words: readonly string[]): void {
    execFileSync(python, [`${root}scripts/${script}`, ...words], {
      cwd: root, stdio: ['ignore', 'ignore', 'pipe'], env: {
        ...process.env, PYTHONPATH: `${root}clients/python`, PYTHONDONTWRITEBYTECODE: '1',
        KEELSON_COMMAND: `${process.execPath} bin/keelson.js`, NODE_NO_WARNINGS: '1',
      },
    });
  }

  const text = (path: string): string => readFileSync(path, 'utf8');

  it('have the reference of the package as its sources are', () => {
    run('python_reference.py', stage.path('python.md'));
    expect(text(`${root}docs/reference/python.md`), 'run scripts/python_reference.py')
      .toBe(text(stage.path('python.md')));
  });

  it.skipIf(!hasPandas)('have the outputs of the guide, and its notebook, as they come', () => {
    const [page, notebook] = ['docs/guides/python.md', 'examples/python/first-hour.ipynb'];
    copyFileSync(root + page, stage.path('guide.md'));
    run('notebook.py', stage.path('guide.md'), stage.path('guide.ipynb'));
    expect(text(root + page), 'run scripts/notebook.py').toBe(text(stage.path('guide.md')));
    expect(text(root + notebook)).toBe(text(stage.path('guide.ipynb')));
  }, 60_000);
});
