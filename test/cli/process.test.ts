import { spawn, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { sampleLog } from '../support/log-samples.js';
import { root } from '../support/sources.js';

const command = `${root}bin/keelson.js`;
const run = (words: readonly string[], input = '') =>
  spawnSync(process.execPath, [command, ...words], {
    input,
    encoding: 'utf8',
    env: { ...process.env, KEELSON_INSECURE_SEED: '' },
  });

const rows = `x\n${Array.from({ length: 3_000 }, (_, i) => String(i % 7)).join('\n')}\n`;
const estimate = [
  'estimate', 'mean', '-', '--epsilon', '2', '--delta', '1e-6', '--set', 'spread=2',
];

const releases = `${(await sampleLog(2)).lines.join('\n')}\n`;

describe('the built command', () => {
  it('answers on standard output and ends with 0', () => {
    const found = run([...estimate, '--json'], rows);
    expect([found.status, found.stderr]).toEqual([0, '']);
    expect(JSON.parse(found.stdout))
      .toMatchObject({ estimator: 'mean', outcome: 'value', rows: 3_000 });
  });

  it('ends with 2 and an empty standard output on bad input', () => {
    const found = run([...estimate, '--json'], 'x\n1\nsecret\n');
    expect([found.status, found.stdout]).toEqual([2, '']);
    expect(found.stderr).toContain('standard input, line 3, column 1 ("x")');
    expect(found.stderr).not.toContain('secret');
  });

  it('ends an audit in which nothing moved with 1, as inconclusive', { tags: ['slow'] }, () => {
    const audit = (...more: readonly string[]) => run([
      'audit', 'count', '--epsilon', '1', '--delta', '1e-6', '--trials', '500', ...more, '--json',
    ]);
    const nothing = audit('--set', 'threshold=1e12');
    expect([nothing.status, nothing.stderr]).toEqual([1, '']);
    expect(JSON.parse(nothing.stdout)).toMatchObject({ verdict: 'inconclusive', bound: 0 });
    const moved = audit('--set', 'threshold=1');
    expect(moved.status).toBe(0);
    expect(JSON.parse(moved.stdout)).toMatchObject({ verdict: 'no-defect-seen' });
  });

  it('finds the version of its package', () => {
    expect(run(['--version']).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('takes less than 150 ms of processor time for its help', { tags: ['long'] }, () => {
    const text = 'const { user, system } = process.cpuUsage();'
      + 'process.stderr.write(String((user + system) / 1000));';
    const telling = `data:text/javascript,process.on("exit", () => { ${text} });`;
    const milliseconds = (...words: readonly string[]): number => Number(
      spawnSync(process.execPath, ['--import', telling, ...words], { encoding: 'utf8' }).stderr,
    );
    // The least of some runs: a busy machine makes each dearer. One that is busy all the time makes
    // Node alone as dear, so it may then take twice as long as Node alone.
    let [least, bare] = [Infinity, Infinity];
    for (let i = 0; i < 12 && least >= Math.max(150, 2 * bare); i++) {
      bare = Math.min(bare, milliseconds('-e', '0'));
      least = Math.min(least, milliseconds(command, '--help'));
    }
    expect(least).toBeGreaterThan(0);
    expect(least).toBeLessThan(Math.max(150, 2 * bare));
  });

  it.each([
    ['an answer', ['estimators'], '', 0],
    ['a refusal', [...estimate, '--cohort', '9000', '--participation', 'secret'], 'x\n1\n2\n', 1],
    ['a failed verification', ['verify', '-'], releases, 1],
  ] as const)('says nothing when its reader goes away, and %s keeps its status', async (
    _name, words, input, status,
  ) => {
    const ended = async (isRead: boolean): Promise<readonly [unknown, string]> => {
      const child = spawn(process.execPath, [command, ...words]);
      if (isRead) child.stdout.resume();
      else child.stdout.destroy();
      let stderr = '';
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
      child.stdin.on('error', () => undefined).end(input);
      return [await new Promise((resolve) => child.on('close', resolve)), stderr];
    };
    const read = await ended(true);
    expect(read[0]).toBe(status);
    expect(await ended(false)).toEqual(read);
  });

  it('stops at once on an interrupt while it waits for input', async () => {
    const env = { ...process.env, KEELSON_INSECURE_SEED: 'an interrupt' };
    const child =
      spawn(process.execPath, [command, ...estimate], { stdio: ['pipe', 'pipe', 'pipe'], env });
    const ended =
      new Promise<string | null>((resolve) => child.on('close', (_, signal) => resolve(signal)));
    // The warning about the seed comes just before it reads.
    await new Promise((resolve) => child.stderr.once('data', resolve));
    child.kill('SIGINT');
    expect(await ended).toBe('SIGINT');
  });
});
