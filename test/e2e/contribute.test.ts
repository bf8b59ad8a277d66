import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/base/bytes.js';
import { signing } from '../../src/signing/node.js';
import { Stage, type Ended, type Served } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const stage = new Stage();
let served: Served;

beforeAll(async () => {
  const study =
    meanStudy('slow', { epoch: '{ every: 1h }', contribution: '{ reduce: mean, rowsMax: 4 }' });
  served = await stage.serve([stage.write('slow.yaml', study)]);
});

afterAll(() => stage.end());

let keys = 0;
/** A new contributor sends a file. */
async function contribute(
  csv: string, more: readonly string[] = [], study = 'slow',
): Promise<Ended & { readonly key: string }> {
  const key = stage.path(`${keys++}.key`);
  await stage.run(['keys', 'new', key]);
  const input = stage.write('rows.csv', csv);
  const words = [
    'contribute', served.url, '--study', study, '--key', key, '--input', input, '--json', ...more,
  ];
  return { ...(await stage.run(words)), key };
}

function token(): string {
  const { paths } = served.listening as { readonly paths: { readonly operatorToken: string } };
  return readFileSync(paths.operatorToken, 'utf8').trim();
}

interface Progress {
  readonly studies: readonly { readonly batches: { readonly accepted: number } }[];
}

/** Batches that the server took so far. */
async function accepted(): Promise<number> {
  const headers = { Authorization: `Bearer ${token()}` };
  const response = await fetch(`${served.address}/v1/operator/progress`, { headers });
  const { studies } = (await response.json()) as Progress;
  return studies[0]!.batches.accepted;
}

describe('keelson contribute', () => {
  it('sends a file as one contribution, once', async () => {
    const csv = 'delay_minutes,distance_miles\n3,200\n-2,731\n14,90.5\n';
    const { status, stdout, key } = await contribute(csv, ['--server-key', served.serverKey]);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ outcome: 'accepted', epoch: 1, rows: 3, batches: 1 });
    expect(await accepted()).toBe(1);
    const words = [
      'contribute', served.url, '--study', 'slow', '--key', key, '--input', stage.path('rows.csv'),
    ];
    const again = await stage.run(words);
    expect(again.status).toBe(1);
    expect(again.stdout).toContain('contribution-full');
    expect(await accepted()).toBe(1);
  });

  it('chooses and orders columns', async () => {
    const csv = 'distance_miles,name,delay_minutes\n200,a,3\n';
    const { stdout } = await contribute(csv, ['--columns', 'delay_minutes,distance_miles']);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'accepted', rows: 1 });
  });

  it('refuses more rows than the study takes, and says how many that is', async () => {
    const before = await accepted();
    const { status, stdout, stderr } = await contribute(`a,b\n${'1,2\n'.repeat(5)}`);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain('5 rows are more than the 4');
    expect(await accepted()).toBe(before);
  });

  it('refuses another number of columns, and says which it wants', async () => {
    const { status, stdout, stderr } = await contribute('a,b,c\n1,2,3\n4,5,6\n');
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/3 .*2/);
  });

  it('refuses a cell that is not a number by line and column, and does not show it', async () => {
    const { status, stdout, stderr } = await contribute('delay,distance\n1,2\n3,secret\n');
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain('line 3, column 2');
    expect(stderr).not.toContain('secret');
  });

  it('refuses an unknown study, and names those of the server', async () => {
    const { status, stderr } = await contribute('delay_minutes,distance_miles\n1,2\n', [], 'sloth');
    expect(status).toBe(2);
    expect(stderr).toContain('slow');
  });

  it('refuses a server with another key, before it sends anything', async () => {
    const before = await accepted();
    const other = toHex(signing.createSigner(signing.generateSeed()).publicKey);
    const { status, stderr } = await contribute('a,b\n1,2\n', ['--server-key', other]);
    expect(status).toBe(1);
    expect(stderr).toContain(served.serverKey);
    expect(stderr).toContain(other);
    expect(await accepted()).toBe(before);
  });

  it('keeps rows in the outbox while nobody answers, and sends them first the next '
    + 'time', async () => {
    const port = served.port;
    const before = await accepted();
    await served.command.interrupt();
    const key = stage.path('patient.key');
    await stage.run(['keys', 'new', key]);
    const words = [
      'contribute', served.url, '--study', 'slow', '--key', key,
      '--input', stage.write('patient.csv', 'delay_minutes,distance_miles\n1,2\n'), '--json',
    ];
    const waiting = stage.start(words);
    await waiting.says('the rows wait in');
    await waiting.kill();
    served = await stage.serve([stage.path('slow.yaml')], { port });
    const input = stage.write('empty.csv', 'delay_minutes,distance_miles\n5,6\n');
    const next = await stage.run([...words.slice(0, 7), input, '--json']);
    // What waited completed this epoch's contribution; the new file is for the next epoch.
    expect(next.stderr).toContain('rows of an earlier run are settled');
    expect(JSON.parse(next.stdout))
      .toMatchObject({ outcome: 'refused', code: 'contribution-full' });
    expect(next.status).toBe(1);
    expect(before).toBeGreaterThan(0);
    expect(await accepted()).toBe(1);
  });
});
