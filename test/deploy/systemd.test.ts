import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/sources.js';

const unit = readFileSync(`${root}deploy/systemd/keelson.service`, 'utf8');
const hasSystemd = spawnSync('systemd-analyze', ['--version']).error === undefined;
if (!hasSystemd) process.stderr.write('systemd-analyze is not at hand: the unit is not tried\n');

/** What `systemd-analyze` says of a unit. */
function analysed(words: readonly string[], text: string): { status: number; said: string } {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-unit-'));
  try {
    const file = join(folder, 'keelson.service');
    // Programs must exist for the check, and Keelson is not installed here.
    writeFileSync(file, text.replace('/usr/local/bin/keelson', process.execPath));
    const run = spawnSync('systemd-analyze', [...words, file], { encoding: 'utf8' });
    return { status: run.status ?? -1, said: `${run.stdout}${run.stderr}` };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The exposure of a unit to attacks, of 10. systemd calls a unit OK below 5. */
function exposure(text: string): number {
  const { said } = analysed(['security', '--offline=true', '--no-pager'], text);
  return Number(/Overall exposure level for keelson\.service: ([\d.]+)/.exec(said)?.[1]);
}

describe('the systemd unit', () => {
  it('keeps the server where its data folder and its limits are', () => {
    const [, data] = /--data (\S+)/.exec(unit)!;
    const [, state] = /^StateDirectory=(\S+)/m.exec(unit)!;
    expect(data).toBe(`/var/lib/${state}`);
    expect(unit).toContain('StateDirectoryMode=0700');
    expect(unit).toMatch(/^LimitNOFILE=65536$/m);
    expect(unit).toMatch(/^Restart=on-failure$/m);
  });

  it.runIf(hasSystemd)('has no setting that systemd does not know', () => {
    expect(analysed(['verify', '--man=no'], unit).said).not.toContain('keelson.service');
    expect(analysed(['verify', '--man=no'], unit.replace('ProtectHome', 'ProtectHouse')).said)
      .toContain('ProtectHouse');
  });

  it.runIf(hasSystemd)('exposes no more than 2 of 10', () => {
    expect(exposure(unit)).toBeLessThanOrEqual(2);
    expect(exposure(unit.replace(/^(Protect|Restrict|SystemCall).*$/gm, ''))).toBeGreaterThan(3);
  });
});
