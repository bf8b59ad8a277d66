import { existsSync, readFileSync, statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage, type Ended, type JsonLine } from '../support/live-command.js';

const stage = new Stage();
const studies = ['flights-mean', 'flights-robust', 'flights-ten'];
const questions = [
  'late-people', 'late-share', 'mean-delay', 'robust-delay', 'middle-delay', 'total-miles',
  'people-by-part', 'late-by-part', 'delay-by-part', 'distances',
];
const few = ['demo', '--contributors', '400', '--every', '2', '--epsilon', '12'];
const small = [...few, '--epochs', '2'];

afterAll(() => stage.end());

type AnswersByName =
  Readonly<Record<string, {
    readonly outcome: string; readonly groups?: readonly unknown[];
    readonly honest: readonly number[]; readonly plannedError: number;
  }>>;
const answersIn = (line: JsonLine): AnswersByName => line['questions'] as AnswersByName;

const linesOf = (run: Ended): JsonLine[] =>
  run.stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as JsonLine);

describe('keelson demo --json', () => {
  let run: Ended;
  let lines: JsonLine[];
  let releases: JsonLine[];
  let summary: JsonLine;
  const aNumber = expect.any(Number) as number;

  beforeAll(async () => {
    run = await stage.run([...small, '--json', '--logs', stage.path('logs')]);
    const [started, connected, ...rest] = linesOf(run);
    expect(started).toEqual({
      type: 'started', dashboard: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
      data: expect.stringContaining('keelson-demo-') as string,
      operatorToken: expect.stringMatching(/keelson-demo-.*operator\.token$/) as string,
      contributors: 400, epochSeconds: 2,
    });
    expect(connected).toEqual({ type: 'connected', seconds: aNumber });
    lines = rest;
    releases = lines.slice(0, -1);
    summary = lines.at(-1)!;
  });

  it('writes a line per release, all studies of an epoch together, and a summary', () => {
    expect(run.stderr).toBe('');
    expect(lines.map(({ type }) => type))
      .toEqual([...Array<string>(6).fill('release'), 'summary']);
    expect(releases.map(({ study }) => study)).toEqual([...studies, ...studies]);
    const [first, , , next] = releases.map(({ epoch }) => Number(epoch));
    expect(releases.map(({ epoch }) => epoch)).toEqual([first, first, first, next, next, next]);
    // A machine that stops for a whole epoch loses it; the summary counts these.
    const lost = Number(summary['lostEpochs']);
    expect(next! - first! - 1).toBeGreaterThanOrEqual(0);
    expect(next! - first! - 1).toBeLessThanOrEqual(lost);
  });

  it('prints every release of one question beside the facts that only the demonstration '
    + 'knows', () => {
    for (const line of releases.filter(({ study }) => study !== 'flights-ten')) {
      const { reason, ...facts } = line;
      const isValue = line['outcome'] === 'value';
      expect(reason).toEqual(isValue ? undefined : expect.any(String));
      expect(facts).toEqual({
        type: 'release', study: line['study'], epoch: aNumber,
        outcome: isValue ? 'value' : 'refused', estimate: isValue ? [aNumber, aNumber] : null,
        truth: [aNumber, aNumber], naive: [aNumber, aNumber],
        intervals: isValue ? [[aNumber, aNumber], [aNumber, aNumber]] : [],
        error: isValue ? aNumber : null, naiveError: aNumber,
        epsilonSpent: aNumber, epsilonLeft: aNumber, contributors: aNumber,
      });
      expect(Number(line['contributors'])).toBeLessThanOrEqual(400);
      // A tenth moves four spreads in each of two columns, less what came late.
      expect(Number(line['naiveError'])).toBeGreaterThan(0.1);
    }
  });

  it('answers ten questions with one contribution of each person', () => {
    const asked = releases.filter(({ study }) => study === 'flights-ten');
    expect(asked).toHaveLength(2);
    for (const line of asked) {
      expect(line).toEqual({
        type: 'release', study: 'flights-ten', epoch: aNumber,
        questions: expect.any(Object) as object,
        epsilonSpent: aNumber, epsilonLeft: aNumber, contributors: aNumber,
      });
      expect(Number(line['contributors'])).toBeLessThanOrEqual(400);
      const answers = answersIn(line);
      expect(Object.keys(answers)).toEqual(questions);
      // What only the demonstration knows, and what the plan says, stand beside each answer.
      const numbers: Readonly<Record<string, number>> =
        { 'people-by-part': 3, 'late-by-part': 3, 'delay-by-part': 3, distances: 4 };
      for (const name of questions) {
        const { honest, plannedError } = answers[name]!;
        expect([name, honest]).toEqual([name, Array(numbers[name] ?? 1).fill(aNumber)]);
        expect(plannedError).toBeGreaterThan(0);
      }
      // These need no least number of people.
      for (const name of ['late-people', 'late-share', 'people-by-part', 'distances']) {
        expect([name, answers[name]!.outcome]).toEqual([name, 'value']);
      }
      expect(answers['people-by-part']!.groups).toEqual([['morning'], ['afternoon'], ['evening']]);
    }
    expect((summary['studies'] as unknown[])[2]).toEqual({
      study: 'flights-ten', releases: 2, questions: questions.length, refused: aNumber,
      epsilonSpent: aNumber, epsilonLeft: aNumber,
    });
  });

  it('sums up, and charges no epoch before everybody is connected', () => {
    expect(summary).toMatchObject({ type: 'summary', epochs: 2 });
    expect(summary['serverKey']).toMatch(/^[0-9a-f]{64}$/);
    expect(summary['insecure']).toBeUndefined();
    // The first epoch that is charged is the first that is shown, unless the machine stopped for a
    // whole epoch.
    expect(Number(releases.at(-1)!['epoch'])).toBe(2 + Number(summary['lostEpochs']));
    expect(summary['studies'])
      .toMatchObject(studies.map((study) => ({ study, releases: 2, epsilonSpent: aNumber })));
    const outcomes = releases.flatMap((line) => (line['questions'] === undefined
      ? [line['outcome']] : Object.values(answersIn(line)).map(({ outcome }) => outcome)));
    expect(outcomes).toHaveLength(2 * (2 + questions.length));
    expect(run.status).toBe(outcomes.every((outcome) => outcome === 'value') ? 0 : 1);
  });

  it('leaves logs that verify under its key', async () => {
    const { logs, serverKey } = summary as unknown as { logs: string[]; serverKey: string };
    expect(logs).toHaveLength(3);
    for (const log of logs) {
      const verified = await stage.run(['verify', log, '--server-key', serverKey, '--json']);
      expect(verified.status).toBe(0);
      expect(JSON.parse(verified.stdout)).toMatchObject({ authentic: true });
    }
  });
});

describe('keelson demo with repeatable noise', () => {
  const environment = { KEELSON_INSECURE_SEED: 'a test' };

  it('warns and says so in every line', { tags: ['slow'] }, async () => {
    const words = [...few, '--epochs', '1', '--json', '--logs', stage.path('insecure')];
    const run = await stage.run(words, { environment });
    expect(run.stderr).toContain('NOT private');
    expect(linesOf(run).map(({ insecure }) => insecure)).toEqual(Array(6).fill(true));
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
  // The data folder and the token are where it says, for as long as it runs.
  const [, folder, token] = /^data folder (\S+)\noperator token in (\S+)$/m.exec(run.stdout)!;
  expect(statSync(folder!).isDirectory()).toBe(true);
  expect(readFileSync(token!, 'utf8')).toMatch(/^[\w-]{32,}\s*$/);
  const round = /^ +\d+ flights-mean .*\n +flights-robust .*\n +flights-ten .*\n[^]*distances +-?\d/m;
  while (!round.test(run.stdout)) await run.next();
  // The page of the study with ten questions has an address of its own.
  expect(run.stdout).toMatch(/^ {4}http:\/\/127\.0\.0\.1:\d+\/#\/study\/[0-9a-f]{64}$/m);
  // The story of the first epoch: the truth, what is believed, and where to look.
  while (!run.stdout.includes('with the token in')) await run.next();
  expect(run.stdout).toMatch(/^400 people each send 8 .*\n40 of them lie together \(shift\)\.$/m);
  expect(run.stdout).toMatch(/^ +-?[\d.]+ {2}the honest people; .*\n +-?[\d.]+ {2}the plain mean of all/m);
  expect(run.stdout).toMatch(/flights-robust: (is private, and holds|no answer)/);
  const operator = /as the operator:\n {2}(\S+)$/m.exec(run.stdout)![1]!;
  expect((await fetch(operator)).status).toBe(200);
  // Each answer has a line of its own, with that of the honest people and the planned error.
  for (const name of questions) {
    expect(run.stdout).toMatch(new RegExp(`^  ${name} +(-|\\d|refused).* \\d.* \\+-\\d[\\d.]*M?$`, 'm'));
  }
  const { status, stdout, stderr } = await run.interrupt();
  // Not all of its epochs were shown.
  expect([status, stderr]).toEqual([1, '']);
  expect(stdout).toContain('check the releases yourself');
  expect(existsSync(folder!)).toBe(false);
  const lines = stdout.split('\n').filter((text) => !/keelson verify|^ {2,4}http:|keelson-demo-/.test(text));
  for (const line of lines) {
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
