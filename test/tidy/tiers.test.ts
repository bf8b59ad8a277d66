import { execFileSync, spawn } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { root } from '../support/sources.js';
import { longestTests, systemTests } from '../support/tiers.js';

const { changedFiles, mayBreakPostgres } = await import(`${root}scripts/changed.js`) as {
  readonly changedFiles: (folder: string) => string[] | null;
  readonly mayBreakPostgres: (changed: string[] | null) => boolean;
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

  it('leave out the suites on PostgreSQL only where a branch cannot break them', () => {
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

    expect(mayBreakPostgres(null)).toBe(true);
    expect(mayBreakPostgres(['dashboard/page.ts', 'server/store/rules/people.ts'])).toBe(true);
    expect(mayBreakPostgres(['dashboard/page.ts', 'src/base/errors.ts'])).toBe(false);
  });

  it('all run in CI', () => {
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    expect(scripts['test:all']).toBe('vitest run');
    const run = readFileSync(`${root}.ci/run`, 'utf8');
    expect(run).toMatch(/^suite npm run test:all -- --project unit$/m);
    expect(run).toMatch(/^suite npm run test:all -- --project system --isolate$/m);
  });
});
