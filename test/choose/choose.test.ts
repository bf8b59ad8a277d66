import { describe, expect, it } from 'vitest';
import { chooseEstimator, decisions, type Choice, type ChooseOptions } from '../../src/choose.js';
import { estimators } from '../../src/estimators/registry.js';

const usual = {
  columns: 2, cohort: 50_000, epsilon: 1, delta: 1e-6, participation: 'secret',
} as const;
const found = (options: Partial<ChooseOptions>): ReturnType<typeof chooseEstimator> =>
  chooseEstimator({ ...usual, ...options });
function chosen(options: Partial<ChooseOptions>): Choice {
  const choice = found(options);
  if (choice.kind === 'infeasible') throw new Error(`${choice.reason}: ${choice.remedy}`);
  return choice;
}
const nameOf = (options: Partial<ChooseOptions>): string => chosen(options).estimator.name;
const nobody = { corruption: 0 };

describe('the choice of an estimator', () => {
  it('takes a robust mean, and the plain one for a known range where nobody lies', () => {
    expect(nameOf({})).toBe('robust-mean');
    const range = '0..240';
    expect(nameOf({ parameters: { range } })).toBe('robust-mean');
    expect(nameOf({ parameters: { ...nobody, range } })).toBe('mean');
    expect(nameOf({ parameters: { corruption: '0', range } })).toBe('mean');
  });

  it('answers each question by what is known', () => {
    const one = { columns: 1 };
    expect(nameOf({ question: 'count', ...one, parameters: { threshold: 60 } })).toBe('count');
    expect(nameOf({ question: 'percentile', ...one })).toBe('quantile');
    const quantile = chosen({ question: 'percentile', ...one, parameters: { range: '0..240' } });
    expect(quantile.parameters).toMatchObject({ range: [0, 240] });
    const histogram = chosen({ question: 'histogram', ...one, parameters: { range: '-10..10' } });
    expect(histogram.parameters['edges']).toHaveLength(21);
    const normal = { shape: 'light' };
    // Rows of any shape: only normal ones can be told from hostile ones by their tails.
    expect(nameOf({ question: 'covariance' })).toBe('covariance');
    expect(chosen({ question: 'covariance' }).why.join(' ')).toMatch(/^Nothing .* shape=light/);
    expect(found({ question: 'covariance', parameters: { corruption: 0.05 } })).toMatchObject({
      kind: 'infeasible', reason: expect.stringContaining('it needs shape=light') as string,
    });
    expect(nameOf({ question: 'covariance', parameters: normal })).toBe('stable-covariance');
    expect(nameOf({ question: 'covariance', parameters: nobody })).toBe('covariance');
    expect(nameOf({ question: 'distribution', ...one, parameters: { ...normal, ...nobody } }))
      .toBe('gaussian');
    expect(nameOf({ question: 'distribution', ...one, parameters: nobody })).toBe('mixture-1d');
  });

  it('has the smallest expected error of those that fit, in their unit', () => {
    for (const corruption of [0, 0.05, 0.1]) {
      for (const spread of [1, 'auto']) {
        const { candidates, estimator } = chosen({ parameters: { corruption, spread } });
        const fit = candidates.filter(({ excluded }) => excluded === null);
        const least = fit.reduce((best, each) =>
          (each.expectedError! < best.expectedError! ? each : best));
        expect(estimator.name).toBe(least.estimator.name);
      }
    }
  });

  it('says why, what it assumes, and why the others were left', () => {
    const { why, assumes, candidates, plan, parameters } = chosen({});
    expect(why.join(' ')).toMatch(/Up to 5 % of the contributors may lie.*robust-mean.*privately/);
    expect(assumes.length).toBeGreaterThan(10);
    expect(plan.expectedError(0.05).total)
      .toBe(candidates.find(({ excluded }) => excluded === null)!.expectedError);
    expect(parameters['spread']).toBe('auto');
    expect(candidates.map(({ estimator: { name }, excluded }) => [name, excluded])).toEqual([
      ['robust-mean', null],
      ['prime-heavy', 'it needs a spread (spread=size)'],
      ['mean', 'it promises nothing when 5 % of the contributors lie'],
      ['median', 'it is another number, for where no mean with an interval can be found'],
    ]);
  });

  it('is the median where no mean can be found, and says so', () => {
    const of = (cohort: number, columns: number, parameters = {}): string => {
      const choice = chosen({ cohort, columns, parameters });
      expect(choice.why.join(' ').includes('This is the median'))
        .toBe(choice.estimator.name === 'median');
      return choice.estimator.name;
    };
    expect(of(500, 1)).toBe('median');
    expect(of(2_000, 3)).toBe('median');
    expect(of(50_000, 3)).toBe('robust-mean');
    expect(of(500, 1, { corruption: 0, range: '0..120' })).toBe('mean');
  });

  it('goes before a mean without an interval, and says from when on that has one', () => {
    const at = (cohort: number, known = {}): Choice =>
      chosen({ cohort, columns: 1, parameters: { ...nobody, spread: 20, ...known } });
    const mean = ({ candidates }: Choice) =>
      candidates.find(({ estimator }) => estimator.name === 'mean')!;
    const few = at(400);
    expect(mean(few).plan).not.toBeNull();
    expect(few.estimator.name).not.toBe('mean');
    expect(mean(few).excluded).toMatch(/^it has no interval with fewer than \d{4} people$/);
    for (const cohort of [400, 1_000, 3_000, 6_000]) {
      const choice = at(cohort);
      expect(Number(choice.plan.facts['intervalFrom'] ?? 0)).toBeLessThanOrEqual(cohort);
    }
    expect(mean(at(50_000)).excluded).toBeNull();
  });

  it('is the median of few people under shape light where liars move it less, and says so', () => {
    const choose = (cohort: number, columns: number, known = {}): Choice => chosen({
      cohort, columns, parameters: { shape: 'light', corruption: 0.1, spread: 1, ...known },
    });
    const few = choose(1_000, 1);
    expect(few.estimator.name).toBe('median');
    expect(few.why.join(' ')).toMatch(/chosen: .* spreads\..*This is the median.*about normal/);
    // In spreads as others, and with what about normal columns may be askew: 10 % move the rank of
    // a middle by .056, which is .14 deviations.
    const errors = few.candidates.filter(({ excluded }) => excluded === null)
      .map(({ estimator: { name }, expectedError }) => [name, expectedError] as const);
    expect(errors.map(([name]) => name)).toEqual(['robust-mean', 'median']);
    expect(errors[1]![1]).toBeGreaterThan(0.19);
    expect(errors[1]![1]).toBeLessThan(errors[0]![1]!);
    expect(choose(2_000, 2).estimator.name).toBe('median');
    expect(choose(100_000, 1).estimator.name).toBe('robust-mean');
    for (const known of [{ corruption: 0 }, { shape: 'any' }]) {
      expect(choose(1_000, 1, known).estimator.name).not.toBe('median');
    }
  });

  it('says what is missing where none fits, and names no cohort that would not help', () => {
    const few = found({ cohort: 100, columns: 3 });
    expect(few).toMatchObject({ kind: 'infeasible' });
    expect(few.kind === 'infeasible' && few.cohortNeeded! > 100).toBe(true);
    expect(found({ question: 'distribution' })).toMatchObject({
      reason: expect.stringContaining('range=low..high') as string,
    });
    // Only covariance takes 20 columns, and it promises nothing under lies in any cohort.
    const wide = found({ question: 'covariance', columns: 20, parameters: { corruption: 0.05 } });
    expect(wide).not.toHaveProperty('cohortNeeded');
    expect(wide).toMatchObject({ remedy: expect.stringContaining('corruption=0') as string });
  });

  it('refuses wrong questions and parameters by name', () => {
    expect(() => found({ question: 'meen' as 'mean' })).toThrow(/question is one of.*mean/);
    expect(() => found({ parameters: { p: 1 } })).toThrow(/"p": they take corruption, shape, /);
    expect(() => found({ parameters: { spred: 1 } })).toThrow(/takes "spred": did you mean "spread"/);
    expect(() => found({ parameters: { corruption: 0.6 } })).toThrow(/corruption is a share/);
    expect(() => found({ parameters: { shape: 'round' } })).toThrow(/shape is any or light/);
    expect(() => found({ parameters: { shape: 'normal' } })).toThrow(/normal is now light/);
    expect(() => found({ question: 'percentile', parameters: { range: '5..1' } }))
      .toThrow(/range is .*give low..high/);
    expect(() => chooseEstimator({ ...usual, colums: 2 } as never)).toThrow(/colums/);
  });

  it('knows every recommended estimator', () => {
    const known = new Set(Object.values(decisions).flat().map(({ name }) => name));
    const recommended = estimators.filter(({ maturity }) => maturity === 'recommended');
    expect(recommended.filter(({ name }) => !known.has(name)))
      .toEqual([]);
  });
});
