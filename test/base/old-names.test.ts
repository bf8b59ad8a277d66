import { describe, expect, it } from 'vitest';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { parseStudyText } from '../../server/study-file/parse.js';
import {
  choiceNow, estimatorNow, oldChoices, oldEstimators, oldParameters, oldStudyKeys, parameterNow,
  studyKeyNow, studyWordNow,
} from '../../src/base/old-names.js';
import { estimators, findEstimator } from '../../src/estimators/registry.js';

describe('names of before', () => {
  it('are refused by what is written now', () => {
    expect(estimatorNow('spectral-filter'))
      .toBe('spectral-filter is now prime with directions: one');
    expect(estimatorNow('heavy-tailed-1d'))
      .toBe('heavy-tailed-1d is now heavy-tailed with one column');
    expect(estimatorNow('mean')).toBeUndefined();
    expect(estimatorNow('toString')).toBeUndefined();
    for (const name of Object.keys(oldEstimators)) {
      expect(() => findEstimator(name)).toThrow(estimatorNow(name)!);
    }
  });

  it('are refused in study files', () => {
    const text = [
      'study: old', 'columns: [x]', 'cohort: 5000', 'epoch: { every: 1m }',
      'contribution: { reduce: mean, rowsMax: 64 }', 'participation: secret',
      'estimator: heavy-tailed-pure', 'parameters: { spread: 1, radius: 9 }',
      'privacy: { epsilon: 1, delta: 0 }', 'budget: { epsilon: 8, delta: 0, scope: study }',
      'late: next', 'retention: release', '',
    ].join('\n');
    expect(() => parseStudyText(text, { name: 'old.yaml' }))
      .toThrow('heavy-tailed-pure is now heavy-tailed with a delta of 0 for pure privacy');
    const one = text.replace('heavy-tailed-pure', 'heavy-tailed')
      .replace('radius: 9', 'radius: 9, privacy: pure');
    expect(() => parseStudyText(one, { name: 'old.yaml' }))
      .toThrow('parameters.privacy is gone: a delta of 0 asks for pure privacy');
  });

  it('are refused only where the new name is known', () => {
    expect(parameterNow('scale', ['spread'])).toBe('scale is now spread');
    expect(parameterNow('scale', ['range'])).toBeUndefined();
    expect(parameterNow('low', ['range'])).toBe('low is now range (low..high)');
    expect(parameterNow('resolution', [], 'quantile'))
      .toBe('resolution is gone: answers have 12 digits');
    expect(parameterNow('resolution', [], 'mean')).toBeUndefined();
    expect(choiceNow('shape', 'normal', ['any', 'light'])).toBe('normal is now light');
    expect(choiceNow('shape', 'normal', ['any', 'normal'])).toBeUndefined();
    expect(studyKeyNow(['questions', 'who', 'by', 'keysMax'])).toBe('groupsMax');
    expect(studyKeyNow(['admission', 'keys'])).toBe('contributorKeys');
    expect(studyKeyNow(['admission', 'tokens', 'keys'])).toBeUndefined();
    expect(studyWordNow(['questions', 'who', 'by', 'answer'], 'keys')).toBe('groups');
    expect(studyWordNow(['questions', 'who', 'by', 'answer'], 'counts')).toBeUndefined();
  });

  it('are refused by every estimator that has the new parameter', () => {
    for (const [old, { now }] of Object.entries(oldParameters)) {
      const having = estimators.filter(({ parameters }) =>
        parameters.some(({ name }) => name === now));
      expect(having).not.toEqual([]);
      for (const { name, parameters } of having) {
        expect(parameters.map((spec) => spec.name)).not.toContain(old);
        const facts = { dimension: 1, estimator: name };
        expect(() => parseParameters(parameters, { [old]: 1 }, facts))
          .toThrow(`parameters.${old} is now ${now!}`);
      }
    }
  });

  it('are refused where one estimator became two', () => {
    const parse = (raw: object): unknown =>
      parseParameters(findEstimator('covariance').parameters, { ...raw }, {
        dimension: 2, estimator: 'covariance',
      });
    expect(() => parse({ preconditioner: 'unbounded' })).toThrow(
      'preconditioner is gone: subsample-covariance has what unbounded was, and bounded is all');
    for (const name of ['local', 'mask', 'groups', 'corruption']) {
      expect(() => parse({ [name]: 1 }), name).toThrow(`${name} is gone: subsample-covariance has`);
    }
    const { parameters } = findEstimator('subsample-covariance');
    expect(() => parseParameters(parameters, { groups: 60 }, { dimension: 2 }))
      .toThrow('groups is now subsamples');
  });

  it('are refused by every parameter that has the new choice', () => {
    const inForce = Object.entries(oldChoices).flatMap(([parameter, choices]) =>
      Object.entries(choices).map(([old, { now }]) => [parameter, old, now!] as const));
    for (const [parameter, old, now] of inForce) {
      const having = estimators.filter(({ parameters }) => parameters.some((spec) =>
        spec.name === parameter && spec.choices?.includes(now)));
      expect(having).not.toEqual([]);
      for (const { name, parameters } of having) {
        const facts = { dimension: 1, estimator: name };
        const spec = parameters.filter((each) => each.name === parameter);
        expect(() => parseParameters(spec, { [parameter]: old }, facts))
          .toThrow(`parameters.${parameter} is "${old}": ${old} is now ${now}`);
      }
    }
  });

  it('lead to names that are no old ones', () => {
    for (const table of [oldChoices, oldEstimators, oldParameters, oldStudyKeys]) {
      for (const { now } of Object.values(table)) expect(Object.keys(table)).not.toContain(now);
    }
  });
});
