// @module-tag slow
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../support/sources.js';
import { Stage } from '../support/live-command.js';
import { npm, pack, type Packed } from '../support/packing.js';

const stage = new Stage();
let packed: Packed;

beforeAll(() => {
  // What is packed is the build that the other tests ran against.
  packed = pack(root, stage.folder);
});

afterAll(() => stage.end());

describe('the package', () => {
  it('holds what runs and what explains it, and nothing else', () => {
    const paths = packed.files.map(({ path }) => path);
    const needed = [
      'package.json', 'LICENSE', 'bin/keelson.js', 'dist/cli/main.js', 'dist/src/index.js',
      'dist/src/index.d.ts', 'dist/client/index.js', 'dist/browser/keelson-client.js',
      'dist/browser/keelson-contribute.js', 'dist/server/index.js',
      'dist/server/store/sqlite/worker.js', 'dist/server/epochs/worker.js',
      'dist/src/wire/generated/contributor-reader.js', 'dist/src/wire/generated/other-reader.js',
      'data/flights.bin.br', 'proto/keelson/v1/wire.proto',
      'studies/flights-mean.yaml', 'docs/reference/protocol.md',
      'docs/reference/study-file.schema.json',
    ];
    expect(needed.filter((path) => !paths.includes(path))).toEqual([]);
    expect(packed.size).toBeLessThan(2_000_000);
    const folders = new Set(paths.map((path) => (path.includes('/') ? path.split('/')[0] : '')));
    const allowed = ['', 'bin', 'dist', 'data', 'examples', 'proto', 'studies', 'docs'];
    expect([...folders].filter((folder) => !allowed.includes(folder!))).toEqual([]);
    expect(paths.filter((path) =>
      /\.test\.|^dist\/test|\.log$|demo-data|keelson-data|\.map$/.test(path))).toEqual([]);
  });

  it('holds no file whose source is gone', () => {
    const code =
      packed.files.map(({ path }) => /^dist\/(?!browser\/)(.*)\.(?:js|d\.ts)$/.exec(path)?.[1]);
    const names = code.filter((name) => name !== undefined);
    expect(names.length).toBeGreaterThan(500);
    const hasSource = (name: string): boolean =>
      existsSync(`${root}${name}.ts`) || existsSync(`${root}${name}.js`);
    expect(names.filter((name) => !hasSource(name))).toEqual([]);
  });

  it('runs the demonstration from where it is installed', async () => {
    const place = stage.path('place');
    mkdirSync(place);
    npm(['init', '--yes'], place);
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund'];
    npm(
      ['install', ...quiet, '--ignore-scripts', '--omit=dev', stage.path(packed.filename)], place,
    );
    // This machine's own installation compiled the same version: compiling it twice proves nothing
    // more.
    const native = 'node_modules/better-sqlite3';
    const versionOf = (folder: string): unknown =>
      (
        JSON.parse(readFileSync(`${folder}/${native}/package.json`, 'utf8')) as { version: string }
      ).version;
    expect(versionOf(place)).toBe(versionOf(root));
    cpSync(`${root}${native}/build`, `${place}/${native}/build`, { recursive: true });
    expect(existsSync(`${place}/node_modules/vitest`)).toBe(false);
    const few = [
      '--contributors', '300', '--epochs', '1', '--every', '2', '--epsilon', '12', '--hostile',
      '0.05',
    ];
    const command = `${place}/node_modules/.bin/keelson`;
    const run = await stage.run(['demo', ...few, '--json'], { command, directory: place });
    expect(run.stderr).toBe('');
    const types = run.stdout.trimEnd()
      .split('\n').map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toEqual(['started', 'connected', 'release', 'release', 'summary']);
    const library = ['--input-type=module', '-e', `
      const parts = ['keelson', 'keelson/client', 'keelson/server'].map((name) => import(name));
      console.log(JSON.stringify((await Promise.all(parts)).map(Object.keys)));`];
    const printed = execFileSync(process.execPath, library, { cwd: place, encoding: 'utf8' });
    const [core, client, server] = JSON.parse(printed) as string[][];
    expect(core!.length).toBeGreaterThan(3);
    expect(client)
      .toEqual(expect.arrayContaining(['createContributor', 'subscribe', 'openOutbox']));
    expect(server).toContain('createAggregator');
  });
});
