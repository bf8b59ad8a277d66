import { describe, expect, it } from 'vitest';
import {
  choiceNow, estimatorNow, oldEstimators, oldParameters, oldStudyKeys, parameterNow, studyKeyNow,
} from '../../src/base/old-names.js';
import { estimators, findEstimator } from '../../src/estimators/registry.js';

/** What an old name is refused by, or `undefined` where the name is still in use. */
function refusalOf(name: string): string | undefined {
  if (estimators.some((estimator) => estimator.name === name)) return undefined;
  try {
    findEstimator(name);
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
}

describe('names of before', () => {
  it('are refused by what is written now', () => {
    expect(estimatorNow('spectral-filter'))
      .toBe('spectral-filter is now prime with directions: one');
    expect(estimatorNow('heavy-tailed-1d'))
      .toBe('heavy-tailed-1d is now heavy-tailed with one column');
    expect(estimatorNow('mean')).toBeUndefined();
    expect(estimatorNow('toString')).toBeUndefined();
    for (const name of Object.keys(oldEstimators)) {
      expect([undefined, estimatorNow(name)]).toContain(refusalOf(name));
    }
  });

  it('are refused only where the new name is known', () => {
    expect(parameterNow('scale', ['spread'])).toBe('scale is now spread');
    expect(parameterNow('scale', ['range'])).toBeUndefined();
    expect(parameterNow('low', ['range'])).toBe('low is now range (low..high)');
    expect(parameterNow('resolution', [], 'quantile'))
      .toBe('resolution is gone: it is a thousandth of the range');
    expect(parameterNow('resolution', [], 'mean')).toBeUndefined();
    expect(choiceNow('shape', 'normal', ['any', 'light'])).toBe('normal is now light');
    expect(choiceNow('shape', 'normal', ['any', 'normal'])).toBeUndefined();
    expect(studyKeyNow(['questions', 'who', 'by', 'keysMax'], ['column', 'groupsMax']))
      .toBe('groupsMax');
    expect(studyKeyNow(['admission', 'keys'], ['contributorKeys'])).toBe('contributorKeys');
    expect(studyKeyNow(['admission', 'keys'], ['groups'])).toBe('groups');
  });

  it('lead to names that are no old ones', () => {
    for (const table of [oldEstimators, oldParameters, oldStudyKeys]) {
      for (const { now } of Object.values(table)) expect(Object.keys(table)).not.toContain(now);
    }
  });
});
