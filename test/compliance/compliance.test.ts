import { describe, expect, it } from 'vitest';
import { estimators, findEstimator } from '../../src/estimators/registry.js';
import { forms, samples } from './samples.js';
import { complianceSuite } from './suite.js';

describe('compliance', () => {
  it('covers every estimator of the registry', () => {
    expect(estimators.map(({ name }) => name).sort()).toEqual(Object.keys(samples).sort());
  });
});

for (const [name, sample] of forms) {
  const { variant, shape, directions } = sample.parameters;
  const words = [variant, shape, directions]
    .filter((word): word is string => typeof word === 'string');
  describe(`variant ${words.join(' ')}`, () =>
    complianceSuite(findEstimator(name), sample));
}

for (const estimator of estimators) {
  const sample = samples[estimator.name];
  if (sample !== undefined) complianceSuite(estimator, sample);
}
