import { execFileSync, spawn } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { root } from '../support/sources.js';
import { longestTests, systemTests } from '../support/tiers.js';

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
});
