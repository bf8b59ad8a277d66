import { describe, expect, it } from 'vitest';
import { estimators } from '../../src/estimators/registry.js';

const recommended = estimators.filter(({ maturity }) => maturity === 'recommended');

describe('the maturity of estimators', () => {
  it('have the recommended ones first, and they are few', () => {
    expect(estimators.slice(0, recommended.length)).toEqual(recommended);
    expect(recommended.length).toBeLessThanOrEqual(13);
    expect(recommended.length).toBeLessThanOrEqual(estimators.length / 2);
  });

  it('recommend an answer to each usual question', () => {
    const names = recommended.map(({ name }) => name);
    const usual = [
      'mean', 'robust-mean', 'count', 'sum', 'share', 'ratio', 'histogram', 'median', 'quantile',
      'covariance',
    ];
    expect(names).toEqual(expect.arrayContaining(usual));
  });

  it.each(estimators)('$name says in one plain sentence what it assumes', ({ assumption }) => {
    expect(assumption).toMatch(/^[A-Z][^.]*\.$/);
    expect(assumption.length).toBeLessThanOrEqual(100);
  });
});
