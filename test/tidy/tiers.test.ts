import { execFileSync, spawn } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { root } from '../support/sources.js';
import { longestTests, systemTests } from '../support/tiers.js';

interface Project {
  readonly test: { readonly exclude: readonly string[] };
}

interface Group {
  readonly name: string;
  readonly tests: readonly string[];
  readonly notices: readonly string[];
}

const { changedFiles, groups, slowFiles, unbroken } = await import(`${root}scripts/changed.js`) as {
  readonly changedFiles: (folder: string) => string[] | null;
  readonly groups: readonly Group[];
  readonly slowFiles: () => readonly string[];
  readonly unbroken: (changed: string[] | null) => readonly Group[];
};

/** `a{b,c}d` as `abd` and `acd`: git's patterns have no braces. */
function withoutBraces(pattern: string): string[] {
  const [, before, choices, after] = /^(.*?)\{(.*?)\}(.*)$/.exec(pattern) ?? [];
  if (choices === undefined) return [pattern];
  return choices.split(',').flatMap((choice) => withoutBraces(`${before}${choice}${after}`));
}

const filesOf = (pattern: string): string => {
  const words = ['ls-files', '-co', '--exclude-standard', `:(glob)${pattern}`];
  return execFileSync('git', words, { cwd: root, encoding: 'utf8' });
};

/** Files that tests run or name: all that they import, and what of the project they read. */
function reachedBy(files: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-reached-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const metafile = join(folder, 'metafile.json');
  execFileSync('node_modules/.bin/esbuild', [
    '--bundle', '--format=esm', '--platform=node', '--packages=external', '--log-level=error',
    '--external:../dist/*', '--external:../../dist/*',
    `--outfile=${join(folder, 'all.js')}`, `--metafile=${metafile}`,
    '--alias:#signing=./src/signing/node.ts', '--alias:#outbox=./client/outbox/node.ts',
    '--alias:#protobuf=./src/wire/protobuf-node.ts',
    '--alias:#websocket=./client/websocket/node.ts',
  ], { cwd: root, input: files.map((path) => `import './${path}';`).join('\n') });
  const { inputs } = JSON.parse(readFileSync(metafile, 'utf8')) as { readonly inputs: object };
  const imported = Object.keys(inputs).filter((path) => path !== '<stdin>');
  const named = imported.filter((path) => path.startsWith('test/')).flatMap((path) =>
    [...readFileSync(root + path, 'utf8').matchAll(/`\$\{root\}([\w./-]+)/g)].map((match) => match[1]!));
  // The build and the packages are made of what is noticed.
  return [...imported, ...named].filter((path) => !/^(dist|node_modules)\b/.test(path));
}

describe('tiers of tests', () => {
  it('list files and folders that exist', () => {
    const patterns = [...systemTests, ...longestTests].flatMap(withoutBraces);
    expect(patterns.filter((pattern) => filesOf(pattern) === '')).toEqual([]);
  });

  it('stop a unit test that starts a process or a thread, and name the remedy', () => {
    const message = /a unit test starts no (process|thread): list its file in test\/support\/tiers/;
    expect(() => spawn(process.execPath, ['--version'])).toThrow(message);
    expect(() => new Worker('0', { eval: true })).toThrow(message);
  });

  it('take for changed what a branch has that main has not, and know nothing on main', () => {
    const folder = mkdtempSync(join(tmpdir(), 'keelson-branch-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const git = (...words: string[]) => execFileSync('git', [
      '-c', 'user.name=a', '-c', 'user.email=a', ...words,
    ], { cwd: folder, stdio: 'ignore' });
    expect(changedFiles(folder)).toBeNull();
    git('init', '--initial-branch', 'main');
    git('commit', '--allow-empty', '--message', 'Begin');
    expect(changedFiles(folder)).toBeNull();
    git('checkout', '-b', 'page');
    writeFileSync(join(folder, 'committed.ts'), '');
    git('add', '.');
    git('commit', '--message', 'Change a page');
    writeFileSync(join(folder, 'new.ts'), '');
    expect(changedFiles(folder)).toEqual(['committed.ts', 'new.ts']);
    git('checkout', '--detach');
    expect(changedFiles(folder)).toBeNull();
  });

  it.each<[readonly string[] | null, string]>([
    [null, ''],
    [['docs/guides/keys.md'], 'PostgreSQL, estimators, command'],
    [['docs/guides/keys.md', 'package.json'], ''],
    [['dashboard/page.ts', 'server/store/rules/people.ts'], 'estimators'],
    [['dashboard/page.ts', 'src/base/errors.ts'], 'PostgreSQL'],
    [['test/estimators/mean/mean.test.ts'], 'PostgreSQL, command'],
  ])('leave out groups that a branch cannot break: %j leaves out %j', (changed, left) => {
    const names = unbroken(changed as string[] | null).map(({ name }) => name.split(' ').at(-1));
    expect(names.join(', ')).toBe(left);
  });

  it.each(groups.slice(1).map((group) => [group.name, group] as const))(
    'let %s notice all that they reach', (_, { tests, notices }) => {
      const reached = reachedBy(tests.flatMap((pattern) =>
        filesOf(pattern).split('\n').filter((path) => path.endsWith('.test.ts'))));
      expect(reached.length).toBeGreaterThan(100);
      expect(reached.filter((path) => !notices.some((start) => `${path}/`.startsWith(start))))
        .toEqual([]);
    });

  it('load no file of slow tests alone in npm test', () => {
    const marked = filesOf('test/**/*.test.ts').split('\n').filter((path) => path !== ''
      && /^\/\/ @module-tag slow$/m.test(readFileSync(`${root}${path}`, 'utf8')));
    expect(marked.length).toBeGreaterThan(30);
    expect([...slowFiles()].sort()).toEqual(marked.sort());
  });

  it('leave them out of both projects', async () => {
    vi.stubEnv('KEELSON_TEST_LEFT_OUT', 'test/a/** test/b/**');
    onTestFinished(() => { vi.unstubAllEnvs(); });
    const anew = '../../vitest.config.ts?left-out';
    const { default: { test } } = await import(anew) as {
      readonly default: { readonly test: { readonly projects: readonly Project[] } };
    };
    for (const { test: { exclude } } of test.projects) {
      expect(exclude).toEqual(expect.arrayContaining(['test/a/**', 'test/b/**']));
    }
  });

  it('all run in CI: each file in one of its passes at least', { tags: ['slow'] }, () => {
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    expect(scripts['test:all']).toBe('vitest run');
    const passes = [...readFileSync(`${root}.ci/run`, 'utf8')
      .matchAll(/^ *suite \w+ npm run test:all --( .*)$/gm)].map(([, words]) => words!.split(' '));
    const run = passes.flatMap((words) => execFileSync('node_modules/.bin/vitest', [
      'list', '--filesOnly', ...words.filter((word) => word !== ''),
    ], { cwd: root, encoding: 'utf8' }).match(/test\/.*\.test\.ts$/gm) ?? []);
    const all = filesOf('test/**/*.test.ts').split('\n').filter((path) => path !== '');
    expect(all.length).toBeGreaterThan(400);
    expect(all.filter((path) => !run.includes(path))).toEqual([]);
  });
});
