// @module-tag long
import { describe, expect, it } from 'vitest';
import { dataSource, type DataSource } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';

describe('gaussian from robust groups', () => {
  const cohort = 20_000;
  const answer = (local: string, unit: number, seed: string) => {
    const data = dataSource(seed);
    const rows = Array.from({ length: cohort }, () => Float64Array.of(unit * data.normal()));
    const plan = planOf('gaussian', { local, arms: 'split' }, factsOf(1, cohort, 8));
    return releaseOf(plan, 1, rows, seed);
  };

  it('cuts no group of clean normal rows, so that its interval holds their '
    + 'variance', { tags: ['slow'] }, async () => {
    for (const seed of ['one', 'two']) {
      const outcome = await answer('robust', 1, seed);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      expect(outcome.estimate[1]).toBeGreaterThan(0.93);
      expect(outcome.interval95!.low[1]).toBeLessThan(1);
      expect(outcome.interval95!.high[1]).toBeGreaterThan(1);
    }
  });

  it('is right whatever the unit is, where nothing is said of the '
    + 'variance', { tags: ['slow'] }, async () => {
    for (const local of ['robust', 'empirical']) {
      for (const unit of [1e15, 1e-15]) {
        const outcome = await answer(local, unit, 'unit');
        if (outcome.kind === 'refused') throw new Error(outcome.text);
        expect(outcome.interval95!.low[1]! / unit ** 2).toBeLessThan(1);
        expect(outcome.interval95!.high[1]! / unit ** 2).toBeGreaterThan(1);
      }
    }
  });

  const laws: Readonly<Record<string, (data: DataSource, i: number) => number>> = {
    normal: (data) => data.normal(),
    attacked: (data, i) => (i % 50 === 0 ? 1e6 : data.normal()),
    'far off by 4': (data, i) => (i % 50 === 0 ? 4 : data.normal()),
    uniform: (data) => data.uniform(), coin: (data) => data.below(2),
    likert: (data) => data.below(5),
  };
  const check = async (name: string): Promise<void> => {
    const data = dataSource(name);
    const plan = planOf('gaussian', { local: 'robust' }, factsOf(2, cohort, 4));
    const rows = Array.from({ length: cohort }, (_, i) =>
      Float64Array.of(data.normal(), laws[name]!(data, i)));
    const outcome = await releaseOf(plan, 2, rows, name);
    const isNormal = ['normal', 'attacked', 'far off by 4'].includes(name);
    expect(outcome).toMatchObject(isNormal ? { kind: 'value' }
      : { kind: 'refused', reason: 'subsamples-disagree' });
  };
  it('answers where a fiftieth of normal rows is far off', { tags: ['slow'] }, () =>
    check('attacked'));
  it.each(Object.keys(laws).filter((name) => name !== 'attacked'))(
    'answers for normal rows alone: %s', { tags: ['slow'] }, check,
  );
});
