import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchFolder } from '../support/scratch.js';
import { root } from '../support/sources.js';

interface Run {
  readonly rows: {
    readonly attack: string;
    readonly corruption: number;
    readonly baselines: Record<string, number>;
    readonly answers: {
      readonly estimator: string; error: number; refused: number; readonly promised: number;
    }[];
  }[];
}

const folder = scratchFolder('table');
const committed = readFileSync(`${root}docs/results/lab.json`, 'utf8');

function judged(run: string, page: boolean): {
  readonly status: number | null; readonly stderr: string;
} {
  const path = join(folder, 'run.json');
  writeFileSync(path, run);
  const words = [
    `${root}scripts/lab-table.js`, path, ...(page ? ['--page', `${root}docs/results/lab.md`] : []),
  ];
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  return { status, stderr };
}

/** The committed run with something changed in it. */
function changed(change: (run: Run) => void): string {
  const run = JSON.parse(committed) as Run;
  change(run);
  return JSON.stringify(run);
}

const row = (run: Run, attack: string) => run.rows.findLast((each) => each.attack === attack)!;
const answer = (run: Run, attack: string, name: string) =>
  row(run, attack).answers.find(({ estimator }) => estimator === name)!;

describe('the laboratory\'s table', () => {
  it('is on the page, and says what the page claims', () => {
    expect(judged(committed, true)).toEqual({ status: 0, stderr: '' });
  });

  it('is on the page for answers by key, which keep every promise', () => {
    const keyed = readFileSync(`${root}docs/results/lab-groups.json`, 'utf8');
    expect(judged(keyed, true)).toEqual({ status: 0, stderr: '' });
    const run = JSON.parse(keyed) as Run;
    const sum = answer(run, 'heavy-hitter-poisoning', 'sum');
    sum.error = 2.01 * sum.promised;
    expect(judged(JSON.stringify(run), false).stderr)
      .toContain('heavy-hitter-poisoning at 10 %: sum');
  });

  it.each([
    ['a robust estimator breaks its promise', (run: Run) => {
      const robust = answer(run, 'coordinate', 'robust-mean');
      robust.error = 2.01 * robust.promised;
    }, 'coordinate at 10 %: robust-mean'],
    ['robust estimators seldom answer', (run: Run) => {
      for (const attack of ['far', 'shift', 'noise', 'nan']) {
        answer(run, attack, 'populous-mean').refused = 1;
      }
    }, 'refused 4 of 72 times'],
    ['the private mean holds', (run: Run) => {
      answer(run, 'shift', 'mean').error = 0.01;
    }, 'private mean is not broken'],
    ['the naive mean holds', (run: Run) => {
      row(run, 'far').baselines['naive-mean'] = 0.01;
    }, 'naive mean is not broken'],
    ['an attack is missing', (run: Run) => {
      run.rows.splice(
        0, run.rows.length, ...run.rows.filter(({ attack }) => attack !== 'direction'),
      );
    }, 'direction was not played'],
  ])('fails when %s', (_name, change, said) => {
    const { status, stderr } = judged(changed(change), false);
    expect(status).toBe(1);
    expect(stderr).toContain(said);
  });

  it('differs from the page when a number differs', () => {
    const run = changed((each) => { row(each, 'shift').baselines['robust-filter']! += 0.5; });
    const { status, stderr } = judged(run, true);
    expect(status).toBe(1);
    expect(stderr).toContain('another table');
  });
});
