import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchFolder } from '../support/scratch.js';
import { root } from '../support/sources.js';

const folder = scratchFolder('commits');

/** Runs the hook as git does. @returns what it printed; empty if it took the message. */
function refusalOf(message: string): string {
  const file = join(folder, 'message');
  writeFileSync(file, message);
  const options = { cwd: root, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync('.githooks/commit-msg', [file], options);
  expect(stdout).toBe('');
  expect(status).toBe(stderr === '' ? 0 : 1);
  return stderr;
}

describe('the hook for commit messages', () => {
  it('takes a subject of 72 characters, whatever the body is', () => {
    const body = `${'b'.repeat(90)}.\n# A comment of git.\n`;
    expect(refusalOf(`# A comment first\n\n${'a'.repeat(72)}\n\n${body}`)).toBe('');
  });

  it('refuses a longer subject, one with a full stop, and none', () => {
    expect(refusalOf(`${'a'.repeat(73)}\n`)).toMatch(/73 characters, more than 72: move the rest/);
    expect(refusalOf('Fix it.\n')).toMatch(/ends with a full stop: leave it out\n {2}Fix it\.\n$/);
    expect(refusalOf('# Only a comment\n')).toMatch(/it is empty/);
  });
});
