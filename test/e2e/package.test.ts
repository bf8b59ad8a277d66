// @module-tag slow
import { execFileSync } from 'node:child_process';
import {
  cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
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

/** Builds and packs a copy of the tracked files. */
function builtAt(folder: string): Packed {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  for (const path of tracked.split('\0').filter((each) => each !== '')) {
    if (existsSync(`${root}${path}`)) cpSync(`${root}${path}`, `${folder}/${path}`);
  }
  symlinkSync(`${root}node_modules`, `${folder}/node_modules`);
  npm(['run', 'build'], folder);
  return pack(folder, folder);
}

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
    expect(packed.size).toBeLessThan(2_450_000);
    const folders = new Set(paths.map((path) => (path.includes('/') ? path.split('/')[0] : '')));
    const allowed = ['', 'bin', 'dist', 'data', 'examples', 'proto', 'studies', 'docs', 'deploy'];
    expect([...folders].filter((folder) => !allowed.includes(folder!))).toEqual([]);
    expect(paths.filter((path) =>
      /\.test\.|^dist\/test|\.log$|demo-data|keelson-data|\.map$/.test(path))).toEqual([]);
  });

  it('holds each declaration that another one names, and none that no entry reaches', () => {
    const paths = packed.files.map(({ path }) => path).filter((path) => path.endsWith('.d.ts'));
    const named = paths.flatMap((path) => {
      const text = readFileSync(`${root}${path}`, 'utf8');
      return Array.from(text.matchAll(/(?:from |import\()['"](\.[^'"]+)\.js['"]/g), ([, name]) =>
        join(dirname(path), `${name}.d.ts`));
    });
    const { exports: entries, imports } = JSON.parse(
      readFileSync(`${root}package.json`, 'utf8'),
    ) as Record<'exports' | 'imports', Record<string, Record<string, string>>>;
    const types = Object.values(entries).flatMap((entry) => entry.types?.slice(2) ?? []);
    const imported = Object.values(imports).flatMap((each) => Object.values(each))
      .map((path) => path.slice(2).replace(/\.js$/, '.d.ts'));
    expect(types.length).toBeGreaterThan(5);
    expect(named.filter((path) => !paths.includes(path))).toEqual([]);
    expect(paths.filter((path) => ![...named, ...types, ...imported].includes(path)))
      .toEqual([]);
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

  // Two builds from nothing: one that goes on from older results orders the members of a type as
  // they came up, so the build of this folder may differ.
  it('is the same, byte for byte, wherever it is built', { timeout: 900_000 }, () => {
    const [here, there] = ['here', 'there'].map((place) => builtAt(stage.path(place)));
    expect(there!.integrity).toBe(here!.integrity);
  });

  it('comes with a list of what it needs, under licences that allow it', () => {
    const file = stage.path('sbom.json');
    execFileSync(process.execPath, ['scripts/sbom.js', file], { cwd: root });
    const { components } = JSON.parse(readFileSync(file, 'utf8')) as {
      components: { purl: string; hashes?: unknown }[];
    };
    const needed = Object.keys((JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
      dependencies: Record<string, string>;
    }).dependencies);
    for (const name of needed) {
      expect(components.some(({ purl }) => decodeURIComponent(purl).startsWith(`pkg:npm/${name}@`)))
        .toBe(true);
    }
  });

  it('runs the demonstration from where it is installed', async () => {
    const place = stage.path('place');
    mkdirSync(place);
    npm(['init', '--yes'], place);
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund'];
    npm(
      ['install', ...quiet, '--ignore-scripts', '--omit=dev', stage.path(packed.filename)], place,
    );
    // A newer Node comes with SQLite, so it needs no compiler: it runs without the package too.
    // Otherwise: this machine's own installation compiled the same version, and compiling it twice
    // proves nothing more.
    const native = 'node_modules/better-sqlite3';
    const versionOf = (folder: string): unknown =>
      (
        JSON.parse(readFileSync(`${folder}/${native}/package.json`, 'utf8')) as { version: string }
      ).version;
    expect(versionOf(place)).toBe(versionOf(root));
    if (process.versions.node.startsWith('20.')) {
      cpSync(`${root}${native}/build`, `${place}/${native}/build`, { recursive: true });
    } else {
      rmSync(`${place}/${native}`, { recursive: true });
    }
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
    expect(types)
      .toEqual(['started', 'connected', 'release', 'release', 'release', 'summary']);
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
