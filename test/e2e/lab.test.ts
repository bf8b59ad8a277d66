import { afterAll, describe, expect, it } from 'vitest';
import { keelson } from '../support/command.js';
import { Stage, type JsonLine } from '../support/live-command.js';

const stage = new Stage();
afterAll(() => stage.end());

interface Line extends JsonLine {
  readonly rows?: readonly {
    readonly attack: string;
    readonly corruption: number;
    readonly hostile: number;
    readonly turnedAway: number;
    readonly baselines: Readonly<Record<string, number>>;
    readonly answers: readonly { readonly estimator: string; readonly promised: number | null }[];
  }[];
}

describe('keelson lab --json', () => {
  it('plays every attack at every share on a real server, and breaks the errors '
    + 'down', { tags: ['slow'] }, async () => {
    const run = await stage.run([
      'lab', '--json', '--attack', 'shift,malformed', '--liars', '0,0.2', '--contributors', '300',
      '--every', '2', '--epsilon', '12', '--estimators', 'mean',
    ]);
    expect(run.status).toBe(0);
    const lines = run.stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as Line);
    expect(lines.map(({ type }) => type))
      .toEqual(['round', 'round', 'round', 'round', 'breakdown']);
    const rows = lines.at(-1)!.rows!;
    expect(rows.map(({ attack, corruption }) => [attack, corruption]))
      .toEqual([['shift', 0], ['shift', 0.2], ['malformed', 0], ['malformed', 0.2]]);
    expect(rows.map(({ answers }) => answers.map(({ estimator }) => estimator)))
      .toEqual(Array(4).fill(['mean']));
    // A fifth that moves four spreads in two columns; what comes late does not count.
    expect(rows[1]!.baselines['naive-mean']).toBeGreaterThan(0.5);
    expect(rows[1]!.baselines['robust-filter']).toBeLessThan(0.5);
    expect(rows[3]!.baselines['naive-mean']).toBeLessThan(0.3);
  });

  it('lets a Sybil have one key where people are enrolled, and as many as it likes where '
    + 'not', { tags: ['slow'], timeout: 240_000 }, async () => {
    const [open, enrolled] = await Promise.all(['open', 'enrolment'].map(async (admission) => {
      const run = await stage.run([
        'lab', '--json', '--attack', 'sybil', '--liars', '0.2', '--contributors', '300',
        '--every', '2', '--epsilon', '12', '--estimators', 'mean,populous-mean', '--admission',
        admission,
      ]);
      expect(run.status, run.stderr).toBe(0);
      return (JSON.parse(run.stdout.trimEnd().split('\n').at(-1)!) as Line).rows![0]!;
    }));
    expect([open!.hostile > 30, open!.turnedAway]).toEqual([true, 0]);
    // All 59 others are refused, but on a busy machine not all of them before the round is told.
    expect(enrolled!.hostile).toBeLessThanOrEqual(1);
    expect(enrolled!.turnedAway).toBeGreaterThan(30);
    // One person in 241 instead of one in five.
    expect(enrolled!.baselines['naive-mean']).toBeLessThan(open!.baselines['naive-mean']! / 10);
  });

  it('refuses what it cannot play, before it starts', async () => {
    for (const [words, status, said] of [
      [['--attack', 'shfit'], 2, 'did you mean "shift"'],
      [['--liars', '0.6'], 2, '--liars'],
      [['--estimators', 'mean,mean'], 2, 'twice'],
      [['--estimators', 'populous-mean', '--contributors', '100'], 1, 'cannot be planned'],
    ] as const) {
      const run = await keelson(['lab', ...words]);
      expect([run.status, run.stdout]).toEqual([status, '']);
      expect(run.stderr).toContain(said);
    }
  });
});
