import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signing } from '#signing';
import { readEnrolmentFile } from '../../cli/base/enrolments.js';
import { readKeyFile } from '../../cli/base/keys.js';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { readEnrolment, verifyEnrolment } from '../../src/signing/index.js';
import { keelson } from '../support/command.js';

const scratch = mkdtempSync(join(tmpdir(), 'keelson-enrol-'));
const issuer = join(scratch, 'issuer.key');
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
beforeAll(async () => { await keelson(['keys', 'enrol', issuer, '--new']); });

const keyOf = (byte: number): string =>
  toHex(signing.createSigner(new Uint8Array(32).fill(byte)).publicKey);
const file = (name: string, text: string): string => {
  const path = join(scratch, name);
  writeFileSync(path, text);
  return path;
};
/** True if a token is the issuer's for the key. */
const isFor = (key: string, token: string): boolean => verifyEnrolment(
  signing.createVerifier(signing.createSigner(readKeyFile(issuer)).publicKey), fromHex(key),
  readEnrolment(fromHex(token))!, signing);

describe('the issuing key', () => {
  it('is made once, for its owner alone, and its public half is ready for a study '
    + 'file', async () => {
    const path = join(scratch, 'fresh.key');
    const { status, stdout } = await keelson(['keys', 'enrol', path, '--new']);
    const publicKey = toHex(signing.createSigner(readKeyFile(path)).publicKey);
    expect([status, stdout])
      .toEqual([0, `wrote ${path}\nadmission: { enrolment: { issuer: "${publicKey}" } }\n`]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const again = await keelson(['keys', 'enrol', path, '--new']);
    expect([again.status, again.stderr])
      .toEqual([2, expect.stringContaining('is not overwritten')]);
    expect(JSON.parse((await keelson(['keys', 'enrol', path, '--json'])).stdout))
      .toEqual({ file: path, issuer: publicKey });
  });
});

describe('tokens', () => {
  it('are for one key each, until a time, in one study or all', async () => {
    const keys = file('keys.txt', `# members\n${keyOf(1)}\n${keyOf(2)}\n`);
    const { status, stdout } = await keelson(
      [
        'keys', 'enrol', issuer, '--key', keyOf(2), '--key', keyOf(3), '--keys', keys, '--study',
        'survey',
        '--expires', '2100-01-31',
      ]);
    expect(status).toBe(0);
    const lines = stdout.trim().split('\n').map((line) => line.split(' ') as [string, string]);
    expect(lines.map(([key]) => key)).toEqual([keyOf(2), keyOf(3), keyOf(1)]);
    for (const [key, token] of lines) {
      expect(isFor(key, token)).toBe(true);
      expect(readEnrolment(fromHex(token)))
        .toMatchObject({ study: 'survey', expiresAtMs: Date.UTC(2100, 0, 31) });
    }
    expect(isFor(keyOf(1), lines[0]![1])).toBe(false);
    expect(stdout).not.toContain(readFileSync(issuer, 'utf8').trim());
  });

  it('last as long as a duration says', async () => {
    const before = Date.now();
    const { stdout } =
      await keelson(['keys', 'enrol', issuer, '--key', keyOf(1), '--expires', '90d', '--json']);
    const { study, expiresAtMs } = JSON.parse(stdout) as { study: null; expiresAtMs: number };
    expect(study).toBeNull();
    expect(expiresAtMs).toBeGreaterThanOrEqual(before + 90 * 86_400_000);
    expect(expiresAtMs).toBeLessThanOrEqual(Date.now() + 90 * 86_400_000);
  });

  it.each([
    ['no expiry', ['--key', keyOf(1)], '--expires is missing'],
    ['a time that is over', ['--key', keyOf(1), '--expires', '2020-01-01'], 'is over already'],
    ['what is no time', ['--key', keyOf(1), '--expires', 'soon'], 'a duration like 90d or a time'],
    [
      'a day that no month has', ['--key', keyOf(1), '--expires', '2100-13-01'],
      'a duration like 90d or a time',
    ],
    ['nobody', ['--expires', '90d'], 'give --key'],
    ['what is no key', ['--key', 'abc', '--expires', '90d'], '64 hexadecimal digits'],
    [
      'a name that no study has',
      ['--key', keyOf(1), '--expires', '90d', '--study', 'x'.repeat(65)], '1 to 64',
    ],
  ])('are not issued for %s', async (_name, words, text) => {
    const { status, stdout, stderr } = await keelson(['keys', 'enrol', issuer, ...words]);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(text);
  });

  it('make no issuing key when they cannot be issued', async () => {
    const path = join(scratch, 'none.key');
    await keelson(['keys', 'enrol', path, '--new', '--key', keyOf(1), '--expires', 'soon']);
    expect(() => statSync(path)).toThrow('ENOENT');
  });
});

describe('a file of tokens', () => {
  it('gives a key its own, the one that holds longest', async () => {
    const issue = async (byte: number, expires: string): Promise<string> =>
      (await keelson(['keys', 'enrol', issuer, '--key', keyOf(byte), '--expires', expires]))
        .stdout.trim();
    const lines = [
      await issue(1, '2100-01-01'), await issue(2, '2103-01-01'), await issue(1, '2102-01-01'),
      await issue(1, '2101-01-01'),
    ];
    const path = file('tokens.txt', `${lines.join('\n')}\n`);
    expect(readEnrolmentFile(path, fromHex(keyOf(1)))).toBe(lines[2]!.split(' ')[1]);
    expect(readEnrolmentFile(path, fromHex(keyOf(2)))).toBe(lines[1]!.split(' ')[1]);
    expect(() => readEnrolmentFile(path, fromHex(keyOf(3)))).toThrow('holds no token for');
    const alone = file('alone.txt', lines[1]!.split(' ')[1]!);
    expect(readEnrolmentFile(alone, fromHex(keyOf(3)))).toBe(lines[1]!.split(' ')[1]);
    expect(() => readEnrolmentFile(file('bad.txt', `\n${keyOf(1)} 12zz\n`), fromHex(keyOf(1))))
      .toThrow('line 2');
  });
});
