import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { labelsOf } from '../../cli/base/labels.js';
import { keelson } from '../support/command.js';
import { scratchFolder } from '../support/scratch.js';

const scratch = scratchFolder('counts');

/** 2,000 contributors, 0 to 199 in the first column, ten of each. */
const path = join(scratch, 'rows.csv');
writeFileSync(
  path, `delay,miles\n${Array.from({ length: 2_000 }, (_, i) => `${i % 200},${i}`).join('\n')}\n`,
);

const seeded = { environment: { KEELSON_INSECURE_SEED: 'everyday' } };
const privacy = ['--epsilon', '2', '--delta', '1e-6'];
const set = (...pairs: readonly string[]): string[] => pairs.flatMap((pair) => ['--set', pair]);

interface Answer {
  readonly estimate: readonly number[];
  readonly labels: readonly string[];
  readonly shape: readonly number[];
}

async function estimate(name: string, ...pairs: readonly string[]): Promise<Answer> {
  const words = [
    'estimate', name, path,
      '--cohort', '2000', '--participation', 'secret', ...privacy, ...set(...pairs), '--json',
  ];
  const { status, stdout } = await keelson(words, seeded);
  expect(status).toBe(0);
  return JSON.parse(stdout) as Answer;
}

describe('keelson estimate: everyday queries', () => {
  it('counts everybody, or the people on one side of a threshold', { tags: ['long'] }, async () => {
    const everybody = await estimate('count');
    expect(everybody.labels).toEqual(['contributors']);
    expect(Math.abs(everybody.estimate[0]! - 2_000)).toBeLessThan(15);
    const late = await estimate('count', 'column=0', 'threshold=150');
    expect(late.labels).toEqual(['delay at least 150']);
    expect(Math.abs(late.estimate[0]! - 500)).toBeLessThan(15);
  });

  it('makes a histogram with public edges, or of the fullest bins', async () => {
    const bins = await estimate('histogram', 'column=0', 'edges=0,50,150');
    expect(bins.labels)
      .toEqual(['delay below 0', 'delay 0 to 50', 'delay 50 to 150', 'delay from 150']);
    bins.estimate.forEach((count, i) =>
      expect(Math.abs(count - [0, 500, 1_000, 500][i]!)).toBeLessThan(20));
    const open = await estimate('histogram', 'column=0', 'width=300', 'top=2');
    expect(open.shape).toEqual([2, 2]);
    expect([open.estimate[0], open.estimate[2], open.estimate[3]]).toEqual([0, 0, 0]);
    expect(Math.abs(open.estimate[1]! - 2_000)).toBeLessThan(20);
  });

  it('adds up values, and the rows of one contributor first', async () => {
    const total = await estimate('sum', 'cap=200,2000');
    expect(total.labels)
      .toEqual(['total of delay, each 0 to 200', 'total of miles, each 0 to 2000']);
    [199_000, 1_999_000].forEach((truth, j) =>
      expect(Math.abs(total.estimate[j]! - truth)).toBeLessThan([200, 2_000][j]! * 15));
    const visits = join(scratch, 'visits.csv');
    writeFileSync(
      visits,
      `id,euros\n${Array.from({ length: 900 }, (_, i) => `${i % 300},${i % 3}`).join('\n')}\n`,
    );
    const words = [
      'estimate', 'sum', visits, '--contributor', 'id',
        '--cohort', '300', '--participation', 'secret', ...privacy,
      ...set('cap=6'), '--json',
    ];
    // Each of 300 people has the rows r, r and r for r = 0, 1, 2: their sum is 3 r, their mean r.
    for (const [flags, truth] of [[[], 900], [['--reduce', 'mean'], 300]] as const) {
      const { status, stdout } = await keelson([...words, ...flags], seeded);
      expect(status).toBe(0);
      expect(Math.abs((JSON.parse(stdout) as Answer).estimate[0]! - truth)).toBeLessThan(6 * 15);
    }
    const without = await keelson(['estimate', 'sum', visits, '--reduce', 'sum', ...privacy]);
    expect([without.status, without.stderr]).toEqual([2, expect.stringContaining('--contributor')]);
  });

  it('finds several quantiles at once', async () => {
    const { estimate: found, labels } = await estimate(
      'quantile', 'column=0', 'range=0..200', 'probabilities=0.1,0.5,0.9');
    expect(labels).toEqual([
      '10th percentile of delay',
      'median of delay',
      '90th percentile of delay',
    ]);
    found.forEach((value, i) => expect(Math.abs(value - [20, 100, 180][i]!)).toBeLessThan(6));
  });

  it('finds a median without a range', async () => {
    const { estimate: found } = await estimate('quantile', 'column=0', 'probabilities=0.5');
    expect(Math.abs(found[0]! - 100)).toBeLessThan(6);
  });

  it('labels its table for people', async () => {
    const words = [
      'estimate', 'count', path, '--cohort', '2000', '--participation', 'secret', ...privacy,
      ...set('column=1', 'threshold=1000'),
    ];
    expect((await keelson(words, seeded)).stdout).toContain('miles at least 1000');
  });
});

describe('keelson plan: counting queries', () => {
  it('solves for the cohort that an error needs, in shares of the cohort', async () => {
    const words = ['plan', 'count', '--columns', '1', ...privacy, '--error', '0.01', '--json'];
    const { cohort, noise } =
      JSON.parse((await keelson(words)).stdout) as { cohort: number; noise: number[] };
    expect(cohort).toBe(Math.ceil(noise[0]! / 0.01));
  });

  it('says in which units its errors are', async () => {
    const words = [
      'plan', 'quantile', '--columns', '1',
        '--cohort', '5000', '--participation', 'secret', ...privacy,
      ...set('range=0..10'),
    ];
    const { status, stdout } = await keelson(words);
    expect(status).toBe(0);
    expect(stdout).toContain('errors are in % of the people, by which the ranks of the');
  });
});

describe('labels of a study', () => {
  const study = {
    columns: ['delay', 'miles'], parameters: { column: 1, range: [0, 9], probabilities: [0.5] },
  };

  it('are what its estimator says', () => {
    expect(labelsOf({ ...study, estimator: 'quantile' })).toEqual(['median of miles']);
  });

  it('are the columns where the estimator has none, is not known, or does not take these '
    + 'parameters', () => {
    expect(labelsOf({ columns: study.columns, parameters: { spread: 1 }, estimator: 'mean' }))
      .toEqual(study.columns);
    expect(labelsOf({ ...study, estimator: 'from-the-future' })).toEqual(study.columns);
    expect(labelsOf({ ...study, parameters: { column: 'x' }, estimator: 'quantile' }))
      .toEqual(study.columns);
  });
});
