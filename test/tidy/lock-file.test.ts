import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { root } from '../support/sources.js';

interface Needs {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface LockFile {
  /** By folder from the root; '' is the root itself. */
  readonly packages: Readonly<Record<string, Needs & { readonly link?: boolean }>>;
}

const read = (path: string): unknown => JSON.parse(readFileSync(`${root}${path}`, 'utf8'));

/** Packages that the lock file needs and does not have: `npm ci` refuses it for each. */
function missing({ packages }: LockFile): string[] {
  return Object.entries(packages).flatMap(([folder, { link, ...needs }]) => {
    if (link === true) return [];
    const names = Object.keys({
      ...needs.dependencies, ...needs.devDependencies, ...needs.optionalDependencies,
    });
    return names.filter((name) => !places(folder, name).some((place) => place in packages))
      .map((name) => `${folder || 'the root'} needs ${name}`);
  });
}

/** Where Node looks for a package, from a folder upwards. */
function places(folder: string, name: string): string[] {
  const above = [...folder.matchAll(/\/node_modules\//g)].map(({ index }) =>
    folder.slice(0, index));
  return [...new Set([folder, ...above])].map((place) => `${place}/node_modules/${name}`)
    .concat(`node_modules/${name}`);
}

const tools = readdirSync(`${root}tools`);

describe('package-lock.json', () => {
  const lock = read('package-lock.json') as LockFile;

  it('has what every package needs, also on systems other than this one', () => {
    expect(missing(lock)).toEqual([]);
  });

  it('would not be complete without the build of one package for another system', () => {
    const { 'node_modules/@esbuild/darwin-arm64': left, ...packages } = lock.packages;
    expect(left).toBeDefined();
    expect(missing({ packages })).toEqual(['node_modules/esbuild needs @esbuild/darwin-arm64']);
  });

  it.each([['', 'package.json'], ['client/package', 'client/package/package.json']])(
    'asks in "%s" for what %s asks for', (folder, path) => {
      const asked = read(path) as Needs;
      const { [folder]: locked } = lock.packages;
      for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies'] as const) {
        expect(locked?.[kind] ?? {}, kind).toEqual(asked[kind] ?? {});
      }
    });

  it.each(tools)('leaves tools/%s to a lock file of its own, which is as complete', (name) => {
    const own = read(`tools/${name}/package-lock.json`) as LockFile;
    const asked = read(`tools/${name}/package.json`) as Needs;
    expect(own.packages['']!.dependencies).toEqual(asked.dependencies);
    expect(missing(own)).toEqual([]);
    const twice = Object.keys(asked.dependencies!)
      .filter((each) => `node_modules/${each}` in lock.packages);
    expect(twice).toEqual([]);
  });

  it('has nothing that is compiled', () => {
    const own = read('tools/sqlite/package-lock.json') as LockFile;
    const asked = read('tools/sqlite/package.json') as Needs;
    const compiled = Object.keys(own.packages).filter((folder) => folder in lock.packages
      && /better-sqlite3|prebuild-install|bindings$/.test(folder));
    expect(compiled).toEqual([]);
    // The range that users are asked for holds the version that is tested.
    const { peerDependencies } = read('package.json') as { peerDependencies: object };
    expect(peerDependencies).toMatchObject({
      'better-sqlite3': `^${asked.dependencies!['better-sqlite3']}`,
    });
  });

  it.each(['.ci/run', 'deploy/container/Dockerfile'])('is what %s installs', (path) => {
    expect(readFileSync(`${root}${path}`, 'utf8')).toMatch(/^(RUN )?npm ci\b/m);
  });
});
