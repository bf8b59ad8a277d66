import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage, type Ended, type JsonLine } from '../support/live-command.js';

const stage = new Stage();
const studies = ['flights-mean', 'flights-robust'];
const few = ['demo', '--contributors', '400', '--every', '2', '--epsilon', '12'];
const small = [...few, '--epochs', '2'];

afterAll(() => stage.end());

const linesOf = (run: Ended): JsonLine[] =>
  run.stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as JsonLine);

describe('keelson demo --json', () => {
  let run: Ended;
  let lines: JsonLine[];
  const aNumber = expect.any(Number) as number;

  beforeAll(async () => {
    run = await stage.run([...small, '--json', '--logs', stage.path('logs')]);
    const [started, connected, ...rest] = linesOf(run);
    expect(started).toEqual({
      type: 'started', dashboard: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
      contributors: 400, epochSeconds: 2,
    });
    expect(connected).toEqual({ type: 'connected', seconds: aNumber });
    lines = rest;
  });

  it('writes a line per release, both studies of an epoch together, and a summary', () => {
    expect(run.stderr).toBe('');
    expect(lines.map(({ type }) => type))
      .toEqual(['release', 'release', 'release', 'release', 'summary']);
    expect(lines.slice(0, 4).map(({ study }) => study)).toEqual([...studies, ...studies]);
    const [first, second, third, fourth] = lines.map(({ epoch }) => Number(epoch));
    expect([second, fourth]).toEqual([first, third]);
    // A machine that stops for a whole epoch loses it; the summary counts these.
    const lost = Number(lines[4]!['lostEpochs']);
    expect(third! - first! - 1).toBeGreaterThanOrEqual(0);
    expect(third! - first! - 1).toBeLessThanOrEqual(lost);
  });

  it('prints every release beside the facts that only the demonstration knows', () => {
    for (const line of lines.slice(0, 4)) {
      const { reason, ...facts } = line;
      const isValue = line['outcome'] === 'value';
      expect(reason).toEqual(isValue ? undefined : expect.any(String));
      expect(facts).toEqual({
        type: 'release', study: line['study'], epoch: aNumber,
        outcome: isValue ? 'value' : 'refused', estimate: isValue ? [aNumber, aNumber] : null,
        truth: [aNumber, aNumber], error: isValue ? aNumber : null, naiveError: aNumber,
        epsilonSpent: aNumber, epsilonLeft: aNumber, contributors: aNumber,
      });
      expect(Number(line['contributors'])).toBeLessThanOrEqual(400);
      // A tenth moves four scales in each of two columns, less what came late.
      expect(Number(line['naiveError'])).toBeGreaterThan(0.1);
    }
  });

  it('sums up, and charges no epoch before everybody is connected', () => {
    const summary = lines[4]!;
    expect(summary).toMatchObject({ type: 'summary', epochs: 2 });
    expect(summary['serverKey']).toMatch(/^[0-9a-f]{64}$/);
    expect(summary['insecure']).toBeUndefined();
    // The first epoch that is charged is the first that is shown, unless the machine stopped for a
    // whole epoch.
    expect(Number(lines[3]!['epoch'])).toBe(2 + Number(summary['lostEpochs']));
    expect(summary['studies'])
      .toMatchObject(studies.map((study) => ({ study, releases: 2, epsilonSpent: aNumber })));
    expect(run.status).toBe(lines.slice(0, 4).every(({ outcome }) => outcome === 'value') ? 0 : 1);
  });

  it('leaves logs that verify under its key', async () => {
    const { logs, serverKey } = lines[4] as { logs: string[]; serverKey: string };
    expect(logs).toHaveLength(2);
    for (const log of logs) {
      const verified = await stage.run(['verify', log, '--server-key', serverKey, '--json']);
      expect(verified.status).toBe(0);
      expect(JSON.parse(verified.stdout)).toMatchObject({ authentic: true });
    }
  });
});

describe('keelson demo with repeatable noise', () => {
  const environment = { KEELSON_INSECURE_SEED: 'a test' };

  it('warns and says so in every line', async () => {
    const words = [...few, '--epochs', '1', '--json', '--logs', stage.path('insecure')];
    const run = await stage.run(words, { environment });
    expect(run.stderr).toContain('NOT private');
    expect(linesOf(run).map(({ insecure }) => insecure)).toEqual(Array(5).fill(true));
  });

  it('is refused to serve', async () => {
    const run = await stage.run(
      ['serve', 'studies/flights-mean.yaml', '--data', stage.path('data')], { environment },
    );
    expect([run.status, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toContain('unset KEELSON_INSECURE_SEED');
  });
});

it('opens no epoch before everybody is connected, however long that '
  + 'takes', { tags: ['slow'] }, async () => {
  // Connecting takes several such epochs on any machine.
  const words = [
    'demo', '--json', '--contributors', '2000', '--epochs', '1', '--every', '1', '--epsilon', '12',
  ];
  const types = linesOf(await stage.run([...words, '--logs', stage.path('slow')]))
    .map(({ type }) => type);
  expect(types.slice(0, 2)).toEqual(['started', 'connected']);
  expect(types.at(-1)).toBe('summary');
});

it('prints a table that fits a terminal, and stops at once on an interrupt', async () => {
  const words = [
    'demo', '--contributors', '400', '--epochs', '8', '--every', '2', '--epsilon', '12',
  ];
  const run = stage.start([...words, '--logs', stage.path('table')]);
  while (!run.stdout.includes('\n')) await run.next();
  // The first line is where to look, and the page is there at once.
  const [address] = /^dashboard at (\S+)/.exec(run.stdout)!.slice(1);
  expect(await (await fetch(address!)).text()).toContain('dashboard.js');
  while (!/^ +\d+ flights-mean .*\n +flights-robust /m.test(run.stdout)) await run.next();
  const { status, stdout, stderr } = await run.interrupt();
  // Not all of its epochs were shown.
  expect([status, stderr]).toEqual([1, '']);
  expect(stdout).toContain('check the releases yourself');
  for (const line of stdout.split('\n').filter((text) => !text.includes('keelson verify'))) {
    expect(line.length, line).toBeLessThanOrEqual(80);
  }
  // Plain text: nothing for a terminal goes into a pipe.
  expect(/[^\n\x20-\x7e]/.exec(stdout)).toBeNull();
});

it('keeps the dashboard open with --keep while people send', { tags: ['slow'] }, async () => {
  const words = [
    'demo', '--contributors', '400', '--epochs', '1', '--every', '2', '--epsilon', '12', '--keep',
  ];
  const run = stage.start([...words, '--logs', stage.path('kept')]);
  while (!run.stdout.includes('Ctrl-C ends it')) await run.next();
  const [address] = /^dashboard at (\S+)/.exec(run.stdout)!.slice(1);
  const newest = async (): Promise<number> => {
    const { studies: all } = (await (await fetch(new URL('/v1/studies', address))).json()) as {
      studies: { releases: number }[];
    };
    return Math.min(...all.map(({ releases }) => releases));
  };
  // Longer than the budget would last, if it did not renew.
  const affords = Number(/for (\d+) releases/.exec(run.stdout)![1]);
  while ((await newest()) <= affords) await new Promise((resolve) => setTimeout(resolve, 100));
  const { stdout, stderr } = await run.interrupt();
  expect(stderr).toBe('');
  // The table was over before; what goes on is for the page.
  expect(stdout.trimEnd().endsWith('Ctrl-C ends it')).toBe(true);
});
