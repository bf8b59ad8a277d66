import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/base/bytes.js';
import { signing } from '../../src/signing/node.js';
import { keelson } from '../support/command.js';
import { sampleLog } from '../support/log-samples.js';
import { doubtfulBody, server } from '../support/wire-samples.js';

const scratch = mkdtempSync(join(tmpdir(), 'keelson-verify-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const key = toHex(server.publicKey);
const log = await sampleLog(3);
const text = `${log.lines.join('\n')}\n`;
const path = join(scratch, 'releases.log');
writeFileSync(path, text);

describe('keelson verify', () => {
  it('says what the last release says of its rows', async () => {
    const { outcome } = doubtfulBody;
    const doubtful = await sampleLog(1, { change: (body) => ({ ...body, outcome }) });
    const input = `${doubtful.lines.join('\n')}\n`;
    const { stdout } = await keelson(['verify', '-', '--server-key', key], { stdin: input });
    expect(stdout).toContain('note: Column delay_minutes reaches farther to one side');
  });

  it('shows the last answer with both of its intervals, as estimate does', async () => {
    const { outcome } = doubtfulBody;
    const doubtful = await sampleLog(1, { change: (body) => ({ ...body, outcome }) });
    const input = `${doubtful.lines.join('\n')}\n`;
    const { stdout } = await keelson(['verify', '-', '--server-key', key], { stdin: input });
    expect(stdout).toMatch(/estimate +95 % interval +also if up to 10 % lie/);
    expect(stdout).toMatch(/delay_minutes +\S+ +\S+ to \S+ +\S+ to \S+/);
  });

  it('verifies a log against the key', async () => {
    const { status, stdout } = await keelson(['verify', path, '--server-key', key, '--json']);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      consistent: true, authentic: true, count: 3, studyId: toHex(log.studyId), serverKey: key,
      state: 'ended', firstFault: null,
    });
    expect((await keelson(['verify', path, '--server-key', key])).stdout)
      .toContain('verified     every signature');
  });

  it('reads standard input', async () => {
    expect((await keelson(['verify', '-', '--server-key', key], { stdin: text })).status).toBe(0);
  });

  it('prints the fingerprint and ends with 1 when no key is given', async () => {
    const { status, stdout } = await keelson(['verify', path]);
    expect(status).toBe(1);
    expect(stdout).toContain('UNVERIFIED');
    expect(stdout).toMatch(/fingerprint {2}([0-9a-f]{4} ){7}[0-9a-f]{4}/);
    const json = await keelson(['verify', path, '--json']);
    expect([json.status, JSON.parse(json.stdout)])
      .toMatchObject([1, { consistent: true, authentic: false }]);
  });

  it('ends with 1 for another key, a cut log and a changed byte', async () => {
    const other = toHex(signing.createSigner(new Uint8Array(32).fill(3)).publicKey);
    const wrongKey = await keelson(['verify', path, '--server-key', other]);
    expect(wrongKey).toMatchObject({ status: 1 });
    expect(wrongKey.stdout).toContain('(server-key-mismatch)');
    const headless = `${log.lines.slice(0, -1).join('\n')}\n`;
    const cut = await keelson(['verify', '-', '--server-key', key], { stdin: headless });
    expect(cut).toMatchObject({ status: 1 });
    expect(cut.stdout).toContain('(head-missing)');
    const at = text.indexOf('"body":"') + 40;
    const changed = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
    const broken =
      await keelson(['verify', '-', '--server-key', key, '--json'], { stdin: changed });
    expect(broken.status).toBe(1);
    expect(JSON.parse(broken.stdout)).toMatchObject({ authentic: false, firstFault: { line: 2 } });
  });

  it('ends with 2 for a missing file and an unusable key', async () => {
    const none = await keelson(['verify', join(scratch, 'none'), '--server-key', key]);
    expect(none).toMatchObject({ status: 2, stdout: '' });
    expect(await keelson(['verify', path, '--server-key', 'abc']))
      .toMatchObject({ status: 2, stdout: '' });
    expect(await keelson(['verify'])).toMatchObject({ status: 2, stdout: '' });
  });
});
