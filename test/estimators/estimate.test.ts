import { describe, expect, it } from 'vitest';
import * as estimators from '../../src/estimators/index.js';
import { allEstimators, estimate, findEstimator, plan } from '../../src/index.js';
import { seededRandom } from '../../src/random/work.js';

const random = seededRandom(new Uint8Array(32));
/** Near (100, -5), with deviations of about .6 and .06. */
const rows = Array.from({ length: 4_000 }, () =>
  [100 + 2 * (random.uniform() - 0.5), -5 + 0.2 * (random.uniform() - 0.5)]);
const asked = {
  estimator: estimators.mean, rows, epsilon: 2, delta: 1e-6, parameters: { spread: [1, 0.1] },
  participation: 'public',
} as const;

describe('estimate', () => {
  it('answers in the units of the rows, with an interval, and says what was spent', async () => {
    const answer = await estimate(asked);
    if (answer.kind !== 'value') throw new Error(answer.kind);
    expect(answer.estimate[0]).toBeCloseTo(100, 0);
    expect(answer.estimate[1]).toBeCloseTo(-5, 1);
    expect(answer.interval95!.low[0]).toBeLessThan(answer.estimate[0]!);
    expect(answer.privacy).toMatchObject({ epsilon: 2, delta: 1e-6 });
    expect(answer.privacy.neighbours).toContain('the number of rows, is public');
  });

  it('protects who is present when a cohort is given', async () => {
    const answer = await estimate({ ...asked, cohort: 4_000, participation: 'secret' });
    if (answer.kind !== 'value') throw new Error(answer.kind);
    expect(answer.privacy.neighbours).toContain('and without it');
  });

  it('says what would help when there is no plan, and draws nothing', async () => {
    const answer = await estimate({ ...asked, rows: rows.slice(0, 5) });
    expect(answer)
      .toMatchObject({ kind: 'infeasible', remedy: expect.stringContaining('cohort') as string });
    const pure = await estimate({ ...asked, delta: 0 });
    expect(pure).toMatchObject({
      kind: 'infeasible', remedy: expect.stringContaining('delta above 0') as string,
    });
  });

  it('names the option that is wrong', async () => {
    const wrong = (options: object): Promise<unknown> => estimate({ ...asked, ...options });
    await expect(wrong({ estimator: 'mean' })).rejects.toThrow('findEstimator(name)');
    await expect(wrong({ rows: [[1, 2], [3]] })).rejects
      .toThrow('a row has 1 entries, and dimension is 2');
    await expect(wrong({ rows: [['1', '2']] })).rejects
      .toThrow('row 1 holds something that is not a number');
    await expect(wrong({ rows: [] })).rejects.toThrow('there are no rows');
    await expect(wrong({ epsilon: 0 })).rejects.toThrow('epsilon must be at least');
    await expect(wrong({ parameters: { spraed: 1 } })).rejects.toThrow('did you mean');
    await expect(wrong({ epsilonn: 1 })).rejects.toThrow('did you mean');
  });

  it('takes participation as it is said, with and without a cohort', async () => {
    expect(await estimate({ ...asked, cohort: 4_000 })).toMatchObject({ kind: 'value' });
    await expect(estimate({ ...asked, participation: 'secret' })).rejects
      .toThrow('cohort is missing: with participation "secret" the number of rows is protected');
    for (const participation of [undefined, 'yes']) {
      await expect(estimate({ ...asked, participation } as never)).rejects
        .toThrow(/participation is (missing|neither).*give "secret" \(it is also.*"public" \(only/);
    }
  });
});

describe('plan', () => {
  it('plans what estimate runs, from public numbers', () => {
    const options = {
      estimator: estimators.mean, columns: 2, cohort: 4_000, epsilon: 2, delta: 1e-6,
      parameters: { spread: 1 }, participation: 'secret',
    } as const;
    const found = plan(options);
    if (found.kind !== 'plan') throw new Error(found.reason);
    expect(found.expectedError(0).total).toBeLessThan(0.1);
    expect(() => plan({ ...options, columns: 0 }))
      .toThrow('dimension, the number of columns, is 0');
    expect(() => plan({ ...options, cohort: 1.5 })).toThrow('cohort');
    expect(() => plan({ ...options, participation: undefined } as never))
      .toThrow(/participation is missing: give "secret" \(it is also.*"public" \(only/);
    const open = plan({ ...options, participation: 'public' });
    expect(open).toMatchObject({ kind: 'plan' });
  });
});

describe('keelson/estimators', () => {
  it('holds every estimator under its public name', () => {
    const named = Object.entries(estimators).map(([name, estimator]) =>
      [estimator.name, name.replace(/[A-Z]|\d+/g, (part) => `-${part.toLowerCase()}`)
        .replace(/-(\d+)d/, '-$1d')]);
    for (const [name, exported] of named) expect(exported).toBe(name);
    expect(new Set(Object.values(estimators))).toEqual(new Set(allEstimators));
    expect(findEstimator('robust-mean')).toBe(estimators.robustMean);
  });
});
