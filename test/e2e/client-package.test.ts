// @module-tag slow
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { Stage } from '../support/live-command.js';
import { isOffline, npm, pack } from '../support/packing.js';
import { root } from '../support/sources.js';
import { meanStudy } from '../support/study-files.js';

const stage = new Stage();
afterAll(() => stage.end());

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly imports: unknown;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(`${root}${folder}package.json`, 'utf8')) as Manifest;

/** What an installed package did on its way in, as npm notes it. */
interface Installed {
  readonly hasInstallScript?: boolean;
}

const contribution = `
  import { createContributor, memoryOutbox, subscribe } from '@keelson/client';
  import { createContributor as same } from '@keelson/client/contribute';
  const [url, study] = process.argv.slice(1);
  const contributor = createContributor({ url, study, seed: new Uint8Array(32).fill(7) });
  const { kind, epoch } = await contributor.contribute([[12, 640], [3, 233]]);
  await contributor.close();
  const functions = [createContributor === same, typeof memoryOutbox, typeof subscribe];
  console.log(JSON.stringify({ kind, epoch: Number(epoch), functions }));`;

describe('the package of the client', () => {
  it('states the version of the whole package, and depends on no other', () => {
    const [own, whole] = [manifestOf('client/package/'), manifestOf('')];
    expect(own.version).toBe(whole.version);
    expect(own.imports).toEqual(whole.imports);
    expect(own.dependencies).toBeUndefined();
  });

  it('holds the client and nothing of the server', () => {
    const { files, size } = pack(`${root}client/package`, stage.folder);
    const paths = files.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining([
      'LICENSE', 'NOTICE', 'README.md', 'package.json', 'dist/browser/keelson-client.js',
      'dist/client/index.d.ts', 'dist/bundle/client/index.js',
      'dist/bundle/browser/client/index.js', 'dist/bundle/NOTICE',
    ]));
    // Of the element only its types: its code is one file in dist/browser.
    const own = new RegExp('^dist/(client/|browser/'
      + '|bundle/(browser/)?(client|parts)/|bundle/NOTICE$'
      + '|src/(answers|base|wire|signing|log|series|sealed/shares)/'
      + '|dashboard/element/[\\w-]+\\.d\\.ts$)');
    const built = paths.filter((path) => path.startsWith('dist/'));
    expect(built.filter((path) => !own.test(path))).toEqual([]);
    expect(paths.filter((path) => /simulation|\.map$/.test(path))).toEqual([]);
    expect(size).toBeLessThan(515_000);
  });

  it('installs no other package, and contributes', async ({ skip }) => {
    const { filename } = pack(`${root}client/package`, stage.folder);
    const place = stage.path('place');
    mkdirSync(place);
    npm(['init', '--yes'], place);
    try {
      const quiet = ['--prefer-offline', '--no-audit', '--no-fund'];
      npm(['install', ...quiet, stage.path(filename)], place);
    } catch (failure) {
      if (isOffline(failure)) skip('npm can reach no registry');
      throw failure;
    }
    const lock = readFileSync(`${place}/node_modules/.package-lock.json`, 'utf8');
    const { packages } = JSON.parse(lock) as { readonly packages: Record<string, Installed> };
    const names = Object.keys(packages);
    expect(names).toContain('node_modules/@keelson/client');
    expect(names).toHaveLength(1);
    expect(names.filter((name) => packages[name]!.hasInstallScript === true)).toEqual([]);
    const served = await stage.serve([stage.write('mean.yaml', meanStudy('mean', {
      epoch: '{ every: 1h }',
    }))]);
    const words = ['--eval', contribution, served.url, 'mean'];
    const run = await stage.run(words, { command: '--input-type=module', directory: place });
    expect(run.stderr).toBe('');
    expect(JSON.parse(run.stdout)).toEqual({
      kind: 'accepted', epoch: 1, functions: [true, 'function', 'function'],
    });
  });
});
